import fc from "fast-check";
import { expect, test } from "vitest";
import { apportion, formatCost, formatCount, formatDollars, formatTokens } from "../../src/ui/figures.ts";

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1k"],
  [1100, "1.1k"],
  [14_200, "14.2k"],
  [200_000, "200k"],
  [999_949, "999.9k"],
  [999_950, "1M"],
  [1_200_000, "1.2M"],
  [3_400_000_000, "3.4B"],
])("%d tokens are %s", (tokens, text) => {
  expect(formatTokens(tokens)).toBe(text);
});

test.each([
  [0, "$0"],
  [0.000_01, "<$0.001"],
  [0.000_999, "<$0.001"],
  [0.001, "$0.001"],
  [0.061, "$0.061"],
  [0.9994, "$0.999"],
  [0.9996, "$1.00"],
  [12.3, "$12.30"],
  [12_345.678, "$12,345.68"],
])("%d dollars are %s", (usd, text) => {
  expect(formatCost(usd)).toBe(text);
});

test("counts and dollars have separators", () => {
  expect([999, 1000, 1_234_567].map(formatCount)).toEqual(["999", "1,000", "1,234,567"]);
  expect([formatDollars(1234.5, 4), formatDollars(1234.5, 0)]).toEqual(["$1,234.5000", "$1,235"]);
});

test("shares go to the largest remainders, and to the first where nothing has weight", () => {
  expect(apportion(10, [1, 1, 1])).toEqual([4, 3, 3]);
  expect(apportion(1, [0, 1, 2])).toEqual([0, 0, 1]);
  expect(apportion(7, [0, 0])).toEqual([7, 0]);
  expect(apportion(7, [])).toEqual([]);
});

test("shares add up to the total, none is negative, and each is within one of its exact part", () => {
  fc.assert(
    fc.property(fc.nat(2_000_000), fc.array(fc.nat(5_000_000), { minLength: 1, maxLength: 8 }), (total, weights) => {
      const shares = apportion(total, weights);
      const sum = weights.reduce((a, b) => a + b, 0);
      expect(shares.reduce((a, b) => a + b, 0)).toBe(total);
      for (const [index, share] of shares.entries()) {
        expect(share).toBeGreaterThanOrEqual(0);
        if (sum > 0) expect(Math.abs(share - (total * (weights[index] ?? 0)) / sum)).toBeLessThan(1.000_001);
      }
    }),
  );
});
