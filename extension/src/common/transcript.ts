/** Events and streamed text as plain text for the output channel. */

import type { DeltaMessage, EventMessage } from "../protocol";

const LINE_CHARACTERS = 300; // one call, one glance
const VALUE_CHARACTERS = 80; // an argument may hold a whole file; the diff editor and the journal have all of it

type Data = EventMessage["data"];

export class Transcript {
  private turn = "";
  private text: string[] = [];
  private printed = "";
  private settled = "";

  asked(task: string): string {
    return `\n> ${task}\n`;
  }

  /** What a live piece adds. Offsets count code points; a lower one replaces, which a log can only do at the end. */
  delta({ type, session, turn, offset, text }: DeltaMessage): string {
    if (type !== "reply.delta") return "";
    const gap = this.enter(`${session}/${turn}`);
    this.text = this.text.slice(0, offset).concat(Array.from(text));
    return gap + this.print(this.text.join(""));
  }

  /** One durable event; `reply.done` settles what the pieces showed. */
  event(event: EventMessage): string {
    const { type, session, turn, data } = event;
    if (type === "reply.done") {
      const gap = this.enter(`${session}/${turn ?? 0}`);
      return gap + this.settle(String(data.text));
    }
    const line = type === "session.task_done" ? this.done(String(data.answer)) : LINES[type]?.(data);
    return line ? `${this.interrupted()}${line}\n` : "";
  }

  /** A new turn starts with nothing; returns what must come between it and the one before. */
  private enter(turn: string): string {
    if (turn === this.turn) return "";
    const gap = this.interrupted();
    this.turn = turn;
    this.text = [];
    this.printed = "";
    return gap;
  }

  private print(whole: string): string {
    if (!whole.startsWith(this.printed)) return "";
    const fresh = whole.slice(this.printed.length);
    this.printed = whole;
    return fresh;
  }

  private settle(whole: string): string {
    const settled = whole.startsWith(this.printed) ? this.print(whole) : `\n(the reply as it settled)\n${whole}`;
    this.printed = `${whole}\n`;
    this.settled = whole;
    return `${settled}\n`;
  }

  /** The answer is the last reply, which stands there already, unless it was read while nobody was connected. */
  private done(answer: string): string {
    return answer.trim() === this.settled.trim() ? "= done" : `= done: ${answer}`;
  }

  /** A line never starts in the middle of a streamed one. */
  private interrupted(): string {
    if (this.printed === "" || this.printed.endsWith("\n")) return "";
    return "\n";
  }
}

const LINES: Readonly<Record<string, (data: Data) => string | undefined>> = {
  "call.parsed": ({ tool, args }) => `• ${String(tool)} ${brief(args)}`,
  "call.asking": ({ reason }) => `? waits for you: ${String(reason)}`,
  "call.granted": ({ by }) => `  granted by ${String(by)}`,
  "call.denied": ({ by, reason }) => `  not done (${String(by)}): ${String(reason)}`,
  "call.done": ({ success, error }) => (success === true ? "  done" : `  failed: ${String(error)}`),
  diagnostic: ({ code, message }) => `! ${String(code)}${message ? `: ${brief(message)}` : ""}`,
  state: ({ state, text, message }) => {
    // Not `prompt.sent`: by the time that is durable the reply may have begun.
    if (state === "sending") return `→ ${Array.from(String(text)).length} characters to the chat page`;
    return state === "needs_user" ? `! needs you: ${String(message)}` : undefined;
  },
  "session.task_failed": ({ error }) => `= the task failed: ${String(error)}`,
  "session.task_cancelled": () => "= the task was cancelled",
};

function brief(value: unknown): string {
  const text = Array.from(typeof value === "string" ? value : JSON.stringify(value, shortened));
  return text.length <= LINE_CHARACTERS ? text.join("") : `${text.slice(0, LINE_CHARACTERS).join("")}…`;
}

function shortened(key: string, value: unknown): unknown {
  return key && typeof value === "string" && value.length > VALUE_CHARACTERS ? `(${value.length} characters)` : value;
}
