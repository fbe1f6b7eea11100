/** The window's bridge: a live one that proves itself, else one of our own. */

import type { InitializeResult, Methods } from "../protocol";
import { BridgeProcess } from "./bridgeProcess";
import { announcedIn, runtimeDir } from "./discovery";
import type { Endpoint } from "./endpoint";
import { RelayClient, type RelayListener } from "./relayClient";

export interface BridgeOptions {
  readonly version: string;
  /** A folder of the extension's own: the bridge starts there, never in a workspace. */
  readonly storage: string;
  readonly log: (line: string) => void;
}

export class Bridge {
  private client: RelayClient | undefined;
  private process: BridgeProcess | undefined;
  private folder: string | undefined;
  private running = new AbortController();

  constructor(
    private readonly options: BridgeOptions,
    private readonly listener: RelayListener,
  ) {}

  /** The folder that this window's bridge works in; undefined while there is no bridge. */
  get workspace(): string | undefined {
    return this.folder;
  }

  /** Connects to a bridge as a controller of `workspace`; `executable` is started only when none is live. */
  async start(workspace: string, executable: string): Promise<InitializeResult> {
    let endpoint = (await this.discover(workspace)) ?? (await this.spawn(workspace, executable));
    let first = true;
    const locate = async (): Promise<Endpoint> => {
      if (!first) endpoint = (await this.discover(workspace)) ?? endpoint;
      first = false;
      return endpoint;
    };
    this.client = new RelayClient(locate, this.listener, this.identity);
    this.folder = workspace;
    try {
      return await this.client.connect();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    if (!this.client) throw new Error("The bridge is not running; run Tabferry: Start Bridge.");
    return this.client.call(method, params);
  }

  /** Lets go of the bridge, and ends it when this window started it. */
  async stop(): Promise<void> {
    const { client, process } = this;
    this.client = this.process = this.folder = undefined;
    client?.close();
    this.running.abort();
    await process?.stop();
  }

  private get identity(): { name: string; version: string } {
    return { name: "vscode", version: this.options.version };
  }

  /** The first bridge that proves itself. Its discovery token may only ask for the workspace's own token. */
  private async discover(workspace: string): Promise<Endpoint | undefined> {
    for (const endpoint of await announcedIn(await runtimeDir())) {
      const door = new RelayClient(() => Promise.resolve(endpoint), SILENT, this.identity);
      try {
        await door.connect();
        const { token } = await door.call("workspace/open", { path: workspace });
        this.options.log(`Using the bridge of process ${endpoint.pid}.`);
        return { ...endpoint, token };
      } catch (error) {
        this.options.log(`The bridge announced by process ${endpoint.pid} is of no use: ${String(error)}`);
      } finally {
        door.close();
      }
    }
    return undefined;
  }

  private async spawn(workspace: string, executable: string): Promise<Endpoint> {
    const { storage, log } = this.options;
    const ended = (code: number | null): void => {
      log(`The bridge ended with code ${String(code)}.`);
      this.listener.gone("The bridge ended; run Tabferry: Start Bridge to go on.");
    };
    this.running = new AbortController();
    const { signal } = this.running;
    this.process = await BridgeProcess.start(executable, workspace, storage, signal, log, ended);
    return this.process.endpoint;
  }
}

const NOTHING = (): void => undefined;
const SILENT: RelayListener = { hello: NOTHING, event: NOTHING, delta: NOTHING, lost: NOTHING, gone: NOTHING };
