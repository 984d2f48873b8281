import { expect, test } from "vitest";
import { formatDuration } from "../../src/ui/duration.ts";

test.each([
  [-5, "0 ms"],
  [0, "0 ms"],
  [2.6, "3 ms"],
  [999, "999 ms"],
  [999.7, "1.0 s"],
  [2134, "2.1 s"],
  [59_949, "59.9 s"],
  [59_950, "1 m 00 s"],
  [65_210, "1 m 05 s"],
  [3_599_400, "59 m 59 s"],
  [3_599_600, "1 h 00 m"],
  [3_900_000, "1 h 05 m"],
  [90_000_000, "25 h 00 m"],
])("%d ms is written %s", (ms, expected) => {
  expect(formatDuration(ms)).toBe(expected);
});
