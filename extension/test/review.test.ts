import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { review } from "../src/common/review";
import type { Approval } from "../src/protocol";
import { ASKING } from "./fakeRelay";

let root: string;
let outside: string;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), "tabferry-"));
  [root, outside] = [join(folder, "root"), join(folder, "secret.txt")];
  await mkdir(root);
  await writeFile(outside, "secret");
  await writeFile(join(root, "greeting.txt"), "hello\n");
});

afterEach(async () => {
  await rm(join(root, ".."), { recursive: true });
});

function asking(args: object, more: Partial<Approval> = {}): Approval {
  return { ...ASKING, session: "s", task: "t", call: "c", args: args as Approval["args"], ...more };
}

describe("review", () => {
  it("shows the file on disk beside what it would become", async () => {
    const shown = await review(asking({ path: "greeting.txt", content: "bye\n" }), root);
    expect(shown).toEqual({ kind: "diff", path: "greeting.txt", before: "hello\n", after: "bye\n" });
  });

  it("takes an absolute path inside, and shows a new file against nothing", async () => {
    expect(await review(asking({ path: join(root, "greeting.txt"), content: "x" }), root)).toMatchObject({ before: "hello\n" });
    expect(await review(asking({ path: "new/file.txt", content: "x" }), root)).toMatchObject({ before: "", after: "x" });
  });

  it.each(["../secret.txt", "a/../../secret.txt", "link.txt", "."])("never reads %s", async (path) => {
    await symlink(outside, join(root, "link.txt"));
    expect(await review(asking({ path, content: "x" }), root)).toMatchObject({ kind: "patch" });
    expect(await review(asking({ path: outside, content: "x" }), root)).toMatchObject({ kind: "patch" });
  });

  it("shows the bridge's patch for what is not UTF-8 text, and for other tools", async () => {
    await writeFile(join(root, "image"), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await review(asking({ path: "image", content: "x" }), root)).toEqual({ kind: "patch", path: "image", patch: ASKING.diff });
    expect(await review(asking({ path: "greeting.txt" }, { tool: "edit_file" }), root)).toMatchObject({ kind: "patch" });
  });

  it("shows nothing where nothing would change", async () => {
    expect(await review(asking({}, { tool: "read_file", diff: null }), root)).toEqual({ kind: "none" });
  });
});
