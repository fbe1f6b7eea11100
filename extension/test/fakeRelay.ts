/** A relay that says what a test tells it to; the wire is real. */

import { createHmac } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";

import type { Approval, EventMessage, InitializeParams, InitializeResult, Last } from "../src/protocol";
import type { Endpoint } from "../src/common/endpoint";

export interface Call {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export class FakeRelay extends EventEmitter {
  readonly calls: Call[] = [];
  readonly lasts: (Last | null | undefined)[] = [];
  readonly protocols: string[] = [];
  answers: Record<string, unknown> = {};
  approvals: Approval[] = [];
  replay: EventMessage[] = [];
  key = "server-key";
  seq = 0;
  journal = "j1";

  private constructor(private readonly server: WebSocketServer) {
    super();
    server.on("connection", (socket, request) => {
      this.protocols.push(String(request.headers["sec-websocket-protocol"]));
      socket.on("message", (data: Buffer) => {
        this.answer(socket, JSON.parse(data.toString("utf8")) as Call & { id: number });
      });
    });
  }

  static async start(status?: number): Promise<FakeRelay> {
    const server = new WebSocketServer({
      port: 0,
      host: "127.0.0.1",
      handleProtocols: () => "tabferry.v1",
      verifyClient: (_info: unknown, done: (ok: boolean, code?: number) => void) => {
        done(status === undefined, status);
      },
    });
    await once(server, "listening");
    return new FakeRelay(server);
  }

  get endpoint(): Endpoint {
    const { port } = this.server.address() as AddressInfo;
    return { url: `ws://127.0.0.1:${port}/`, token: "t", server_key: "server-key", pid: 1, version: "0.1.0" };
  }

  push(method: string, params: unknown): void {
    for (const socket of this.server.clients) {
      socket.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
    }
  }

  drop(): void {
    for (const socket of this.server.clients) socket.terminate();
  }

  async called(method: string): Promise<Call> {
    for (;;) {
      const call = this.calls.find((each) => each.method === method);
      if (call) return call;
      await once(this, "call");
    }
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  private answer(socket: WebSocket, { id, method, params }: Call & { id: number }): void {
    const result = method === "initialize" ? this.welcome(params as unknown as InitializeParams) : this.answers[method];
    this.calls.push({ method, params });
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }));
    if (method === "initialize") {
      this.replay.forEach((event) => {
        socket.send(JSON.stringify({ jsonrpc: "2.0", method: "event", params: event }));
      });
    }
    this.emit("call");
  }

  private welcome({ nonce, last }: InitializeParams): InitializeResult {
    this.lasts.push(last);
    return {
      version: "0.1.0",
      proof: createHmac("sha256", this.key).update(nonce).digest("hex"),
      journal_id: this.journal,
      seq: this.seq,
      role: "controller",
      workspace: "/w",
      viewer: null,
      sessions: [],
      approvals: this.approvals,
    };
  }
}

export function event(seq: number, type: string, data: object = {}, more: Partial<EventMessage> = {}): EventMessage {
  const fixed = { v: 1, journal_id: "j1", time: 1, session: "s", task: "t", turn: 1, call: null, cause: null };
  return { ...fixed, seq, type, data: data as EventMessage["data"], ...more };
}

export const ASKING = {
  id: "a_1",
  digest: "d1",
  tool: "write_file",
  args: { path: "greeting.txt", content: "bye\n" },
  diff: "-hello\n+bye\n",
  rule: "writes",
  reason: "A write asks.",
};
