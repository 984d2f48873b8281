import { expect, test } from "vitest";
import { localTime } from "../../src/text/local-time.ts";

test("each part of a local time has its leading zeros", () => {
  const early = new Date(2026, 0, 2, 3, 4, 5);
  expect(localTime(early)).toEqual({ year: "2026", month: "01", day: "02", hour: "03", minute: "04", second: "05" });
  expect(localTime(new Date(2026, 10, 29, 23, 59, 58))).toMatchObject({ month: "11", day: "29", hour: "23" });
});
