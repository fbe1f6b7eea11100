import { describe, expect, it } from "vitest";

import { Tasks } from "../src/common/tasks";
import { event } from "./fakeRelay";

describe("Tasks", () => {
  it.each([
    ["session.task_done", "is done"],
    ["session.task_failed", "failed"],
    ["session.task_cancelled", "was cancelled"],
  ])("%s ends a task", (type, ending) => {
    const tasks = new Tasks();
    tasks.started("t");
    expect(tasks.running()).toEqual(["t"]);
    expect(tasks.apply(event(1, type))).toBe(ending);
    tasks.apply(event(2, "state", { state: "idle" }));
    expect(tasks.running()).toEqual([]);
  });

  it("forgets a task whose end came before the answer that started it", () => {
    const tasks = new Tasks();
    tasks.apply(event(1, "session.task_failed"));
    tasks.started("t");
    expect(tasks.running()).toEqual([]);
  });

  it("knows when the user must act, and when no longer", () => {
    const tasks = new Tasks();
    tasks.apply(event(1, "state", { state: "needs_user" }));
    expect(tasks.needsUser()).toBe(true);
    tasks.apply(event(2, "state", { state: "waiting" }));
    expect(tasks.needsUser()).toBe(false);
    expect(tasks.running()).toEqual(["t"]);
  });
});
