import { describe, realDeparture, type Ferry } from "./ferry.js";

/** The ferries that have not left yet, soonest first. */
export function upcoming(ferries: Ferry[], now: number): Ferry[] {
  return ferries
    .filter((ferry) => realDeparture(ferry) >= now)
    .sort((a, b) => realDeparture(a) - realDeparture(b));
}

export function board(ferries: Ferry[], now: number): string {
  const lines = upcoming(ferries, now).map(describe);
  return lines.length > 0 ? lines.join("\n") : "No more ferries today.";
}
