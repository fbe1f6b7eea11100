import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { commands } from "../src/common/commands";
import { Session } from "../src/common/session";
import { StatusBar } from "../src/common/statusBar";
import { FakeHost } from "./fakeHost";
import { ASKING, event, FakeRelay } from "./fakeRelay";

const PATIENCE = { timeout: 30_000 };

let folder: string;
let relay: FakeRelay;
let host: FakeHost;
let run: Record<string, () => Promise<void>>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tabferry-"));
  relay = await FakeRelay.start();
  relay.answers = {
    "workspace/open": { workspace: folder, token: "t" },
    "task/start": { session: "s", task: "t" },
    "approval/answer": { outcome: "accepted" },
  };
  await mkdir(join(folder, "run"), { mode: 0o700 });
  await writeFile(join(folder, "run", "bridge.json"), JSON.stringify(relay.endpoint), { mode: 0o600 });
  await writeFile(join(folder, "greeting.txt"), "hello\n");
  process.env.TABFERRY_RUNTIME_DIR = join(folder, "run");
  host = new FakeHost(folder, folder);
  const session = new Session(host, host, new StatusBar(host));
  run = commands(session, host);
});

afterEach(async () => {
  await command("stop");
  await relay.close();
  await rm(folder, { recursive: true });
});

async function command(name: string): Promise<void> {
  await run[name]?.();
}

async function asked(): Promise<void> {
  host.inputs = ["Change the greeting"];
  await command("ask");
  relay.push("event", event(1, "call.asking", ASKING, { call: "c" }));
  await expect.poll(() => host.shown.at(-1), PATIENCE).toContain("Tabferry asks");
}

describe("the commands", () => {
  it("use a live bridge that proves itself and start nothing", async () => {
    host.settings = { executable: "/nothing/here" };
    expect(host.status()).toBe("Tabferry");
    await command("start");
    expect(relay.calls.map(({ method }) => method)).toEqual(["initialize", "workspace/open", "initialize"]);
    expect(host.output).toContain("is ready for");
    expect(host.shown).toEqual([]);
  });

  it("send the task with the user's own settings", async () => {
    host.settings = { site: "demo", url: "", approve: "edits" };
    await asked();
    expect((await relay.called("task/start")).params).toEqual({ task: "Change the greeting", site: "demo", approve: "edits" });
  });

  it("show the diff, say that the user must act, and answer with the digest that was shown", async () => {
    await asked();
    expect(host.shown).toEqual(['diff greeting.txt: ["hello\\n","bye\\n"]', "warning: Tabferry asks: A write asks."]);
    expect(host.status()).toBe("Tabferry: needs you");
    host.press("Approve");
    expect((await relay.called("approval/answer")).params).toEqual({ id: "a_1", digest: "d1", decision: "approve" });
    relay.push("event", event(2, "call.granted", {}, { call: "c" }));
    await expect.poll(() => host.shown.at(-1), PATIENCE).toBe("close a_1");
    expect(host.status()).toBe("Tabferry: working");
    relay.push("event", event(3, "session.task_done", { answer: "Done." }));
    await expect.poll(() => host.status(), PATIENCE).toBe("Tabferry");
    expect(host.output).toContain("= done: Done.");
  });

  it("approve and deny from the palette, with a reason for the model", async () => {
    await asked();
    host.inputs = ["not this file"];
    await command("deny");
    const { params } = await relay.called("approval/answer");
    expect(params).toEqual({ id: "a_1", digest: "d1", decision: "deny", reason: "not this file" });
  });

  it("leave a call pending when the reason is given up", async () => {
    await asked();
    host.inputs = [undefined];
    await command("deny");
    expect(relay.calls.some(({ method }) => method === "approval/answer")).toBe(false);
  });

  it("send nothing for a notification that is out of date", async () => {
    await asked();
    relay.push("event", event(2, "call.denied", {}, { call: "c" }));
    await expect.poll(() => host.shown.at(-1), PATIENCE).toBe("close a_1");
    host.press("Approve");
    await command("approve");
    expect(host.shown.at(-1)).toBe("info: No call is waiting for you.");
    expect(relay.calls.some(({ method }) => method === "approval/answer")).toBe(false);
  });

  it("say when an answer did not count", async () => {
    await asked();
    relay.answers["approval/answer"] = { outcome: "digest_mismatch" };
    await command("approve");
    expect(host.shown.at(-1)).toBe("warning: Your answer did not count: digest mismatch.");
  });

  it("cancel what runs, and only that", async () => {
    await command("cancel");
    expect(host.shown).toEqual(["info: No task is running."]);
    await asked();
    await command("cancel");
    expect((await relay.called("task/cancel")).params).toEqual({ task: "t" });
    relay.push("event", event(2, "session.task_cancelled"));
    await expect.poll(() => host.status(), PATIENCE).toBe("Tabferry");
    expect(host.shown).toContain("close a_1");
  });

  it("tell the end of a task only who looks elsewhere", async () => {
    host.inputs = ["x"];
    await command("ask");
    relay.push("event", event(1, "session.task_done", { answer: "one" }));
    await expect.poll(() => host.output, PATIENCE).toContain("= done: one");
    expect(host.shown).toEqual([]);
    host.isFocused = false;
    relay.push("event", event(2, "session.task_done", { answer: "two" }));
    await expect.poll(() => host.shown, PATIENCE).toEqual(["info: Tabferry: the task is done."]);
  });

  it("ask again for what waited when the connection comes back", async () => {
    host.inputs = ["x"];
    await command("ask");
    relay.approvals = [{ ...ASKING, session: "s", task: "t", call: "c" }];
    relay.drop();
    await expect.poll(() => host.shown.at(-1), PATIENCE).toContain("Tabferry asks");
    expect(host.statuses).toContain("Tabferry: reconnecting");
    expect(host.status()).toBe("Tabferry: needs you");
  });

  it("make one sentence of what goes wrong", async () => {
    await rm(join(folder, "run"), { recursive: true });
    host.settings = { executable: "/nothing/here" };
    await command("start");
    expect(host.shown.at(-1)).toMatch(/^error: The bridge did not start .* set tabferry.executable/);
    expect(host.status()).toBe("Tabferry");
  });

  it("do not start a bridge without a folder", async () => {
    host = new FakeHost(folder, "");
    await commands(new Session(host, host, new StatusBar(host)), host).ask?.();
    expect(host.shown).toEqual([]);
    host.inputs = ["x"];
    await commands(new Session(host, host, new StatusBar(host)), host).ask?.();
    expect(host.shown).toEqual(["error: Open a folder first: the bridge works in one folder."]);
  });
});
