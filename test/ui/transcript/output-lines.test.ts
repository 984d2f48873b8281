import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, lineWidth, plainText } from "../../../src/ui/line.ts";
import { outputLines, tailLines } from "../../../src/ui/transcript/output-lines.ts";

const options = { width: 24, glyphs: UNICODE_GLYPHS, strings: en.steps, maxLines: 5 };
const shown = (lines: readonly Line[]) => lines.map(plainText);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`).join("\n");
const terminalText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\x1b[31m",
        "\x1b]0;t\x07",
        "\r\n",
        "\n",
        "\n\n",
        "\r",
        "\t",
        "\b",
        "你",
        "👩‍👧",
        "\u202e",
        "\ud800",
      ),
      fc.string({ unit: "binary", maxLength: 30 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

describe("outputLines", () => {
  test.each([
    ["", []],
    [" \n\r\n\t", []],
    ["\n\n  a\n\nb\n\n", ["  │   a", "  │", "  │ b"]],
    ["a\r\nb\r\n", ["  │ a", "  │ b"]],
    ["10%\r50%\r100%\ndone", ["  │ 100%", "  │ done"]],
    ["\x1b[31mred\x1b[0m\tx", ["  │ red x"]],
    ["› a\n✓ bash", ["  │ › a", "  │ ✓ bash"]],
    [numbered(5), ["  │ 1", "  │ 2", "  │ 3", "  │ 4", "  │ 5"]],
    [numbered(6), ["  │ 1", "  │ 2", "  │ 3", "  │ 4", "  │ 5", "  │ 6"]],
    [numbered(7), ["  │ 1", "  │ 2", "  │ … 3 lines more", "  │ 6", "  │ 7"]],
    [`${numbered(2000)}\n`, ["  │ 1", "  │ 2", "  │ … 1,996 lines more", "  │ 1999", "  │ 2000"]],
    ["x".repeat(60), [`  │ ${"x".repeat(20)}`, `  │ ${"x".repeat(20)}`, `  │ ${"x".repeat(20)}`]],
    ["x".repeat(61), [`  │ ${"x".repeat(20)}`, `  │ ${"x".repeat(20)}`, "  │ … 21 characters more"]],
    ["你".repeat(40), [`  │ ${"你".repeat(10)}`, `  │ ${"你".repeat(10)}`, "  │ … 20 characters more"]],
  ])("%j is drawn as %j", (text, expected) => {
    expect(shown(outputLines(text, options))).toEqual(expected);
  });

  test.each([
    [1, ["  │ … 9 lines more"]],
    [2, ["  │ 1", "  │ … 8 lines more"]],
    [4, ["  │ 1", "  │ … 6 lines more", "  │ 8", "  │ 9"]],
    [7, ["  │ 1", "  │ 2", "  │ … 3 lines more", "  │ 6", "  │ 7", "  │ 8", "  │ 9"]],
    [
      Number.POSITIVE_INFINITY,
      numbered(9)
        .split("\n")
        .map((line) => `  │ ${line}`),
    ],
  ])("at most %d lines: a third from the beginning, the rest from the end", (maxLines, expected) => {
    expect(shown(outputLines(numbered(9), { ...options, maxLines }))).toEqual(expected);
  });

  test("without a limit long lines are whole", () => {
    const lines = outputLines("x".repeat(100), { ...options, maxLines: Number.POSITIVE_INFINITY });
    expect(shown(lines)).toEqual(Array.from({ length: 5 }, () => `  │ ${"x".repeat(20)}`));
  });

  test("the mark is dim, the hint is the caller's, and ASCII has its own mark", () => {
    const more = (hidden: number) => `${hidden}!`;
    expect(outputLines(numbered(9), { ...options, glyphs: ASCII_GLYPHS, maxLines: 2, more })).toEqual([
      [{ text: "  | ", roles: ["dim"] }, { text: "1" }],
      [
        { text: "  | ", roles: ["dim"] },
        { text: "... 8!", roles: ["dim"] },
      ],
    ]);
  });

  test("of ten megabytes only what is shown is looked at", () => {
    const line = `${"x".repeat(99)}\r\n`;
    const many = outputLines(line.repeat(100_000), { ...options, width: 200 });
    expect(shown(many)[2]).toBe("  │ … 99,996 lines more");
    const long = outputLines(`progress\r${"👍".repeat(5_000_000)}`, { ...options, width: 200 });
    expect(shown(long)).toEqual([
      `  │ ${"👍".repeat(98)}`,
      `  │ ${"👍".repeat(98)}`,
      "  │ … 4,999,804 characters more",
    ]);
  });

  test("no line is wider than the width, none has a control character, and the text never reaches column 0", () => {
    fc.assert(
      fc.property(
        terminalText,
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 12 }),
        (text, width, maxLines) => {
          for (const limit of [maxLines, Number.POSITIVE_INFINITY])
            for (const line of outputLines(text, { ...options, width, maxLines: limit })) {
              expect(lineWidth(line)).toBeLessThanOrEqual(width);
              expect(plainText(line)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
              if (width > 3) expect(plainText(line)).toMatch(/^(?: {2}|$)/);
            }
        },
      ),
    );
  });
});

describe("tailLines", () => {
  test.each([
    ["", []],
    ["\n", []],
    ["a", ["  │ a"]],
    ["1\n2\n3\n4\n", ["  │ 2", "  │ 3", "  │ 4"]],
    [`1\n${"x".repeat(30)}\n5%\r7%`, ["  │ 1", `  │ ${"x".repeat(19)}…`, "  │ 7%"]],
    ["a\n\nb", ["  │ a", "  │", "  │ b"]],
  ])("the newest of %j is %j", (text, expected) => {
    expect(shown(tailLines(text, { ...options, maxLines: 3 }))).toEqual(expected);
  });

  test("each line is one row that fits", () => {
    fc.assert(
      fc.property(terminalText, fc.integer({ min: 1, max: 60 }), (text, width) => {
        const lines = tailLines(text, { ...options, width, maxLines: 3 });
        expect(lines.length).toBeLessThanOrEqual(3);
        for (const line of lines) {
          expect(lineWidth(line)).toBeLessThanOrEqual(width);
          expect(plainText(line)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
        }
      }),
    );
  });
});
