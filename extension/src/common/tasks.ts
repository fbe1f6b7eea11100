/** Which tasks run, as the events tell it. */

import type { EventMessage } from "../protocol";

const ENDINGS: Readonly<Record<string, string>> = {
  "session.task_done": "is done",
  "session.task_failed": "failed",
  "session.task_cancelled": "was cancelled",
};

export class Tasks {
  private readonly waiting = new Map<string, boolean>();
  private readonly over = new Set<string>();

  /** The bridge accepted a task. Its first events, even its last, may have come before that answer. */
  started(task: string): void {
    if (!this.over.has(task) && !this.waiting.has(task)) this.waiting.set(task, false);
  }

  /** Takes in one event; returns how the task ended if it did, as the end of a sentence. */
  apply({ task, type, data }: EventMessage): string | undefined {
    if (task === null) return undefined;
    const ending = ENDINGS[type];
    if (ending) {
      this.waiting.delete(task);
      this.over.add(task);
    } else if (type === "state" && !this.over.has(task)) {
      this.waiting.set(task, data.state === "needs_user");
    }
    return ending;
  }

  running(): string[] {
    return [...this.waiting.keys()];
  }

  needsUser(): boolean {
    return [...this.waiting.values()].includes(true);
  }

  clear(): void {
    this.waiting.clear();
  }
}
