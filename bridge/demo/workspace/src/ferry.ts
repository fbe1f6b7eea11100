import { clock } from "./format/clock.js";

export interface Ferry {
  name: string;
  route: string;
  leavesAt: number;
  delayMinutes: number;
}

/** Minutes after midnight at which the ferry really leaves. */
export function realDeparture(ferry: Ferry): number {
  return ferry.leavesAt + ferry.delayMinutes;
}

export function describe(ferry: Ferry): string {
  const late = ferry.delayMinutes > 0 ? ` (${ferry.delayMinutes} min late)` : "";
  return `${clock(realDeparture(ferry))}  ${ferry.name}  ${ferry.route}${late}`;
}
