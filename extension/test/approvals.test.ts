import { describe, expect, it } from "vitest";

import { Approvals } from "../src/common/approvals";
import type { Approval } from "../src/protocol";
import { ASKING, event } from "./fakeRelay";

const asking = (seq: number, data: object = {}, call = "c1") => event(seq, "call.asking", { ...ASKING, ...data }, { call });
const APPROVAL: Approval = { ...ASKING, session: "s", task: "t", call: "c1" };

describe("Approvals", () => {
  it("opens what is asked and closes what is settled, by whomever", () => {
    for (const type of ["call.granted", "call.denied", "call.done"]) {
      const approvals = new Approvals();
      expect(approvals.apply(asking(1)).opened).toEqual([APPROVAL]);
      expect(approvals.apply(event(2, type, {}, { call: "another" })).closed).toEqual([]);
      expect(approvals.apply(event(3, type, {}, { call: "c1", task: "another" })).closed).toEqual([]);
      expect(approvals.apply(event(4, type, {}, { call: "c1" })).closed).toEqual([APPROVAL]);
      expect(approvals.pending()).toEqual([]);
    }
  });

  it("closes everything of a task that ended", () => {
    const approvals = new Approvals();
    approvals.apply(asking(1));
    approvals.apply(asking(2, { id: "a_2" }, "c2"));
    expect(approvals.apply(event(3, "session.task_cancelled")).closed).toHaveLength(2);
  });

  it("asks again when the ground moved: only the newest digest counts", () => {
    const approvals = new Approvals();
    approvals.apply(asking(1));
    approvals.apply(asking(2, { digest: "d2" }));
    expect(approvals.isCurrent(APPROVAL)).toBe(false);
    expect(approvals.isCurrent({ ...APPROVAL, digest: "d2" })).toBe(true);
  });

  it("takes the bridge's own list on connecting, and asks nothing old of the replay", () => {
    const approvals = new Approvals();
    approvals.apply(asking(1));
    const other = { ...APPROVAL, id: "a_9" };
    expect(approvals.reset([other], 10)).toEqual({ opened: [other], closed: [APPROVAL] });
    expect(approvals.apply(asking(9)).opened).toEqual([]);
    expect(approvals.reset([other], 12)).toEqual({ opened: [], closed: [] });
    expect(approvals.apply(asking(13)).opened).toHaveLength(1);
  });
});
