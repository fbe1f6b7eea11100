import { describe, expect, it } from "vitest";

import { inert } from "../src/common/text";

describe("inert", () => {
  it("makes links and icons plain", () => {
    expect(inert("see [a](command:x) $(bell)")).toBe("see [a] (command:x) $ (bell)");
  });

  it("removes what could make one name look like another", () => {
    expect(inert("a\u202etxt.\u200bexe\n\u0007b")).toBe("a txt. exe b");
  });

  it("cuts at whole characters", () => {
    expect(inert("😀".repeat(5), 3)).toBe("😀😀…");
  });
});
