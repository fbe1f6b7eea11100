import { describe, expect, it } from "vitest";

import { RpcError, RpcPeer } from "../src/common/rpc";

function peer(): { rpc: RpcPeer; sent: string[]; notified: [string, unknown][] } {
  const sent: string[] = [];
  const notified: [string, unknown][] = [];
  const rpc = new RpcPeer(
    (frame) => sent.push(frame),
    (method, params) => notified.push([method, params]),
  );
  return { rpc, sent, notified };
}

const frame = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });

describe("RpcPeer", () => {
  it("frames a call and gives it its own answer, whatever the order", async () => {
    const { rpc, sent } = peer();
    const [first, second] = [rpc.call("a", { x: 1 }), rpc.call("b", {})];
    expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      { jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } },
      { jsonrpc: "2.0", id: 2, method: "b", params: {} },
    ]);
    rpc.receive(frame({ id: 2, result: "two" }));
    rpc.receive(frame({ id: 1, result: "one" }));
    expect(await Promise.all([first, second])).toEqual(["one", "two"]);
  });

  it("rejects with the bridge's own sentence", async () => {
    const { rpc } = peer();
    const call = rpc.call("a", {});
    rpc.receive(frame({ id: 1, error: { code: -32000, message: "No such site." } }));
    await expect(call).rejects.toEqual(new RpcError(-32000, "No such site."));
  });

  it("passes notifications on and refuses requests that it does not offer", () => {
    const { rpc, sent, notified } = peer();
    rpc.receive(frame({ method: "event", params: { seq: 1 } }));
    rpc.receive(frame({ id: "q", method: "editor/text", params: {} }));
    expect(notified).toEqual([["event", { seq: 1 }]]);
    expect(JSON.parse(sent[0] ?? "")).toMatchObject({ id: "q", error: { code: -32601 } });
  });

  it.each(["not json", "[]", "null", '{"id":1,"result":2}'])("throws on %s", (text) => {
    expect(() => {
      peer().rpc.receive(text);
    }).toThrow();
  });

  it("fails every open call when the socket is gone", async () => {
    const { rpc } = peer();
    const call = rpc.call("a", {});
    rpc.fail(new Error("gone"));
    await expect(call).rejects.toThrow("gone");
  });

  it("lets the caller refuse a result before anything later is handled", async () => {
    const { rpc } = peer();
    const call = rpc.call("a", {}, () => {
      throw new Error("no proof");
    });
    const refused = expect(call).rejects.toThrow("no proof");
    expect(() => {
      rpc.receive(frame({ id: 1, result: {} }));
    }).toThrow("no proof");
    await refused;
  });
});
