/** The one status bar item: off, idle, working or needs you. Fixed words only, so nothing untrusted becomes an icon. */

import type { StatusItem } from "./vscodeapi";

export type Mood = "off" | "idle" | "working" | "reconnecting" | "needs you";

const LOOKS: Readonly<Record<Mood, [text: string, tooltip: string, command: string]>> = {
  off: ["$(circle-slash) Tabferry", "The bridge is not running. Click to ask; that starts it.", "tabferry.ask"],
  idle: ["$(comment-discussion) Tabferry", "The bridge is ready. Click to ask.", "tabferry.ask"],
  working: ["$(sync~spin) Tabferry: working", "A task is running. Click for its output.", "tabferry.showOutput"],
  reconnecting: ["$(debug-disconnect) Tabferry: reconnecting", "Click for the output.", "tabferry.showOutput"],
  "needs you": ["$(bell) Tabferry: needs you", "A task waits for you. Click to see what for.", "tabferry.review"],
};

export class StatusBar {
  constructor(private readonly item: StatusItem) {
    this.show("off");
  }

  show(mood: Mood): void {
    const [text, tooltip, command] = LOOKS[mood];
    this.item.show(text, tooltip, command, mood === "needs you");
  }
}
