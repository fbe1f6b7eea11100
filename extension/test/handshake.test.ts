import { describe, expect, it } from "vitest";

import { newNonce, proves } from "../src/common/handshake";

// RFC 4231, test case 2: HMAC-SHA256 of this text under the key "Jefe".
const NONCE = "what do ya want for nothing?";
const PROOF = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

describe("proves", () => {
  it("accepts the HMAC of the nonce under the key", () => {
    expect(proves(PROOF, NONCE, "Jefe")).toBe(true);
  });

  it.each([
    ["another key", PROOF, NONCE, "jefe"],
    ["another nonce", PROOF, `${NONCE}?`, "Jefe"],
    ["a truncated proof", PROOF.slice(0, 62), NONCE, "Jefe"],
    ["a longer proof", `${PROOF}00`, NONCE, "Jefe"],
    ["an odd digit at the end", `${PROOF}0`, NONCE, "Jefe"],
    ["no hex", "z".repeat(64), NONCE, "Jefe"],
    ["nothing", undefined, NONCE, "Jefe"],
    ["a number", 5, NONCE, "Jefe"],
  ])("refuses %s", (_what, proof, nonce, key) => {
    expect(proves(proof, nonce, key)).toBe(false);
  });

  it("never repeats a nonce", () => {
    expect(new Set(Array.from({ length: 100 }, newNonce)).size).toBe(100);
    expect(newNonce()).toMatch(/^[0-9a-f]{64}$/);
  });
});
