import { describe, expect, it } from "vitest";

import { Transcript } from "../src/common/transcript";
import type { DeltaMessage } from "../src/protocol";
import { event } from "./fakeRelay";

const delta = (offset: number, text: string, turn = 1): DeltaMessage => ({
  session: "s",
  task: "t",
  turn,
  type: "reply.delta",
  offset,
  text,
  data: {},
});

function log(...messages: (DeltaMessage | ReturnType<typeof event>)[]): string {
  const transcript = new Transcript();
  return messages.map((each) => ("seq" in each ? transcript.event(each) : transcript.delta(each))).join("");
}

describe("Transcript", () => {
  it("prints streamed text once, though a snapshot repeats it", () => {
    expect(log(delta(0, "Hel"), delta(3, "lo"), delta(0, "Hello you"), event(1, "reply.done", { text: "Hello you" }))).toBe(
      "Hello you\n",
    );
  });

  it("counts offsets in code points", () => {
    expect(log(delta(0, "😀😀"), delta(2, "!"))).toBe("😀😀!");
  });

  it("prints the settled reply when the page had replaced what was streamed", () => {
    const text = log(delta(0, "Hello"), delta(1, "i"), event(1, "reply.done", { text: "Hi" }));
    expect(text).toBe("Hello\n(the reply as it settled)\nHi\n");
  });

  it("prints a reply that was never streamed", () => {
    expect(log(delta(0, "one", 1), event(1, "reply.done", { text: "two" }, { turn: 2 }))).toBe("one\ntwo\n");
  });

  it("starts each event on a line of its own, and shows calls and outcomes", () => {
    const call = event(1, "call.parsed", { tool: "read_file", args: { path: "a" } });
    const text = log(delta(0, "Reading"), call, event(2, "call.done", { success: false, error: "no such file" }));
    expect(text).toContain('Reading\n• read_file {"path":"a"}\n');
    expect(text).toContain("failed: no such file\n");
  });

  it("does not repeat an answer that stands there already", () => {
    expect(log(event(1, "reply.done", { text: "42\n" }), event(2, "session.task_done", { answer: "42" }))).toBe("42\n\n= done\n");
  });

  it("cuts long arguments and says nothing of events that are not for reading", () => {
    const line = log(event(1, "call.parsed", { tool: "w", args: { content: "x".repeat(5000) } }), event(2, "usage"));
    expect(line).toBe('• w {"content":"(5000 characters)"}\n');
  });

  it.each([
    ["session.task_done", { answer: "42" }, "= done: 42\n"],
    ["state", { state: "sending", text: "😀!" }, "→ 2 characters to the chat page\n"],
    ["session.task_failed", { error: "No page." }, "= the task failed: No page.\n"],
    ["state", { state: "needs_user", message: "Log in." }, "! needs you: Log in.\n"],
    ["state", { state: "waiting" }, ""],
  ])("%s %j", (type, data, line) => {
    expect(log(event(1, type, data))).toBe(line);
  });
});
