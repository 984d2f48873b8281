import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineWidth, plainText, span } from "../../src/ui/line.ts";
import { checkedRow, cutRow, hardRows, outputRow } from "../../src/ui/rows.ts";

test.each([
  ["\ta", "    a"],
  ["abc\td", "abc d"],
  ["abcd\te", "abcd    e"],
  ["你\tb", "你  b"],
  ["a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"],
  ["a\u2028b\ud800", "a\\u{2028}b\\u{d800}"],
  ["مرحبا 👩‍👧", "مرحبا 👩‍👧"],
])("the output %j is shown as %j", (text, expected) => {
  expect(outputRow(text)).toBe(expected);
});

test("a line that a person decides on shows everything that is hidden, and tabs as spaces", () => {
  expect(checkedRow("a\tb\x1b[1m\u200b\r")).toBe("a   b\\u{1b}[1m\\u{200b}\\u{d}");
});

test.each([
  ["abcdef", 6, "abcdef"],
  ["abcdefg", 6, "abcde…"],
  ["你好吗", 5, "你好…"],
  ["你好吗", 4, "你…"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
])("%j in %i cells is %j", (text, cells, expected) => {
  expect(cutRow(text, cells, "…")).toBe(expected);
});

describe("hardRows", () => {
  test.each([
    ["", 3, [""]],
    ["abcdef", 3, ["abc", "def"]],
    ["a你b好", 2, ["a", "你", "b", "好"]],
    ["你a", 1, ["…", "a"]],
  ])("%j in %i cells is %j", (text, cells, expected) => {
    expect(hardRows([span(text)], cells).map(plainText)).toEqual(expected);
  });

  test("roles stay with their text", () => {
    expect(hardRows([span("abc", "added"), span("de"), span("f", "dim")], 4)).toEqual([
      [span("abc", "added"), span("d")],
      [span("e"), span("f", "dim")],
    ]);
  });

  test("no row is wider than allowed, and from two cells on nothing is lost", () => {
    const texts = fc.array(
      fc.string({ unit: fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(..."ab你👩‍👧é")) }),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 30 }), (parts, cells) => {
        const rows = hardRows(
          parts.map((part) => span(part)),
          cells,
        );
        for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(cells);
        if (cells > 1) expect(rows.map(plainText).join("")).toBe(parts.join(""));
      }),
    );
  });
});
