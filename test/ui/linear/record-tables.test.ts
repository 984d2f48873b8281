import fc from "fast-check";
import { expect, test } from "vitest";
import { createRecordTables } from "../../../src/ui/linear/record-tables.ts";

const rewritten = (pieces: readonly string[]): string => {
  const tables = createRecordTables();
  return pieces.map((piece) => tables.push(piece)).join("") + tables.end();
};

test.each([
  ["a table", "| A | B |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n", "\nA: 1\\\nB: 2\n\nA: 3\\\nB: 4\n\n"],
  ["a table without outer bars", "A | B\n- | -\n1 | 2\n\nend", "\nA: 1\\\nB: 2\n\n\nend\n"],
  ["a table in a quote", "> | A | B |\n> |---|---|\n> | 1 | 2 |\n", "> \n> A: 1\\\n> B: 2\n> \n"],
  ["empty cells and nameless columns", "| | B |\n|---|---|\n| x | |\n", "\nx\n\nB\n\n"],
  ["more cells than columns", "| A | B |\n|---|---|\n| 1 | 2 | 3 |\n", "\nA: 1\\\nB: 2 | 3\n\n"],
  ["a table of nothing but its head", "| A | B |\n|---|---|\n", "\nA, B\n\n"],
  ["bars that are no table", "a | b\nc | d\n", "a | b\nc | d\n"],
  ["another number of columns", "a | b | c\n--- | ---\n", "a | b | c\n--- | ---\n"],
  ["a table within code", "```\n| A | B |\n|---|---|\n```\n", "```\n| A | B |\n|---|---|\n```\n"],
  ["a table after code", "~~~\nx\n~~~\n| A | B |\n|---|---|\n| 1 | 2 |", "~~~\nx\n~~~\n\nA: 1\\\nB: 2\n\n"],
])("%s", (_name, markdown, expected) => {
  expect(rewritten([markdown])).toBe(expected);
});

const lines = fc.array(
  fc.oneof(
    fc.constantFrom(
      "| A | B |",
      "|---|---|",
      "| 1 | 2 |",
      "```",
      "~~~~",
      "",
      "text",
      "> | A | B |",
      "> |---|---|",
      "a | b",
    ),
    fc.string({ maxLength: 12 }),
  ),
  { maxLength: 20 },
);

test("any division into pieces gives the same text", () => {
  fc.assert(
    fc.property(lines, fc.array(fc.nat(30), { maxLength: 10 }), (parts, cuts) => {
      const text = parts.join("\n");
      const pieces: string[] = [];
      let rest = text;
      for (const cut of cuts) {
        pieces.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      expect(rewritten([...pieces, rest])).toBe(rewritten([text]));
    }),
  );
});

test("a table with nothing but empty rows is its head", () => {
  expect(rewritten(["| A | B |\n|---|---|\n|\n"])).toBe("\nA, B\n\n");
});

test("a column without a value is named behind the records", () => {
  expect(rewritten(["| A | B |\n|---|---|\n| 1 | |\n"])).toBe("\nA: 1\n\nB\n\n");
});

test("no word is lost", () => {
  fc.assert(
    fc.property(lines, (parts) => {
      const words = (text: string): readonly string[] => text.match(/[A-Za-z\d]+/g) ?? [];
      const kept = words(rewritten([parts.join("\n")]));
      for (const word of words(parts.join("\n"))) expect(kept).toContain(word);
    }),
  );
});
