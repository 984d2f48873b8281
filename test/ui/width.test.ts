import { expect, test } from "vitest";
import { widthAfter } from "../../src/ui/width.ts";

test.each<readonly [string, string, string, number]>([
  ["a letter", "", "a", 1],
  ["a letter with its accent", "", "e\u0301", 1],
  ["an accent that stands on a letter", "e", "\u0301", 0],
  ["accents that stand on nothing", "", "\u0301\u0301\u0301", 3],
  ["a wide character", "", "好", 2],
  ["one emoji", "", "👍", 2],
  ["an emoji with a colour of skin", "", "👍🏽", 4],
  ["a family", "", "👨‍👩‍👧", 8],
])("the most cells that a terminal may give to %s", (_, before, character, expected) => {
  expect(widthAfter(before, character)).toBe(expected);
});
