import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { announcedIn, runtimeDir } from "../src/common/discovery";

const ENDPOINT = { url: "ws://127.0.0.1:1/", token: "t", server_key: "k", pid: 1, version: "0.1.0" };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tabferry-")); // 0700
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function announce(mode: number, name = "bridge.json"): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(ENDPOINT));
  await chmod(path, mode);
  return path;
}

describe("announcedIn", () => {
  it("reads what is private to this user", async () => {
    await announce(0o600);
    expect(await announcedIn(folder)).toEqual([ENDPOINT]);
  });

  it.each([0o640, 0o604, 0o622])("skips a file with mode %o", async (mode) => {
    await announce(mode);
    expect(await announcedIn(folder)).toEqual([]);
  });

  it("skips everything in a folder that others may enter", async () => {
    await announce(0o600);
    await chmod(folder, 0o755);
    expect(await announcedIn(folder)).toEqual([]);
  });

  it("follows no links, neither to the folder nor to a file", async () => {
    await symlink(await announce(0o600, "real"), join(folder, "bridge.json"));
    expect(await announcedIn(folder)).toEqual([]);
    await symlink(folder, join(folder, "link"));
    await announce(0o600, "whole.json");
    expect(await announcedIn(join(folder, "link"))).toEqual([]);
  });

  it("skips what is half-written, and a folder that is not there", async () => {
    await writeFile(join(folder, "bridge.json"), '{"url":', { mode: 0o600 });
    expect(await announcedIn(folder)).toEqual([]);
    expect(await announcedIn(join(folder, "missing"))).toEqual([]);
  });
});

describe("runtimeDir", () => {
  it("follows the bridge's rule", async () => {
    expect(await runtimeDir({ TABFERRY_RUNTIME_DIR: "/r", XDG_RUNTIME_DIR: folder })).toBe("/r");
    expect(await runtimeDir({ XDG_RUNTIME_DIR: folder })).toBe(join(folder, "tabferry"));
    expect(await runtimeDir({ TABFERRY_STATE_DIR: "/s", XDG_RUNTIME_DIR: folder })).toBe("/s/run");
  });

  it("does not use a runtime folder that others may enter", async () => {
    await mkdir(join(folder, "open"), { mode: 0o755 });
    expect(await runtimeDir({ XDG_RUNTIME_DIR: join(folder, "open"), TABFERRY_STATE_DIR: undefined })).toMatch(/tabferry.run$/);
  });
});
