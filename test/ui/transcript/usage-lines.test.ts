import fc from "fast-check";
import { expect, test } from "vitest";
import { costUsd, NO_USAGE, type Prices, type Usage } from "../../../src/schema/model.ts";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { lineWidth, plainText } from "../../../src/ui/line.ts";
import { costLines } from "../../../src/ui/transcript/usage-lines.ts";

const prices: Prices = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 };
const usage: Usage = {
  inputTokens: 4412,
  outputTokens: 1100,
  cacheReadTokens: 1_209_800,
  cacheWriteTokens: 3001,
  reasoningTokens: 512,
};
const options = { width: 80, glyphs: UNICODE_GLYPHS, strings: en.commands };
const paid = (of: Usage, by: Prices | null) => ({ usage: of, costUsd: costUsd(of, by), runs: 3, turns: 12 });

const text = (lines: ReturnType<typeof costLines>) => lines.map(plainText);

test("unknown prices: tokens only, and it says so", () => {
  expect(text(costLines({ ...paid(usage, null), runs: 1, turns: 1 }, null, options))).toEqual([
    "  tokens                 count",
    "  input                  4,412",
    "  cached, read       1,209,800",
    "  cached, written        3,001",
    "  output                 1,100",
    "    of it reasoning      (512)",
    "  total              1,218,313",
    "",
    "  the price of this model is unknown",
    "  1 run · 1 turn · 99% of the input from the cache",
  ]);
});

test("after a change of model only the total is said, and why", () => {
  const lines = text(costLines({ ...paid(usage, prices), costUsd: 1.5 }, prices, options));
  expect(lines).toContain("  total              1,218,313  $1.5000");
  expect(lines).toContain("  models of different prices were used: no cost by row");
  expect(lines.filter((line) => line.includes("$"))).toHaveLength(1);
  const unknown = text(costLines({ ...paid(usage, null) }, prices, options));
  expect(unknown).toContain("  the price of an earlier model is unknown: no cost");
});

test("nothing used yet costs nothing", () => {
  const lines = text(costLines({ usage: NO_USAGE, costUsd: 0, runs: 0, turns: 0 }, prices, options));
  expect(lines).toContain("  total                0               $0.0000");
  expect(lines.at(-1)).toBe("  0 runs · 0 turns");
});

const figure = (line: string, pattern: RegExp): number =>
  Number((pattern.exec(line)?.[1] ?? "NaN").replaceAll(",", ""));

test("the rows add up to the totals as shown, at any width", () => {
  const tokens = fc.nat(3_000_000);
  const price = fc.double({ min: 0, max: 80, noNaN: true });
  const usages = fc.record({
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    reasoningTokens: tokens,
  });
  const manyPrices = fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price });
  fc.assert(
    fc.property(usages, manyPrices, fc.integer({ min: 1, max: 120 }), (of, by, width) => {
      for (const line of costLines(paid(of, by), by, { ...options, width }))
        expect(lineWidth(line)).toBeLessThanOrEqual(width);
      const rows = text(costLines(paid(of, by), by, { ...options, width: 120 })).slice(1);
      const count = (line: string) => figure(line, /^ {2}\D+ {2}([\d,]+)/);
      const cost = (line: string) => Math.round(figure(line, /\$([\d,.]+)$/) * 1e6);
      const parts = rows.slice(0, 4);
      const total = rows.find((line) => line.startsWith("  total")) ?? "";
      expect(parts.map(count).reduce((a, b) => a + b)).toBe(count(total));
      expect(parts.map(cost).reduce((a, b) => a + b)).toBe(cost(total));
    }),
  );
});

test.each([40, 80, 120])("/cost at %d columns", async (width) => {
  const frames = [en.commands, zh.commands].flatMap((strings) => [
    costLines(paid(usage, prices), prices, { width, glyphs: UNICODE_GLYPHS, strings }),
    costLines(paid(usage, null), null, { width, glyphs: ASCII_GLYPHS, strings }),
  ]);
  const file = frames.map((lines) => lines.map(plainText).join("\n")).join("\n\n----\n");
  await expect(`${file}\n`).toMatchFileSnapshot(`../frames/commands/cost-${width}.txt`);
});
