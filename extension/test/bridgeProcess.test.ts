import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { BridgeProcess, commandLine } from "../src/common/bridgeProcess";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tabferry-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** A program that stands for the bridge: `body` is JavaScript. */
async function program(body: string): Promise<string> {
  const path = join(folder, "tabferry");
  const announce = `const announce = (pid) => console.log(JSON.stringify(
    {url: "ws://127.0.0.1:1/", token: "t", server_key: "k", pid, version: "1"}));`;
  await writeFile(path, `#!${process.execPath}\n${announce}\n${body}\n`);
  await chmod(path, 0o755);
  return path;
}

function start(executable: string, log: string[] = [], exits: unknown[] = []): Promise<BridgeProcess> {
  const signal = new AbortController().signal;
  const note = (line: string): number => log.push(line);
  return BridgeProcess.start(executable, "/w", folder, signal, note, (code) => exits.push(code));
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("commandLine", () => {
  const serve = ["serve", "--workspace", "/w", "--announce"];

  it("keeps the current folder off an interpreter's path", () => {
    for (const python of ["/v/bin/python", "/v/bin/python3.11", "python3", "pypy3"]) {
      expect(commandLine(python, "/w")).toEqual([python, ["-P", "-m", "bridge", ...serve]]);
    }
    expect(commandLine("/v/bin/tabferry", "/w")).toEqual(["/v/bin/tabferry", serve]);
  });

  it("refuses a path that depends on where it runs", () => {
    expect(() => commandLine("./tabferry", "/w")).toThrow("absolute path");
    expect(() => commandLine("venv/bin/python", "/w")).toThrow("absolute path");
  });
});

describe("BridgeProcess", () => {
  it("reads the announce line, runs outside the workspace, and ends when told", async () => {
    const seen = join(folder, "seen");
    const path = await program(`
      require("fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify([process.cwd(), process.argv.slice(2)]));
      console.error("hello from the bridge"); announce(process.pid); setInterval(() => {}, 1000);`);
    const log: string[] = [];
    const bridge = await start(path, log);
    const [cwd, args] = JSON.parse(await readFile(seen, "utf8")) as [string, string[]];
    expect(cwd).toBe(folder);
    expect(args).toEqual(["serve", "--workspace", "/w", "--announce"]);
    expect(alive(bridge.endpoint.pid)).toBe(true);
    await bridge.stop();
    expect(alive(bridge.endpoint.pid)).toBe(false);
    expect(log).toContain("hello from the bridge");
  });

  it("ends one that ignores the request to end", async () => {
    const path = await program(`process.on("SIGTERM", () => {}); announce(process.pid); setInterval(() => {}, 1000);`);
    const bridge = await start(path);
    await bridge.stop();
    expect(alive(bridge.endpoint.pid)).toBe(false);
  });

  it("tells when the bridge ends by itself, but not when it only points at another", async () => {
    const own: unknown[] = [];
    await start(await program(`announce(process.pid); setTimeout(() => process.exit(7), 50);`), [], own);
    await expect.poll(() => own, { timeout: 30_000 }).toEqual([7]);
    const other: unknown[] = [];
    const bridge = await start(await program(`announce(process.ppid);`), [], other);
    await bridge.stop();
    expect(other).toEqual([]);
  });

  it.each([
    ["process.exit(2)", "ended with code 2"],
    ['console.log("Traceback"); setInterval(() => {}, 1000)', "not a JSON object"],
  ])("says in one sentence why it did not start: %s", async (body, sentence) => {
    await expect(start(await program(body))).rejects.toThrow(sentence);
  });

  it("says which setting to change when there is no such program", async () => {
    await expect(start(join(folder, "missing"))).rejects.toThrow("set tabferry.executable");
  });

  it("does not pass on what belongs to the editor or could replace the bridge", async () => {
    process.env.PYTHONPATH = "/repository";
    process.env.VSCODE_IPC_HOOK = "x";
    const seen = join(folder, "seen");
    const names = `Object.keys(process.env).filter((n) => /^(PYTHONPATH|VSCODE_)/.test(n))`;
    const bridge = await start(await program(`
      require("fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify(${names}));
      announce(process.pid); setInterval(() => {}, 1000);`));
    expect(JSON.parse(await readFile(seen, "utf8"))).toEqual([]);
    await bridge.stop();
  });

  it("gives up a start at any time", async () => {
    const controller = new AbortController();
    const path = await program(`setInterval(() => {}, 1000)`);
    const started = BridgeProcess.start(path, "/w", folder, controller.signal, () => undefined, () => undefined);
    controller.abort();
    await expect(started).rejects.toThrow("did not start");
  });
});
