import { structuredPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, lineWidth, plainText } from "../../../src/ui/line.ts";
import type { DiffData } from "../../../src/ui/transcript/changed-lines.ts";
import { diffLines } from "../../../src/ui/transcript/diff-lines.ts";

const options = { width: 40, glyphs: UNICODE_GLYPHS, strings: en.steps };
const shown = (lines: readonly Line[]) => lines.map(plainText);

const hunk = (start: number, lines: readonly string[], newStart = start) => ({
  oldStart: start,
  oldLines: lines.filter((line) => !line.startsWith("+")).length,
  newStart,
  newLines: lines.filter((line) => !line.startsWith("-")).length,
  lines,
});
const diff = (...hunks: DiffData["hunks"]): DiffData => ({ type: "diff", path: "a", hunks, added: 0, removed: 0 });
const added = (count: number) =>
  diff(
    hunk(
      1,
      Array.from({ length: count }, (_, index) => `+line ${index + 1}`),
    ),
  );

describe("diffLines", () => {
  test("numbers are the old file's for what was removed and the new one's for the rest; hunks are apart", () => {
    const data = diff(hunk(8, [" a", "-b", "+c", "+d", " "]), hunk(120, [" e", "-", "+\tf"], 121));
    expect(shown(diffLines(data, options))).toEqual([
      "      8   a",
      "      9 - b",
      "      9 + c",
      "     10 + d",
      "     11",
      "      …",
      "    121   e",
      "    121 -",
      "    122 +     f",
    ]);
  });

  test("words that changed are marked, also where a line was added before the changed one", () => {
    const data = diff(
      hunk(42, ["-const year = date.getYear();", "+const day = 4;", "+const year = thursday.getYear();"]),
    );
    expect(diffLines(data, { ...options, width: 80 })).toEqual([
      [
        { text: "    42 ", roles: ["dim"] },
        { text: "- ", roles: ["removed"] },
        { text: "const year = ", roles: ["removed"] },
        { text: "date", roles: ["removed", "removedWord"] },
        { text: ".getYear();", roles: ["removed"] },
      ],
      [
        { text: "    42 ", roles: ["dim"] },
        { text: "+ ", roles: ["added"] },
        { text: "const day = 4;", roles: ["added"] },
      ],
      [
        { text: "    43 ", roles: ["dim"] },
        { text: "+ ", roles: ["added"] },
        { text: "const year = ", roles: ["added"] },
        { text: "thursday", roles: ["added", "addedWord"] },
        { text: ".getYear();", roles: ["added"] },
      ],
    ]);
  });

  test("a long line goes on under its text, never over the numbers", () => {
    expect(shown(diffLines(diff(hunk(1, [`+${"0123456789".repeat(7)}`])), options))).toEqual([
      "     1 + 0123456789012345678901234567890",
      "         1234567890123456789012345678901",
      "         23456789",
    ]);
  });

  test("what is hidden in a line is shown", () => {
    expect(shown(diffLines(diff(hunk(1, ["+a\u202eb\x1b[2J\u200b"])), options))).toEqual([
      "     1 + a\\u{202e}b\\u{1b}[2J\\u{200b}",
    ]);
  });

  test("carriage returns are shown only where not every line has one", () => {
    expect(shown(diffLines(diff(hunk(1, [" a\r", "-b\r", "+c\r"])), options))).toEqual([
      "     1   a",
      "     2 - b",
      "     2 + c",
    ]);
    expect(shown(diffLines(diff(hunk(1, [" a\r", "+b"])), options))).toEqual(["     1   a\\u{d}", "     2 + b"]);
  });

  test.each([
    [0, []],
    [1, ["       … 9 lines more"]],
    [2, ["     1 + line 1", "         … 8 lines more"]],
    [5, ["     1 + line 1", "     2 + line 2", "         … 5 lines more", "     8 + line 8", "     9 + line 9"]],
    [
      8,
      [1, 2, 3, 4]
        .map((line) => `     ${line} + line ${line}`)
        .concat(
          "         … 2 lines more",
          [7, 8, 9].map((line) => `     ${line} + line ${line}`),
        ),
    ],
  ])("at most %i rows: both ends, and the count of what is between", (maxLines, expected) => {
    const lines = shown(diffLines(added(9), { ...options, maxLines }));
    expect(lines).toEqual(maxLines === 1 ? ["         … 9 lines more"] : expected);
  });

  test("nothing is cut where everything fits, and the rows count, not the lines", () => {
    expect(shown(diffLines(added(5), { ...options, maxLines: 5 }))).toEqual(shown(diffLines(added(5), options)));
    const data = diff(hunk(1, [`+${"x".repeat(1000)}`, "+a", "+b", "+c"]));
    expect(shown(diffLines(data, { ...options, maxLines: 7, more: (hidden) => `${hidden} hidden` }))).toEqual([
      `     1 + ${"x".repeat(31)}`,
      `         ${"x".repeat(31)}`,
      "         … 938 characters more",
      "     2 + a",
      "     3 + b",
      "     4 + c",
    ]);
  });

  test("a gap never stands beside the row that counts", () => {
    const data = diff(hunk(1, ["+a"]), hunk(11, ["+b", "+c", "+d"]), hunk(21, ["+e"]));
    expect(shown(diffLines(data, { ...options, maxLines: 5 }))).toEqual([
      "     1 + a",
      "         … 3 lines more",
      "    21 + e",
    ]);
  });

  test("in ASCII the gap is ASCII too", () => {
    const data = diff(hunk(1, ["+a"]), hunk(11, ["+b"]));
    expect(shown(diffLines(data, { ...options, glyphs: ASCII_GLYPHS }))).toEqual([
      "     1 + a",
      "    ...",
      "    11 + b",
    ]);
  });

  test("no row is wider than the width, rows keep to their limit, and without one nothing is lost", () => {
    const text = fc.array(
      fc.constantFrom("a\n", "b c\n", "\tfoo(bar)\n", "你好\n", "\n", "x".repeat(90), "\u202e", "👩‍👧", "y\r\n"),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(
        text,
        text,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 12 }),
        (before, after, width, maxLines) => {
          const { hunks } = structuredPatch("a", "a", before.join(""), after.join(""));
          const data = diff(
            ...hunks.map((each) => ({ ...each, lines: each.lines.filter((line) => !line.startsWith("\\")) })),
          );
          const whole = diffLines(data, { ...options, width });
          const cut = diffLines(data, { ...options, width, maxLines });
          expect(cut.length).toBeLessThanOrEqual(maxLines);
          for (const line of [...whole, ...cut]) {
            expect(lineWidth(line)).toBeLessThanOrEqual(width);
            expect(plainText(line)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
          }
          const letters = (texts: readonly string[]) => texts.join("").replace(/[^a-z]/g, "");
          if (width > 12 && !/\r|\u202e|👩/.test(before.join("") + after.join("")))
            expect(letters(shown(whole))).toBe(
              letters(hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith("\\")))),
            );
        },
      ),
    );
  });
});
