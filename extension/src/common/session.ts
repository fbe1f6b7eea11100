/** One window's work with its bridge: what was asked, what waits for the user, what the window shows of it. */

import type { Approval, DeltaMessage, EventMessage, InitializeResult } from "../protocol";
import { Approvals, type Change } from "./approvals";
import { Bridge } from "./bridge";
import type { RelayListener } from "./relayClient";
import { review } from "./review";
import { readSettings } from "./settings";
import type { Mood, StatusBar } from "./statusBar";
import { Tasks } from "./tasks";
import { inert } from "./text";
import { Transcript } from "./transcript";
import type { Channel, Host } from "./vscodeapi";

export class Session implements RelayListener {
  readonly approvals = new Approvals();
  private readonly tasks = new Tasks();
  private readonly transcript = new Transcript();
  private readonly bridge: Bridge;
  private starting: Promise<void> | undefined;
  private reconnecting = false;

  constructor(
    private readonly host: Host,
    private readonly channel: Channel,
    private readonly status: StatusBar,
  ) {
    const log = (line: string): void => {
      channel.append(`${line}\n`);
    };
    this.bridge = new Bridge({ version: host.version, storage: host.storage, log }, this);
  }

  /** Finds or starts the bridge; a second call while one runs waits for the same. */
  async start(): Promise<void> {
    this.starting ??= this.connect().finally(() => {
      this.starting = undefined;
    });
    await this.starting;
  }

  async stop(): Promise<void> {
    const ended = this.bridge.stop();
    this.gone("");
    await ended;
  }

  async ask(task: string): Promise<void> {
    await this.start();
    const { site, url, approve } = readSettings(this.host);
    const choices = { ...(site && { site }), ...(url && { url }), approve };
    this.channel.show();
    this.channel.append(this.transcript.asked(task));
    const started = await this.bridge.call("task/start", { task, ...choices });
    this.tasks.started(started.task);
    this.refresh();
  }

  async cancel(): Promise<void> {
    const running = this.tasks.running();
    if (running.length === 0) await this.host.notify("info", "No task is running.");
    await Promise.all(running.map((task) => this.bridge.call("task/cancel", { task })));
  }

  /** Answers with the digest of what was shown, so that a call that changed meanwhile asks again. */
  async answer({ id, digest }: Approval, decision: "approve" | "deny", reason: string): Promise<void> {
    const params = { id, digest, decision, ...(reason && { reason }) };
    const { outcome } = await this.bridge.call("approval/answer", params);
    if (outcome !== "accepted") {
      await this.host.notify("warning", `Your answer did not count: ${inert(outcome.replaceAll("_", " "))}.`);
    }
  }

  /** Shows what the call would change and asks; without an answer it stays pending. */
  async present(approval: Approval): Promise<void> {
    const { id, tool, reason } = approval;
    const shown = await review(approval, this.bridge.workspace ?? "");
    if (shown.kind === "diff") {
      await this.host.showDiff(id, shown.path, shown.before, shown.after, `${shown.path} (Tabferry: ${inert(tool)})`);
    } else if (shown.kind === "patch") {
      await this.host.showPatch(id, shown.path, shown.patch);
    }
    const what = shown.kind === "none" ? `${tool} ${JSON.stringify(approval.args)}. ${reason}` : reason;
    const choice = await this.host.notify("warning", inert(`Tabferry asks: ${what}`, 240), "Approve", "Deny");
    if (choice && this.approvals.isCurrent(approval)) {
      await this.answer(approval, choice === "Approve" ? "approve" : "deny", "");
    }
  }

  showOutput(): void {
    this.channel.show();
  }

  hello({ approvals, seq }: InitializeResult): void {
    this.reconnecting = false;
    this.follow(this.approvals.reset(approvals, seq));
  }

  event(event: EventMessage): void {
    this.channel.append(this.transcript.event(event));
    const ending = this.tasks.apply(event);
    this.follow(this.approvals.apply(event));
    if (ending && !this.host.focused()) this.background(this.host.notify("info", `Tabferry: the task ${ending}.`));
  }

  delta(delta: DeltaMessage): void {
    this.channel.append(this.transcript.delta(delta));
  }

  lost(): void {
    this.reconnecting = true;
    this.channel.append("The connection to the bridge was lost; trying again.\n");
    this.refresh();
  }

  gone(reason: string): void {
    this.reconnecting = false;
    if (reason) this.channel.append(`${reason}\n`);
    this.background(this.bridge.stop());
    this.tasks.clear();
    this.follow(this.approvals.reset([], 0));
  }

  private follow({ opened, closed }: Change): void {
    this.refresh();
    closed.forEach(({ id }) => {
      this.background(this.host.closeReview(id));
    });
    opened.forEach((approval) => {
      this.background(this.present(approval));
    });
  }

  private async connect(): Promise<void> {
    if (this.bridge.workspace) return;
    const folder = await this.host.pickFolder();
    if (!folder) throw new Error("Open a folder first: the bridge works in one folder.");
    const { version } = await this.bridge.start(folder, readSettings(this.host).executable);
    this.channel.append(`Bridge ${version} is ready for ${folder}.\n`);
    this.refresh();
  }

  private refresh(): void {
    this.status.show(this.mood());
  }

  private mood(): Mood {
    if (!this.bridge.workspace) return "off";
    if (this.reconnecting) return "reconnecting";
    if (this.approvals.pending().length > 0 || this.tasks.needsUser()) return "needs you";
    return this.tasks.running().length > 0 ? "working" : "idle";
  }

  /** What no command waits for still says why it failed. */
  private background(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.channel.append(`${String(error)}\n`);
    });
  }
}
