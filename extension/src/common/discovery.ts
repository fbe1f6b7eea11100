/** Finds a live bridge through its discovery file, which must be ours alone or it is not read. */

import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";

import { type Endpoint, parseEndpoint } from "./endpoint";

const MAX_BYTES = 64 * 1024; // five short fields; anything longer is not a discovery file

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder where bridges announce themselves: the same rule as `bridge.journal.runtime_dir`. */
export async function runtimeDir(env: Environment = process.env): Promise<string> {
  const { TABFERRY_RUNTIME_DIR, TABFERRY_STATE_DIR, XDG_RUNTIME_DIR } = env;
  if (TABFERRY_RUNTIME_DIR) return TABFERRY_RUNTIME_DIR;
  if (XDG_RUNTIME_DIR && TABFERRY_STATE_DIR === undefined && (await isPrivate(XDG_RUNTIME_DIR))) {
    return join(XDG_RUNTIME_DIR, "tabferry");
  }
  return join(TABFERRY_STATE_DIR ?? stateDir(env), "run");
}

/** Every bridge announced in `folder`; what is not private to this user, or not whole, is skipped. */
export async function announcedIn(folder: string): Promise<Endpoint[]> {
  if (!(await isPrivate(folder))) return [];
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  const found = await Promise.all(names.map((name) => endpointIn(join(folder, name))));
  return found.filter((endpoint) => endpoint !== undefined);
}

function stateDir(env: Environment): string {
  if (platform() === "darwin") return join(homedir(), "Library", "Application Support", "tabferry");
  return join(env.XDG_STATE_HOME ?? join(homedir(), ".local", "state"), "tabferry");
}

async function endpointIn(path: string): Promise<Endpoint | undefined> {
  try {
    return parseEndpoint((await privateText(path, constants.O_RDONLY)) ?? "");
  } catch {
    return undefined;
  }
}

async function isPrivate(folder: string): Promise<boolean> {
  try {
    return (await privateText(folder, constants.O_RDONLY | constants.O_DIRECTORY)) !== undefined;
  } catch {
    return false;
  }
}

/** The text of a file, "" for a folder; undefined when others may touch it. Checked on the open descriptor. */
async function privateText(path: string, flags: number): Promise<string | undefined> {
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const info = await handle.stat();
    const ours = info.uid === process.geteuid?.() && (info.mode & 0o077) === 0;
    if (!ours || !(info.isFile() || info.isDirectory())) return undefined;
    return info.isFile() && info.size <= MAX_BYTES ? await handle.readFile("utf8") : "";
  } finally {
    await handle.close();
  }
}
