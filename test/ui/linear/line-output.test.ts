import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, span } from "../../../src/ui/line.ts";
import { createLineOutput } from "../../../src/ui/linear/line-output.ts";
import { displayWidth } from "../../../src/ui/width.ts";

const open = (columns?: number) => {
  const parts: string[] = [];
  const output = createLineOutput({
    ...(columns !== undefined && { columns }),
    write: (text) => parts.push(text),
    once: () => undefined,
  });
  return { output, text: () => parts.join("") };
};

test("the prompt stands once, and what is said after it begins on a row of its own", () => {
  const { output, text } = open();
  output.prompt();
  output.prompt();
  output.print([[span("a")]]);
  output.prompt();
  output.rowEnded();
  output.print([[span("b")], []]);
  output.prompt();
  output.rowBegun();
  output.prompt();
  output.endRow();
  output.endRow();
  expect(text()).toBe("> \na\n> b\n\n> \n> \n");
});

test("a long line is broken at words, code anywhere; the rest is indented like its beginning", () => {
  const { output, text } = open(21);
  output.print([
    [span("running bash: npm test -- date")],
    [span("    four cells of indent stay")],
    [span("  "), span("abcdefghijklmnopqrstuvwxyz", "code")],
  ]);
  expect(text()).toBe(
    [
      "running bash: npm",
      "  test -- date",
      "    four cells of",
      "    indent stay",
      "  abcdefghijklmnopqr",
      "  stuvwxyz",
      "",
    ].join("\n"),
  );
});

test("where the terminal has no width, 80 columns are taken", () => {
  expect(open(0).output.width).toBe(79);
  expect(open().output.width).toBe(79);
});

test("no row is wider than the width, no further row begins in the first column, nothing is lost", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 8, max: 100 }),
      fc.array(fc.stringMatching(/^[ a-z你好😀]{0,60}$/u), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (columns, texts, isCode) => {
        const { output, text } = open(columns);
        const line: Line = texts.map((part) => (isCode ? span(part, "code") : span(part)));
        output.print([line]);
        const rows = text().split("\n").slice(0, -1);
        for (const row of rows) expect(displayWidth(row)).toBeLessThan(columns);
        for (const row of rows.slice(1)) expect(row).toMatch(/^( {2}|$)/);
        expect(rows.join("").replaceAll(" ", "")).toBe(texts.join("").replaceAll(" ", ""));
      },
    ),
  );
});
