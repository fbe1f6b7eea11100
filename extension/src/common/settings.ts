/** The user's settings; all are machine-scoped, so a workspace cannot choose what runs. */

import type { Host } from "./vscodeapi";

export interface Settings {
  readonly executable: string;
  readonly site: string;
  readonly url: string;
  readonly approve: "ask" | "edits" | "auto" | "none";
}

export function readSettings(host: Host): Settings {
  return {
    executable: host.setting("executable", "tabferry").trim() || "tabferry",
    site: host.setting("site", "").trim(),
    url: host.setting("url", "").trim(),
    approve: host.setting<Settings["approve"]>("approve", "ask"),
  };
}
