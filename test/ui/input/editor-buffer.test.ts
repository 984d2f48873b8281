import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createEditor,
  type Edit,
  type Editor,
  edit,
  emptied,
  endsWithBackslash,
  hasRow,
  isEmpty,
  replaceRange,
  setText,
  submitText,
  textBeforeCursor,
} from "../../../src/ui/input/editor-buffer.ts";
import { EDIT_KEYS } from "../../../src/ui/input/keymap.ts";
import { graphemes } from "../../../src/ui/width.ts";

const view = { columns: 10, chipLabel: ({ number }: { readonly number: number }) => `[#${number}]` };

/** `|` is the cursor. */
const at = (marked: string): Editor => {
  const cursor = marked.indexOf("|");
  return { ...createEditor(marked.replace("|", "")), cursor };
};
const shown = ({ text, cursor }: Editor): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;
const typed = (text: string): Edit => ({ type: "insert", text });
const pasted = (text: string): Edit => ({ type: "paste", text });
const apply = (editor: Editor, ...actions: readonly Edit[]): Editor =>
  actions.reduce((before, action) => edit(before, action, view), editor);

describe("one action", () => {
  test.each<[Edit, string, string]>([
    [typed("x"), "a|b", "ax|b"],
    [typed("a\x1b[31mb\x07\tc\r\nd"), "|", "ab    c\nd|"],
    [typed("a\rb\u2028c\ud83d"), "|", "a\nb\nc\ufffd|"],
    [typed("\u{fe000}\u{fff3f}"), "|", "\ufffd\ufffd|"],
    [typed("\u{f0001}"), "|", "\u{f0001}|"],
    ["newline", "a|b", "a\n|b"],
    ["left", "a👨‍👩‍👧|b", "a|👨‍👩‍👧b"],
    ["left", "a\n|b", "a|\nb"],
    ["left", "|a", "|a"],
    ["right", "|é👍🏽", "é|👍🏽"],
    ["right", "é|👍🏽", "é👍🏽|"],
    ["right", "a|\nb", "a\n|b"],
    ["right", "|🇩🇪🇫🇷", "🇩🇪|🇫🇷"],
    ["erase-left", "你好👨‍👩‍👧|", "你好|"],
    ["erase-left", "🇩🇪🇫🇷|", "🇩🇪|"],
    ["erase-left", "नि|", "|"],
    ["erase-left", "|a", "|a"],
    ["erase-right", "|1️⃣2", "|2"],
    ["erase-right", "a|\nb", "a|b"],
    ["erase-right", "a|", "a|"],
    ["word-left", "foo bar-baz|", "foo bar-|baz"],
    ["word-left", "foo.bar don't  |", "foo.bar |don't  "],
    ["word-left", "src/foo.ts|", "src/foo.|ts"],
    ["word-left", "路径名称很长|", "路径名称很|长"],
    ["word-left", "foo\n  |bar", "|foo\n  bar"],
    ["word-left", " |", "| "],
    ["word-right", "|foo bar", "foo| bar"],
    ["word-right", "foo|\n\n bar baz", "foo\n\n bar| baz"],
    ["word-right", "|路径名称", "路径|名称"],
    ["word-right", "fo|o  ", "foo|  "],
    ["word-right", "foo|  ", "foo  |"],
    ["line-start", "a\nbc|", "a\n|bc"],
    ["line-start", "\n|", "\n|"],
    ["line-start", "|\na", "|\na"],
    ["line-end", "a|b\nc", "ab|\nc"],
    ["text-start", "a\nb|", "|a\nb"],
    ["text-end", "|a\nb", "a\nb|"],
    ["kill-word-left", "foo bar|!", "foo |!"],
    ["kill-shell-word-left", "run --a=b/c  |x", "run |x"],
    ["kill-shell-word-left", "one|", "|"],
    ["kill-word-right", "a| foo b", "a| b"],
    ["kill-line-left", "a\nbc|d", "a\n|d"],
    ["kill-line-left", "a\n|d", "a|d"],
    ["kill-line-right", "a|b\nc", "a|\nc"],
    ["kill-line-right", "a|\nc", "a|c"],
    ["yank", "a|", "a|"],
    ["yank-older", "a|", "a|"],
    ["undo", "a|", "a|"],
    ["redo", "a|", "a|"],
  ])("%j on %j", (action, before, after) => {
    expect(shown(apply(at(before), action))).toBe(after);
  });
});

describe("up and down", () => {
  test.each<[string, string, readonly Edit[], string]>([
    ["keep the column over a short line", "abcdef|\nx\nabcdef", ["down", "down"], "abcdef\nx\nabcdef|"],
    ["count cells, not characters", "你好吗|\nabcdefgh", ["down"], "你好吗\nabcdef|gh"],
    ["stand before a wide character that the column is in", "abc|\n你好", ["down"], "abc\n你|好"],
    ["go over wrapped rows", "0123456789abc|", ["up"], "012|3456789abc"],
    ["go from a wrapped row to the next line", "0123456789abc|\nxyzw", ["down"], "0123456789abc\nxyz|w"],
    ["go to the last row of the line before", "0123456789abcdef\nxy|", ["up"], "0123456789ab|cdef\nxy"],
    ["stay within a row that goes on", "0123456789a\n0123456789|", ["up", "up"], "012345678|9a\n0123456789"],
    ["forget the column when the cursor moves", "abcd|\nx\nabcd", ["down", "left", "right", "down"], "abcd\nx\na|bcd"],
    ["do nothing without a row", "abc|", ["up", "down"], "abc|"],
  ])("%s", (_, before, actions, after) => {
    expect(shown(apply(at(before), ...actions))).toBe(after);
  });

  test.each([
    ["ab|c", false, false],
    ["a|\nb", false, true],
    ["a\nb|", true, false],
    ["0123456789ab|", true, false],
    ["0123|456789ab", false, true],
    ["\n|\n", true, true],
  ])("there is a row above and below: %j", (text, up, down) => {
    expect([hasRow(at(text), "up", view), hasRow(at(text), "down", view)]).toEqual([up, down]);
  });
});

describe("kills", () => {
  test("in a row are one, in the order of the text", () => {
    const editor = apply(
      at("one two| three four"),
      "kill-word-left",
      "kill-word-right",
      "kill-word-left",
      "text-end",
      "yank",
    );
    expect(shown(editor)).toBe(" fourone two three|");
  });

  test("that do not follow each other are kept apart; an older one takes the place of the one just put", () => {
    const cut = apply(
      at("one two three|"),
      "kill-word-left",
      "left",
      "right",
      "kill-word-left",
      "left",
      "kill-word-left",
    );
    expect(shown(cut)).toBe("| ");
    const steps = [
      cut,
      apply(cut, "yank"),
      apply(cut, "yank", "yank-older"),
      apply(cut, "yank", "yank-older", "yank-older"),
    ];
    expect(steps.map(shown)).toEqual(
      ["| ", "one| ", "two |", "three| "].map((text) => (text === "two |" ? "two | " : text)),
    );
    expect(shown(apply(cut, "yank", "yank-older", "yank-older", "yank-older"))).toBe("one| ");
  });

  test("outlive the message, with the pastes in them", () => {
    const lines = "line\n".repeat(20);
    const cut = apply(createEditor("see "), pasted(lines), "kill-line-left");
    const next = apply(emptied(cut), pasted("other\n".repeat(20)), "yank");
    expect(submitText(next)).toBe(`${"other\n".repeat(20)}see ${lines}`);
    expect(Array.from(next.chips.values(), ({ number }) => number)).toEqual([1, 2]);
  });
});

describe("undo", () => {
  const type = (text: string): Edit[] => [...text].map(typed);

  test("takes typed text back by words, and redo puts it there again", () => {
    const editor = apply(createEditor(), ...type("fix the test"));
    expect(shown(apply(editor, "undo"))).toBe("fix the |");
    expect(shown(apply(editor, "undo", "undo"))).toBe("fix |");
    expect(shown(apply(editor, "undo", "undo", "redo"))).toBe("fix the |");
    expect(shown(apply(editor, "undo", "undo", ...type("x"), "redo"))).toBe("fix x|");
  });

  test("brings back erased characters together, and the cursor where it was", () => {
    const editor = apply(at("abc|def"), "erase-left", "erase-left");
    expect(shown(apply(editor, "undo"))).toBe("abc|def");
    expect(shown(apply(at("abc|def"), "erase-right", "erase-right", "undo"))).toBe("abc|def");
  });

  test("a text that takes the place of another can be undone", () => {
    const editor = setText(createEditor("typed long ago"), "from the editor");
    expect([shown(editor), shown(apply(editor, "undo"))]).toEqual(["from the editor|", "typed long ago|"]);
  });

  test("brings a deleted chip back, and its contents", () => {
    const text = "line\n".repeat(200);
    const editor = apply(createEditor("a"), pasted(text), "erase-left");
    expect(submitText(editor)).toBe("a");
    expect(submitText(apply(editor, "undo"))).toBe(`a${text}`);
  });
});

describe("paste", () => {
  test("a small one is text, also of several lines", () => {
    expect(shown(apply(createEditor(), pasted("a\r\n\tb\rc\n")))).toBe("a\n    b\nc\n|");
  });

  test.each([
    ["eleven lines", "x\n".repeat(11), 11],
    ["a long line", "x".repeat(1001), 1],
  ])("%s are one character, sent as what was pasted", (_, text, lines) => {
    const editor = apply(createEditor("see "), pasted(text), typed(" ok"));
    expect(graphemes(editor.text)).toHaveLength(8);
    expect([...editor.chips.values()]).toEqual([{ number: 1, lines, text }]);
    expect(submitText(editor)).toBe(`see ${text} ok`);
    expect(shown(apply(editor, "left", "left", "left", "erase-left"))).toBe("see | ok");
    expect(shown(apply(editor, "word-left", "kill-word-left"))).toBe("see |ok");
  });

  test("ten lines and a thousand characters are text", () => {
    expect(apply(createEditor(), pasted("x\n".repeat(10)), pasted("x".repeat(1000))).chips.size).toBe(0);
  });

  test("a chip keeps tabs, loses control sequences, and characters like a chip's in it are text", () => {
    const editor = apply(createEditor(), pasted("all:\n\t\x1b[1mcc\x1b[0m \u{fe000}\r\n".repeat(11)));
    expect(submitText(editor)).toBe("all:\n\tcc \u{fe000}\n".repeat(11));
  });

  test("a combining mark after a chip is a character of its own", () => {
    const editor = apply(createEditor(), pasted("x".repeat(2000)), typed("\u0301"), "erase-left");
    expect(submitText(editor)).toBe("x".repeat(2000));
  });

  test("of control characters only does nothing", () => {
    const editor = createEditor("a");
    expect(apply(editor, pasted("\x1b[0m\x07"))).toBe(editor);
  });
});

describe("what an app needs", () => {
  test("empty, before the cursor, a range for a completion", () => {
    const editor = at("see @sr| now");
    expect([isEmpty(editor), isEmpty(createEditor())]).toEqual([false, true]);
    expect(textBeforeCursor(editor)).toBe("see @sr");
    expect(shown(replaceRange(editor, 4, 7, "@src/\t\x1ba"))).toBe("see @src/    | now");
    expect(shown(apply(replaceRange(editor, 4, 7, "@src/a.ts "), "undo"))).toBe("see @sr| now");
  });

  test.each([
    ["a\\|", true],
    ["a\\\\|", false],
    ["|\\", false],
    ["\\\n|", false],
    ["\\|b", true],
  ])("Enter after a backslash means a new line: %j", (text, expected) => {
    expect(endsWithBackslash(at(text))).toBe(expected);
  });

  test("a whole text stays text unless it is too large to edit", () => {
    const lines = "line\n".repeat(2000);
    expect([createEditor(lines).text, submitText(createEditor(lines))]).toEqual([lines, lines]);
    const huge = "x".repeat(1_000_000);
    expect([createEditor(huge).chips.size, submitText(createEditor(huge))]).toEqual([1, huge]);
  });
});

const piece = fc.constantFrom(
  "a",
  "b c",
  "你",
  "é",
  "\u0301",
  "\u200d",
  "👨‍👩‍👧",
  "🇩",
  "🇪",
  "👍",
  "🏽",
  "क",
  "ि",
  "्",
  "각",
  "ᆨ",
  "\n",
  "\u202e",
  ".",
  "x\n".repeat(12),
);
const action = fc.oneof(
  fc.constantFrom<Edit[]>(...new Set(Object.values(EDIT_KEYS))),
  piece.map(typed),
  piece.map(pasted),
);

describe("whatever is done", () => {
  const boundaries = (text: string): number[] => {
    const places = [0];
    for (const line of text.split(/(?<=\n)|(?=\n)/))
      for (const part of line.split(/(?<=[\u{fe000}-\u{fff3f}])|(?=[\u{fe000}-\u{fff3f}])/u))
        for (const character of graphemes(part)) places.push((places.at(-1) ?? 0) + character.length);
    return places;
  };

  test("the cursor is between two characters, and undoing it all gives the text of the beginning", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.array(action, { maxLength: 30 }), (start, actions) => {
        const first = createEditor(start.join(""));
        let editor = first;
        for (const each of actions) {
          editor = edit(editor, each, view);
          expect(boundaries(editor.text)).toContain(editor.cursor);
        }
        const text = submitText(editor);
        let undone = editor;
        while (undone.undo.length > 0) undone = edit(undone, "undo", view);
        expect(undone.text).toBe(first.text);
        if (actions.some((each) => each === "undo" || each === "redo")) return;
        while (undone.redo.length > 0) undone = edit(undone, "redo", view);
        expect(submitText(undone)).toBe(text);
      }),
      { numRuns: 400 },
    );
  });

  test("each key is an action", () => {
    for (const name of Object.values(EDIT_KEYS))
      expect(typeof edit(createEditor("a b"), name, view).text).toBe("string");
  });
});
