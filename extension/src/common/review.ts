/** What a pending call would change, as two texts for the native diff editor or as the patch that the bridge sent. */

import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

import type { Approval } from "../protocol";
import { inert } from "./text";

const MAX_BYTES = 10 * 1024 * 1024; // the bridge's own limit for a file

export type Review =
  | { kind: "diff"; path: string; before: string; after: string }
  | { kind: "patch"; path: string; patch: string }
  | { kind: "none" };

/** `root` is the workspace folder; a path that leaves it is never read. */
export async function review(approval: Approval, root: string): Promise<Review> {
  const { path, content } = approval.args;
  const name = typeof path === "string" ? inert(path) : approval.tool;
  if (approval.tool === "write_file" && typeof path === "string" && typeof content === "string") {
    const before = await textInside(root, path);
    if (before !== undefined) return { kind: "diff", path: name, before, after: content };
  }
  return approval.diff ? { kind: "patch", path: name, patch: approval.diff } : { kind: "none" };
}

/** The file's text, "" where there is none yet; undefined when it is outside, too large or not UTF-8 text. */
async function textInside(root: string, path: string): Promise<string | undefined> {
  const base = await realpath(root);
  if (!isInside(base, resolve(base, path))) return undefined;
  try {
    const file = await realpath(join(base, relative(base, resolve(base, path))));
    const { size } = await stat(file);
    return isInside(base, file) && size <= MAX_BYTES ? decoded(await readFile(file)) : undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "" : undefined;
  }
}

function isInside(base: string, path: string): boolean {
  const way = relative(base, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
