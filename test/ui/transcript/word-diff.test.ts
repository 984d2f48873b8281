import fc from "fast-check";
import { expect, test } from "vitest";
import { type Part, wordDiff } from "../../../src/ui/transcript/word-diff.ts";

const written = (parts: readonly Part[]) =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("");

test.each([
  [
    "const year = date.getYear();",
    "const year = thursday.getYear();",
    "const year = [date].getYear();",
    "const year = [thursday].getYear();",
  ],
  ["if (a) return b;", "if (a && c) return b;", "if (a) return b;", "if (a[ && c]) return b;"],
  ["the old name here", "the very new name here", "the [old] name here", "the [very new] name here"],
  ["  return 1;", "    return 1;", "[  ]return 1;", "[    ]return 1;"],
  ["a = 1;", "a = 1; ", "a = 1;", "a = 1;[ ]"],
  ["价格是 3 元。", "价格是 4 元。", "价格是 [3] 元。", "价格是 [4] 元。"],
  ["x", "x", "x", "x"],
])("%j to %j is marked %j and %j", (before, after, markedBefore, markedAfter) => {
  const changed = wordDiff(before, after);
  expect([written(changed?.before ?? []), written(changed?.after ?? [])]).toEqual([markedBefore, markedAfter]);
});

test.each([
  ["const year = date.getYear();", "return;"],
  ["", "a"],
  ["a", ""],
  ["", ""],
  ["    }", "    foo(bar);"],
])("%j and %j do not resemble each other", (before, after) => {
  expect(wordDiff(before, after)).toBeUndefined();
});

test("both lines stay whole, and what is not marked is the same on both sides", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", " ", "  ", "foo", ".", "(", "你", "\u202e"), { maxLength: 40 })
    .map((words) => words.join(""));
  const common = (parts: readonly Part[]) =>
    parts
      .filter(({ isChanged }) => !isChanged)
      .map((part) => part.text)
      .join("")
      .replace(/\s/g, "");
  fc.assert(
    fc.property(text, text, (before, after) => {
      const changed = wordDiff(before, after);
      if (changed === undefined) return;
      expect(changed.before.map((part) => part.text).join("")).toBe(before);
      expect(changed.after.map((part) => part.text).join("")).toBe(after);
      expect(common(changed.before)).toBe(common(changed.after));
    }),
  );
});

test("long lines without common ends are compared in bounded time", () => {
  const before = Array.from({ length: 5000 }, (_, index) => `a${index}`).join(" ");
  expect(wordDiff(`x${before}`, `${before}x`)).toBeUndefined();
});
