import { expect, test } from "vitest";
import { printableText } from "../../src/text/printable-text.ts";

test.each([
  ["plain\n\ttext", "plain\n\ttext"],
  ["a\x1b[2Jb\x9b31mc", "abc"],
  ["key sk-abcdefghijklmnopqrstuvwx.", "key [masked]."],
  // Coloured in the middle, as a search would print it.
  ["key sk-abc\x1b[01;31mdefghijkl\x1b[mmnopqrstuvwx.", "key [masked]."],
])("%j is shown as %j", (text, shown) => {
  expect(printableText(text)).toBe(shown);
});
