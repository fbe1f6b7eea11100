/** One connection to the bridge that outlives its sockets: handshake, calls, events in order and once, reconnecting. */

import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

import type { DeltaMessage, EventMessage, InitializeParams, InitializeResult, Last, Methods } from "../protocol";
import type { Endpoint } from "./endpoint";
import { newNonce, proves } from "./handshake";
import { RpcPeer } from "./rpc";

const SUBPROTOCOL = "tabferry.v1";
const HANDSHAKE_MS = 10_000; // a loopback handshake takes milliseconds; a busy machine may need seconds
const MAX_FRAME_BYTES = 256 * 1024 * 1024; // an event may carry a 10 MiB file, ASCII-escaped, with its diff
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;
const RETRIES = 12; // about a minute and a half: a bridge that restarts is back long before

export interface RelayListener {
  /** The bridge proved itself, for the first time or again; the events that were missed follow. */
  hello(result: InitializeResult): void;
  event(event: EventMessage): void;
  delta(delta: DeltaMessage): void;
  /** The connection is lost and being tried again. */
  lost(): void;
  /** It will not come back by itself. */
  gone(reason: string): void;
}

/** What answered is not our bridge, or does not want us: trying again would not help. */
export class RelayRefused extends Error {}

export class RelayClient {
  private socket: WebSocket | undefined;
  private peer: RpcPeer | undefined;
  private last: Last | undefined;
  private closed = false;

  /** `locate` says where the bridge listens now: one that restarted has another port and token. */
  constructor(
    private readonly locate: () => Promise<Endpoint>,
    private readonly listener: RelayListener,
    private readonly client: InitializeParams["client"],
    private readonly pause: (milliseconds: number) => Promise<void> = sleep,
  ) {}

  /** Opens a socket and makes the bridge prove itself; nothing it says before that is obeyed. */
  async connect(): Promise<InitializeResult> {
    const { url, token, server_key } = await this.locate();
    const socket = await opened(url, token);
    const peer = this.attend(socket);
    const nonce = newNonce();
    const params = { client: this.client, capabilities: {}, nonce, last: this.last ?? null };
    const late = setTimeout(() => {
      socket.terminate();
    }, HANDSHAKE_MS);
    try {
      return await peer.call<InitializeResult>("initialize", params, (result) => {
        if (!proves(result.proof, nonce, server_key)) {
          throw new RelayRefused("What answered is not our bridge (its proof is wrong), so nothing it says is obeyed.");
        }
        this.adopt(socket, peer, result);
      });
    } finally {
      clearTimeout(late);
    }
  }

  async call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    if (!this.peer) throw new Error("The bridge is not connected at the moment; try again shortly.");
    return this.peer.call<Methods[M]["result"]>(method, params);
  }

  close(): void {
    this.closed = true;
    this.peer = undefined;
    this.socket?.close();
  }

  private attend(socket: WebSocket): RpcPeer {
    const send = (frame: string): void => {
      socket.send(frame);
    };
    const peer = new RpcPeer(send, (method, params) => {
      if (this.peer === peer) this.notified(method, params);
    });
    socket.on("message", (data: Buffer) => {
      try {
        peer.receive(data.toString("utf8"));
      } catch (error) {
        peer.fail(error as Error);
        socket.terminate();
      }
    });
    socket.on("close", () => {
      peer.fail(new Error("The connection to the bridge closed."));
      if (this.peer === peer) void this.reconnect();
    });
    return peer;
  }

  private adopt(socket: WebSocket, peer: RpcPeer, result: InitializeResult): void {
    if (this.closed) {
      socket.close();
      return;
    }
    this.socket = socket;
    this.peer = peer;
    this.last ??= { journal_id: result.journal_id, seq: result.seq };
    this.listener.hello(result);
  }

  private notified(method: string, params: unknown): void {
    if (method === "event") {
      this.durable(params as EventMessage);
    } else if (method === "delta") {
      this.listener.delta(params as DeltaMessage);
    }
  }

  /** Another journal has numbers of its own: what was seen of the old one says nothing about it. */
  private durable(event: EventMessage): void {
    if (this.last?.journal_id === event.journal_id && event.seq <= this.last.seq) return;
    this.last = { journal_id: event.journal_id, seq: event.seq };
    this.listener.event(event);
  }

  private async reconnect(): Promise<void> {
    this.peer = undefined;
    this.listener.lost();
    let reason = "The bridge did not come back; run Tabferry: Start Bridge to go on.";
    for (let attempt = 0; attempt < RETRIES; attempt++) {
      await this.pause(Math.min(FIRST_RETRY_MS * 2 ** attempt, LAST_RETRY_MS));
      if (this.closed) return;
      try {
        await this.connect();
        return;
      } catch (error) {
        if (!(error instanceof RelayRefused)) continue;
        reason = error.message;
        break;
      }
    }
    this.close();
    this.listener.gone(reason);
  }
}

async function opened(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url, [SUBPROTOCOL, `token.${token}`], {
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.on("error", reject); // later errors are followed by "close", which carries on
    socket.once("unexpected-response", (_request, response) => {
      reject(new RelayRefused(`The bridge refused the connection with status ${String(response.statusCode)}.`));
      socket.terminate();
    });
  });
  return socket;
}
