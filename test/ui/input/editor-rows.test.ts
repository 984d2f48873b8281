import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEditor, type Editor, edit, hasRow } from "../../../src/ui/input/editor-buffer.ts";
import { editorRows, type RowsOptions, textColumns } from "../../../src/ui/input/editor-rows.ts";
import { lineWidth, plainText, span } from "../../../src/ui/line.ts";
import { cutToWidth } from "../../../src/ui/width.ts";

const options: RowsOptions = {
  width: 13,
  maxRows: 4,
  prompt: [span("› ", "accent")],
  rest: [span("  ")],
  chipLabel: ({ number, lines }) => `[#${number}: ${lines} lines]`,
};
const view = { columns: textColumns(options), chipLabel: options.chipLabel };

const at = (marked: string): Editor => {
  const cursor = marked.indexOf("|");
  return { ...createEditor(marked.replace("|", "")), cursor };
};

/** The rows as text, with `|` in the cell of the cursor. */
const screen = (editor: Editor, given: Partial<RowsOptions> = {}): string[] => {
  const { rows, cursor, hiddenAbove, hiddenBelow } = editorRows(editor, { ...options, ...given });
  const shown = rows.map((row, index) => {
    const text = plainText(row);
    if (index !== cursor.row) return text;
    const before = cutToWidth(text, cursor.column);
    return `${before}|${text.slice(before.length)}`;
  });
  return [...(hiddenAbove > 0 ? [`^${hiddenAbove}`] : []), ...shown, ...(hiddenBelow > 0 ? [`v${hiddenBelow}`] : [])];
};

describe("editorRows", () => {
  test.each([
    ["one row", "ab|c", ["› ab|c"]],
    ["several lines", "a\n\nb|", ["› a", "  ", "  b|"]],
    ["a full row with the cursor behind it", "0123456789|", ["› 0123456789|"]],
    ["a row too long by one", "0123456789a|", ["› 0123456789", "  a|"]],
    ["the cursor between two rows stands in the lower one", "0123456789|a", ["› 0123456789", "  |a"]],
    ["wide characters", "你好|吗", ["› 你好|吗"]],
    ["a wide character that does not fit", "012345678你|", ["› 012345678", "  你|"]],
    ["an emoji of several code points", "👨‍👩‍👧|x", ["› 👨‍👩‍👧|x"]],
    ["hidden characters are shown", "a\u202e|b", ["› a\\u{202e}|b"]],
    ["a tag that smuggles text is shown", "a\u{e0041}|", ["› a\\u{e0041}|"]],
    ["the middle of a long text", "1\n2\n3\n4|\n5\n6\n7", ["^1", "  2", "  3", "  4|", "  5", "v2"]],
    ["the end of a long text", "1\n2\n3\n4\n5\n6|", ["^2", "  3", "  4", "  5", "  6|"]],
    ["the beginning of a long text", "|1\n2\n3\n4\n5\n6", ["› |1", "  2", "  3", "  4", "v2"]],
  ])("%s", (_, text, expected) => {
    expect(screen(at(text))).toEqual(expected);
  });

  test("a chip is its label, in a span of its own, and is never cut in two", () => {
    const editor = edit(createEditor("see "), { type: "paste", text: "x\n".repeat(12) }, view);
    const { rows, cursor } = editorRows({ ...editor, text: `${editor.text}!` }, { ...options, width: 40 });
    expect(rows).toEqual([[span("› ", "accent"), span("see "), span("[#1: 12 lines]", "accent"), span("!")]]);
    expect(cursor).toEqual({ row: 0, column: 20 });
    expect(screen(editor)).toEqual(["› see ", "  [#1: 12 li|"]);
  });

  test("an empty input shows its placeholder, cut to the width", () => {
    expect(editorRows(createEditor(), { ...options, placeholder: "what shall I do" })).toEqual({
      rows: [[span("› ", "accent"), span("what shall", "dim")]],
      cursor: { row: 0, column: 2 },
      hiddenAbove: 0,
      hiddenBelow: 0,
    });
    expect(screen(createEditor())).toEqual(["› |"]);
  });

  test.each([1, 2, 3, 4, 5])("a terminal of %i cells is narrow, but wide enough", (width) => {
    const { rows, cursor } = editorRows(at("a你b|c"), { ...options, width, maxRows: 20 });
    for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(width);
    expect(cursor.row).toBeLessThan(rows.length);
  });

  test("of two thousand lines a few are drawn, and the others are counted", () => {
    const text = Array.from({ length: 2000 }, () => "你好 👍 012345").join("\n");
    const { rows, cursor, hiddenAbove, hiddenBelow } = editorRows(
      { ...createEditor(), text, cursor: text.length },
      options,
    );
    expect([rows.map(plainText), cursor, hiddenAbove, hiddenBelow]).toEqual([
      ["  你好 👍 01", "  2345", "  你好 👍 01", "  2345"],
      { row: 3, column: 6 },
      3996,
      0,
    ]);
  });
});

const piece = fc.constantFrom(
  "a",
  "bc d",
  "你",
  "é",
  "👨‍👩‍👧",
  "🇩🇪",
  "\n",
  "\u202e",
  "क्षि",
  "x\n".repeat(12),
  "ﷺ",
  "\u200d",
);
const editors = fc.array(piece, { maxLength: 40 }).map((pieces) => {
  let editor = createEditor();
  for (const text of pieces) editor = edit(editor, { type: "paste", text }, view);
  return editor;
});

describe("whatever stands in the input", () => {
  test("no row is too wide, no control character is drawn, the cursor is in view, and all rows are counted", () => {
    fc.assert(
      fc.property(editors, fc.nat({ max: 60 }), fc.integer({ min: 4, max: 30 }), (made, back, width) => {
        let editor = made;
        for (let times = 0; times < back; times++) editor = edit(editor, "left", view);
        const drawn = editorRows(editor, { ...options, width });
        const whole = editorRows(editor, { ...options, width, maxRows: 1000 });
        expect(drawn.hiddenAbove + drawn.rows.length + drawn.hiddenBelow).toBe(whole.rows.length);
        expect(drawn.rows.map(plainText)).toEqual(
          whole.rows.slice(drawn.hiddenAbove, drawn.hiddenAbove + drawn.rows.length).map(plainText),
        );
        expect(drawn.cursor).toEqual({ ...whole.cursor, row: whole.cursor.row - drawn.hiddenAbove });
        expect(drawn.rows.length).toBeLessThanOrEqual(4);
        expect(drawn.cursor.row).toBeLessThan(drawn.rows.length);
        expect(drawn.cursor.column).toBeLessThan(width);
        for (const row of drawn.rows) {
          expect(lineWidth(row)).toBeLessThanOrEqual(width);
          expect(plainText(row)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("down goes through every row once, and up comes back", () => {
    fc.assert(
      fc.property(editors, (made) => {
        let editor: Editor = { ...made, cursor: 0 };
        const rowNow = (): number => {
          const { cursor, hiddenAbove } = editorRows(editor, options);
          return hiddenAbove + cursor.row;
        };
        const total = editorRows(editor, { ...options, maxRows: 1000 }).rows.length;
        for (let row = 0; row < total; row++) {
          expect(rowNow()).toBe(row);
          expect(hasRow(editor, "down", view)).toBe(row < total - 1);
          editor = edit(editor, "down", view);
        }
        for (let row = total - 1; row > 0; row--) editor = edit(editor, "up", view);
        expect([rowNow(), hasRow(editor, "up", view)]).toEqual([0, false]);
      }),
      { numRuns: 200 },
    );
  });
});
