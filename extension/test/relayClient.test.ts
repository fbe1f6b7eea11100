import { EventEmitter, once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";

import { RelayClient, type RelayListener, RelayRefused } from "../src/common/relayClient";
import type { EventMessage } from "../src/protocol";
import { event, FakeRelay } from "./fakeRelay";

class Ear extends EventEmitter implements RelayListener {
  readonly heard: string[] = [];

  hello(): void {
    this.hear("hello");
  }
  event({ journal_id, seq }: EventMessage): void {
    this.hear(`${journal_id}:${seq}`);
  }
  delta({ text }: { text: string }): void {
    this.hear(`delta ${text}`);
  }
  lost(): void {
    this.hear("lost");
  }
  gone(reason: string): void {
    this.hear(`gone ${reason}`);
  }
  async until(what: string): Promise<void> {
    while (!this.heard.some((each) => each.startsWith(what))) await once(this, "heard");
  }
  private hear(what: string): void {
    this.heard.push(what);
    this.emit("heard");
  }
}

const open: { close(): unknown }[] = [];

async function relay(status?: number): Promise<FakeRelay> {
  const fake = await FakeRelay.start(status);
  open.push(fake);
  return fake;
}

function client(fake: FakeRelay, ear: Ear, pauses: number[] = []): RelayClient {
  const pause = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    return Promise.resolve();
  };
  const made = new RelayClient(() => Promise.resolve(fake.endpoint), ear, { name: "test", version: "1" }, pause);
  open.unshift(made);
  return made;
}

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe("RelayClient", () => {
  it("shows its token as a subprotocol and asks for a proof", async () => {
    const [fake, ear] = [await relay(), new Ear()];
    const hello = await client(fake, ear).connect();
    expect(hello.version).toBe("0.1.0");
    expect(fake.protocols).toEqual(["tabferry.v1,token.t"]);
    expect(fake.calls[0]).toMatchObject({ method: "initialize", params: { client: { name: "test" }, last: null } });
  });

  it("obeys nothing from a bridge with a wrong proof, and does not try again", async () => {
    const [fake, ear] = [await relay(), new Ear()];
    fake.key = "another key";
    fake.replay = [event(1, "call.asking")];
    await expect(client(fake, ear).connect()).rejects.toBeInstanceOf(RelayRefused);
    expect(ear.heard).toEqual([]);
  });

  it("says that it was refused", async () => {
    const fake = await relay(401);
    await expect(client(fake, new Ear()).connect()).rejects.toThrow("status 401");
  });

  it("passes each event on once, in order", async () => {
    const [fake, ear] = [await relay(), new Ear()];
    await client(fake, ear).connect();
    for (const seq of [1, 2, 2, 1, 5]) fake.push("event", event(seq, "usage"));
    await ear.until("j1:5");
    expect(ear.heard).toEqual(["hello", "j1:1", "j1:2", "j1:5"]);
  });

  it("comes back with what it has, backing off, and gets what it missed", async () => {
    const [fake, ear, pauses] = [await relay(), new Ear(), [] as number[]];
    await client(fake, ear, pauses).connect();
    fake.push("event", event(3, "usage"));
    await ear.until("j1:3");
    fake.replay = [event(3, "usage"), event(4, "usage")];
    fake.drop();
    await ear.until("j1:4");
    expect(ear.heard).toEqual(["hello", "j1:3", "lost", "hello", "j1:4"]);
    expect(fake.lasts).toEqual([null, { journal_id: "j1", seq: 3 }]);
    expect(pauses).toEqual([250]);
  });

  it("takes a new journal from its beginning", async () => {
    const [fake, ear] = [await relay(), new Ear()];
    fake.seq = 7;
    await client(fake, ear).connect();
    fake.journal = "j2";
    fake.replay = [event(1, "usage", {}, { journal_id: "j2" })];
    fake.drop();
    await ear.until("j2:1");
  });

  it("gives up in the end, with one sentence", async () => {
    const [fake, ear, pauses] = [await relay(), new Ear(), [] as number[]];
    await client(fake, ear, pauses).connect();
    const gone = ear.until("gone");
    const { endpoint } = fake;
    Object.defineProperty(fake, "endpoint", { value: endpoint });
    await fake.close();
    await gone;
    expect(pauses.at(-1)).toBe(10_000);
    expect(pauses).toHaveLength(12);
  });

  it("stays closed when it was closed", async () => {
    const [fake, ear] = [await relay(), new Ear()];
    const made = client(fake, ear);
    await made.connect();
    made.close();
    await expect(made.call("site/list", {})).rejects.toThrow("not connected");
    expect(ear.heard).toEqual(["hello"]);
  });
});
