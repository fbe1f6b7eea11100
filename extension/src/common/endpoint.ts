/** Where a bridge listens and what proves it: the announce line and the discovery file hold the same five fields. */

import { isObject } from "./rpc";

export interface Endpoint {
  readonly url: string;
  readonly token: string;
  readonly server_key: string;
  readonly pid: number;
  readonly version: string;
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Reads one JSON line; throws one sentence when it is not a bridge on this machine. */
export function parseEndpoint(line: string): Endpoint {
  const value = parsed(line);
  if (!isObject(value)) {
    throw new Error("The bridge announced itself with something that is not a JSON object.");
  }
  const text = (name: string): string => {
    const field = value[name];
    if (typeof field !== "string" || field === "") {
      throw new Error(`The bridge announced itself without "${name}".`);
    }
    return field;
  };
  const url = loopbackUrl(text("url"));
  return { url, token: text("token"), server_key: text("server_key"), version: text("version"), pid: Number(value.pid) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A token is never sent to another machine, whatever the file says. */
function loopbackUrl(url: string): string {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  if (protocol !== "ws:" || !LOOPBACK.has(hostname)) {
    throw new Error("The bridge announced an address that is not a websocket on this machine.");
  }
  return url;
}
