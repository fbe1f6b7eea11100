/** An editor that notes what it was asked to show and answers what a test tells it to. */

import type { Channel, Host, StatusItem } from "../src/common/vscodeapi";

export class FakeHost implements Host, Channel, StatusItem {
  readonly shown: string[] = [];
  readonly statuses: string[] = [];
  settings: Record<string, unknown> = {};
  inputs: (string | undefined)[] = [];
  isFocused = true;
  output = "";
  version = "0.1.0";
  private choose: ((button: string | undefined) => void)[] = [];

  constructor(
    readonly storage: string,
    private readonly folder: string,
  ) {}

  setting<T>(name: string, fallback: T): T {
    return (this.settings[name] as T | undefined) ?? fallback;
  }
  focused(): boolean {
    return this.isFocused;
  }
  pickFolder(): Promise<string | undefined> {
    return Promise.resolve(this.folder || undefined);
  }
  pick(_placeholder: string, labels: readonly string[]): Promise<number | undefined> {
    this.shown.push(`pick ${labels.join(" / ")}`);
    return Promise.resolve(labels.length - 1);
  }
  input(): Promise<string | undefined> {
    return Promise.resolve(this.inputs.shift());
  }
  notify(severity: string, message: string, ...buttons: string[]): Promise<string | undefined> {
    this.shown.push(`${severity}: ${message}`);
    return buttons.length === 0 ? Promise.resolve(undefined) : new Promise((resolve) => this.choose.push(resolve));
  }
  showDiff(_id: string, path: string, before: string, after: string): Promise<void> {
    this.shown.push(`diff ${path}: ${JSON.stringify([before, after])}`);
    return Promise.resolve();
  }
  showPatch(_id: string, path: string, patch: string): Promise<void> {
    this.shown.push(`patch ${path}: ${JSON.stringify(patch)}`);
    return Promise.resolve();
  }
  closeReview(id: string): Promise<void> {
    this.shown.push(`close ${id}`);
    return Promise.resolve();
  }
  append(text: string): void {
    this.output += text;
  }
  show(text?: string): void {
    if (text) this.statuses.push(text.replace(/^\$\(.*?\) /, ""));
  }

  /** Presses a button of the oldest notification that has any. */
  press(button: string | undefined): void {
    this.choose.shift()?.(button);
  }
  status(): string | undefined {
    return this.statuses.at(-1);
  }
}
