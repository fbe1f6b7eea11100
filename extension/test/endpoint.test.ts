import { describe, expect, it } from "vitest";

import { parseEndpoint } from "../src/common/endpoint";

const WHOLE = { url: "ws://127.0.0.1:4711/", token: "t", server_key: "k", pid: 12, version: "0.1.0" };

describe("parseEndpoint", () => {
  it("reads the announce line, whatever else it holds", () => {
    expect(parseEndpoint(JSON.stringify({ ...WHOLE, more: 1 }))).toEqual(WHOLE);
  });

  it.each(["", "Traceback (most recent call last):", "[]", "null", "7"])("refuses %j", (line) => {
    expect(() => parseEndpoint(line)).toThrow("not a JSON object");
  });

  it.each(["url", "token", "server_key", "version"])("names the missing field %s", (field) => {
    expect(() => parseEndpoint(JSON.stringify({ ...WHOLE, [field]: undefined }))).toThrow(`"${field}"`);
    expect(() => parseEndpoint(JSON.stringify({ ...WHOLE, [field]: 1 }))).toThrow(`"${field}"`);
  });

  it.each([
    "ws://192.168.1.2:4711/",
    "ws://127.0.0.1.example.org/",
    "ws://127.0.0.1@example.org/",
    "wss://127.0.0.1/",
    "http://127.0.0.1/",
    "127.0.0.1:4711",
  ])("sends no token to %s", (url) => {
    expect(() => parseEndpoint(JSON.stringify({ ...WHOLE, url }))).toThrow("not a websocket on this machine");
  });
});
