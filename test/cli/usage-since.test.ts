import fc from "fast-check";
import { expect, test } from "vitest";
import { sinceMs } from "../../src/cli/usage-since.ts";

const NOW = new Date(2026, 10, 30, 15, 30);

test.each([
  ["2026-11-01", new Date(2026, 10, 1)],
  ["2024-02-29", new Date(2024, 1, 29)],
  ["0d", new Date(2026, 10, 30)],
  ["1d", new Date(2026, 10, 29)],
  ["30d", new Date(2026, 9, 31)],
  ["2w", new Date(2026, 10, 16)],
  ["12h", new Date(2026, 10, 30, 3, 30)],
  ["90m", new Date(2026, 10, 30, 14, 0)],
] as const)("%s begins at %s", (text, expected) => {
  expect(sinceMs(text, NOW)).toBe(expected.getTime());
});

test.each(["", "30", "d", "-1d", "1.5d", "1y", "2026-11", "2026-02-29", "2026-13-01", "2026-11-31", "1234567d", " 1d"])(
  "'%s' is neither a date nor a time span",
  (text) => {
    expect(sinceMs(text, NOW)).toBe(undefined);
  },
);

test("so many days before now is the start of a day, at most so many days and hours ago", () => {
  fc.assert(
    fc.property(
      fc.nat(3000),
      fc.date({ min: new Date(2000, 0), max: new Date(2040, 0), noInvalidDate: true }),
      (days, now) => {
        const from = new Date(sinceMs(`${days}d`, now) ?? Number.NaN);
        expect([from.getHours(), from.getMinutes()].every((part) => part <= 1)).toBe(true);
        const past = (now.getTime() - from.getTime()) / 86_400_000;
        expect(past).toBeGreaterThan(days - 0.1);
        expect(past).toBeLessThan(days + 1.1);
      },
    ),
  );
});
