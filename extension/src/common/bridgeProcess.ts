/** The bridge as a child process: started from outside the workspace, announced by one line, ended with everything it started. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, isAbsolute } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { type Endpoint, parseEndpoint } from "./endpoint";

const ANNOUNCE_MS = 60_000; // a cold Python with a cold disk; the browser starts later, with the first task
const GRACE_MS = 3_000; // the editor allows about five seconds for a goodbye
// The editor's own runtime flags would reach the bridge's helpers, and PYTHONPATH could put a repository's `bridge/` first.
const NOT_INHERITED = /^(ELECTRON_|VSCODE_|NODE_OPTIONS$|PYTHONPATH$)/;

type Child = ChildProcessByStdio<null, Readable, Readable>;

export class BridgeProcess {
  private constructor(
    private readonly child: Child,
    readonly endpoint: Endpoint,
  ) {}

  /**
   * Runs `executable` with `cwd` outside the workspace; `log` gets what it writes on stderr, `onExit` its
   * end; `signal` ends it at any time.
   */
  static async start(
    executable: string,
    workspace: string,
    cwd: string,
    signal: AbortSignal,
    log: (line: string) => void,
    onExit: (code: number | null) => void,
  ): Promise<BridgeProcess> {
    const [command, args] = commandLine(executable, workspace);
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name)));
    // Its own process group: ending the group ends the browser too.
    const child: Child = spawn(command, args, { cwd, env, signal, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    child.on("error", () => undefined); // `announced` says it, and a signal later on is our own
    createInterface({ input: child.stderr }).on("line", log);
    try {
      const started = new BridgeProcess(child, parseEndpoint(await announced(child, executable)));
      // One that found a live bridge announces that and ends: not ours to watch or to end.
      if (started.endpoint.pid === child.pid) child.once("exit", onExit);
      return started;
    } catch (error) {
      await end(child);
      throw error;
    }
  }

  /** Asks it to end, waits, then ends what is left of it. */
  async stop(): Promise<void> {
    this.child.removeAllListeners("exit");
    await end(this.child);
  }
}

/** `-P` keeps the current folder off Python's path, so nothing of a repository can pass for the bridge. */
export function commandLine(executable: string, workspace: string): [string, string[]] {
  if (!isAbsolute(executable) && basename(executable) !== executable) {
    throw new Error(`tabferry.executable is "${executable}"; give a command name or an absolute path.`);
  }
  const serve = ["serve", "--workspace", workspace, "--announce"];
  const isPython = /^(python|pypy)[\d.]*(\.exe)?$/.test(basename(executable));
  return [executable, isPython ? ["-P", "-m", "bridge", ...serve] : serve];
}

async function announced(child: Child, executable: string): Promise<string> {
  const lines = createInterface({ input: child.stdout });
  const clock = new AbortController();
  const { signal } = clock;
  const first = once(lines, "line", { signal }).then(([line]) => String(line));
  const failed = once(child, "error", { signal }).then(([error]): never => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The bridge did not start (${reason}); set tabferry.executable to your tabferry or Python.`);
  });
  const ended = once(child, "close", { signal }).then(([code]): never => {
    throw new Error(`"${executable}" ended with code ${String(code)} before it announced a bridge; see the output channel.`);
  });
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`The bridge did not announce itself within ${ANNOUNCE_MS / 1000} seconds; see the output channel.`));
    }, ANNOUNCE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
    });
  });
  const contenders = [first, failed, ended, late];
  try {
    return await Promise.race(contenders);
  } finally {
    void Promise.allSettled(contenders);
    clock.abort();
  }
}

async function end(child: Child): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => {
    killGroup(child.pid);
  }, GRACE_MS);
  await gone;
  clearTimeout(timer);
}

function killGroup(pid: number | undefined): void {
  try {
    process.kill(-(pid ?? NaN), "SIGKILL");
  } catch {
    // It ended by itself a moment ago.
  }
}
