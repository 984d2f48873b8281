import fc from "fast-check";
import { expect, test } from "vitest";
import { lineWidth, plainText } from "../../../src/ui/line.ts";
import { tableLines } from "../../../src/ui/transcript/table-lines.ts";

const table = {
  columns: [
    { title: "fruit", align: "left" },
    { title: "count", align: "right" },
    { title: "价格", align: "right" },
  ],
  rows: [
    { kind: "value", cells: ["苹果", "12", "$1.50"] },
    { kind: "detail", cells: ["  red", "(3)", ""] },
    { kind: "total", cells: ["total", "12", "$1.50"] },
  ],
} as const;

test("columns are aligned by cells, titles and details are dim, totals bold, nothing is padded to the right", () => {
  expect(tableLines(table, 40)).toEqual([
    [{ text: "  fruit  count   价格", roles: ["dim"] }],
    [{ text: "  苹果      12  $1.50" }],
    [{ text: "    red    (3)", roles: ["dim"] }],
    [{ text: "  total     12  $1.50", roles: ["bold"] }],
  ]);
});

test("where it does not fit each value stands on a line with its label", () => {
  expect(tableLines(table, 20).map(plainText)).toEqual([
    "  苹果",
    "    count  12",
    "    价格   $1.50",
    "    red  (3)",
    "  total",
    "    count  12",
    "    价格   $1.50",
  ]);
});

test("no line is wider than the width, and a table that fits loses nothing", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "1", "模", "😀"), maxLength: 12 });
  const kind = fc.constantFrom("value" as const, "detail" as const, "total" as const);
  const rows = fc.array(fc.record({ kind, cells: fc.array(cell, { minLength: 3, maxLength: 3 }) }), { maxLength: 5 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 80 }), (some, width) => {
      const lines = tableLines({ columns: table.columns, rows: some }, width);
      for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
      const text = lines.map(plainText).join("\n");
      if (width === 80) for (const { cells } of some) for (const value of cells) expect(text).toContain(value);
    }),
  );
});
