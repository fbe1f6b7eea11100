/** The bridge proves that it holds `server_key` before this client obeys anything it says. */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const NONCE_BYTES = 32; // as many random bytes as the token has

export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString("hex");
}

/** Whether `proof` is the hex HMAC-SHA256 of the nonce's UTF-8 bytes under the UTF-8 bytes of `serverKey`. */
export function proves(proof: unknown, nonce: string, serverKey: string): boolean {
  if (typeof proof !== "string") {
    return false;
  }
  const expected = createHmac("sha256", serverKey).update(nonce, "utf8").digest();
  const given = Buffer.from(proof, "hex");
  return given.length === expected.length && proof.length === 2 * given.length && timingSafeEqual(given, expected);
}
