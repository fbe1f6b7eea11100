/** Calls that wait for the user's yes or no, oldest first. */

import type { Approval, EventMessage } from "../protocol";
import { isObject } from "./rpc";

/** What follows `call.asking` when the question is settled, by whomever. */
const SETTLES = new Set(["call.granted", "call.denied", "call.done", "call.delivered"]);
const ENDS_TASK = new Set(["session.task_done", "session.task_failed", "session.task_cancelled"]);

export interface Change {
  readonly opened: readonly Approval[];
  readonly closed: readonly Approval[];
}

export class Approvals {
  private waiting = new Map<string, Approval>();
  private known = 0;

  /** The bridge's own list, true as of event `seq`; older questions in the replay are not asked again. */
  reset(approvals: readonly Approval[], seq: number): Change {
    const before = this.waiting;
    this.waiting = new Map(approvals.map((approval) => [approval.id, approval]));
    this.known = seq;
    return {
      opened: approvals.filter(({ id, digest }) => before.get(id)?.digest !== digest),
      closed: [...before.values()].filter(({ id }) => !this.waiting.has(id)),
    };
  }

  apply(event: EventMessage): Change {
    if (event.type === "call.asking" && event.seq > this.known) {
      const approval = asApproval(event);
      this.waiting.set(approval.id, approval);
      return { opened: [approval], closed: [] };
    }
    const closed = this.pending().filter((approval) => settles(event, approval));
    closed.forEach(({ id }) => this.waiting.delete(id));
    return { opened: [], closed };
  }

  pending(): Approval[] {
    return [...this.waiting.values()];
  }

  /** Whether this very question, with this digest, still waits. */
  isCurrent({ id, digest }: Approval): boolean {
    return this.waiting.get(id)?.digest === digest;
  }
}

function settles({ type, task, call }: EventMessage, approval: Approval): boolean {
  return task === approval.task && (ENDS_TASK.has(type) || (SETTLES.has(type) && call === approval.call));
}

function asApproval({ session, task, call, data }: EventMessage): Approval {
  const text = (name: string): string => (typeof data[name] === "string" ? data[name] : "");
  return {
    id: text("id"),
    session,
    task: task ?? "",
    call: call ?? "",
    tool: text("tool"),
    args: isObject(data.args) ? data.args : {},
    diff: text("diff") || null,
    rule: text("rule"),
    reason: text("reason"),
    digest: text("digest"),
  };
}
