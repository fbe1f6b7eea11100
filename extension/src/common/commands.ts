/** What the palette offers. An error becomes one sentence in a notification, never a rejected command. */

import type { Approval } from "../protocol";
import type { Host } from "./vscodeapi";
import type { Session } from "./session";
import { inert } from "./text";

type Run = () => Promise<void>;

/** Every command by its name after "tabferry."; `review` is the status bar's and not in the palette. */
export function commands(session: Session, host: Host): Record<string, Run> {
  const choose = async (verb: string): Promise<Approval | undefined> => {
    const pending = session.approvals.pending();
    if (pending.length === 0) await host.notify("info", "No call is waiting for you.");
    const labels = pending.map(({ id, tool, args }) => inert(`${id}: ${tool} ${JSON.stringify(args)}`));
    const index = pending.length > 1 ? await host.pick(`${verb} which call?`, labels) : 0;
    return index === undefined ? undefined : pending[index];
  };
  const on = async (verb: string, run: (approval: Approval) => Promise<void>): Promise<void> => {
    const approval = await choose(verb);
    if (approval) await run(approval);
  };
  const deny = async (approval: Approval): Promise<void> => {
    const reason = await host.input("Deny: why? (the model reads it)", "Empty for no reason; Escape to go back");
    if (reason !== undefined) await session.answer(approval, "deny", reason.trim());
  };
  const ask = async (): Promise<void> => {
    const task = (await host.input("Ask Tabferry", "What should be done in this workspace?"))?.trim();
    if (task) await session.ask(task);
  };
  const all: Record<string, Run> = {
    start: () => session.start(),
    stop: () => session.stop(),
    ask,
    approve: () => on("Approve", (approval) => session.answer(approval, "approve", "")),
    deny: () => on("Deny", deny),
    review: () => on("Review", (approval) => session.present(approval)),
    cancel: () => session.cancel(),
    showOutput: () => {
      session.showOutput();
      return Promise.resolve();
    },
  };
  return Object.fromEntries(Object.entries(all).map(([name, run]) => [name, guarded(run, host)]));
}

function guarded(run: Run, host: Host): Run {
  return async () => {
    try {
      await run();
    } catch (error) {
      await host.notify("error", inert(error instanceof Error ? error.message : String(error), 400));
    }
  };
}
