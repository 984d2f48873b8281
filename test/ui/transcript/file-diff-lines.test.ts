import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { FileDiff } from "../../../src/session/rewind.ts";
import { en } from "../../../src/text/en.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { lineWidth, plainText } from "../../../src/ui/line.ts";
import { fileDiffLines } from "../../../src/ui/transcript/file-diff-lines.ts";

const draw = (files: readonly FileDiff[], width = 60): readonly string[] =>
  fileDiffLines(files, { width, glyphs: UNICODE_GLYPHS, strings: en }).map((line) => plainText(line).trimEnd());

const numbered = (count: number, word: string): string =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");

const fileOf = (path: string, before: string, after: string): FileDiff => ({
  change: {
    path,
    kind: "changed",
    lines: { added: after.split("\n").length - 1, removed: before.split("\n").length - 1 },
  },
  diff: createTwoFilesPatch("a", "b", before, after),
});

test("each file has its name, its figures and its lines", () => {
  expect(
    draw([
      fileOf("a.txt", "one\n", "two\n"),
      { change: { path: "b\x1b[31m.bin", kind: "added", lines: null }, diff: "" },
      { change: { path: "empty", kind: "removed", lines: { added: 0, removed: 0 } }, diff: "" },
    ]),
  ).toEqual([
    "  a.txt  +1 −1",
    "     1 - one",
    "     1 + two",
    "  b\\u{1b}[31m.bin  new",
    "    no text, or too long to compare",
    "  empty  removed +0 −0",
  ]);
});

test("a long file among others is cut in the middle and says how much is hidden; no file is unnamed", () => {
  const many = Array.from({ length: 30 }, (_, index) => fileOf(`f${index}`, "", numbered(100, "x")));
  const lines = draw(many);
  expect(lines.filter((line) => /^ {2}f\d+ /.test(line))).toHaveLength(30);
  expect(lines.filter((line) => line.includes("… 61 lines more")).length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(400);
});

test("no line is wider than the screen", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), fc.nat({ max: 80 }), (a, b, more) => {
      const width = 8 + more;
      const lines = fileDiffLines([fileOf(`${a}.txt`, `${a}\n${b}`, `${b}\n`)], {
        width,
        glyphs: UNICODE_GLYPHS,
        strings: en,
      });
      for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test("of very many files the last are counted only, and a diff that was too long to keep says how much it has", () => {
  const cut: FileDiff = { change: { path: "long", kind: "changed", lines: { added: 7000, removed: 1 } }, diff: "" };
  expect(draw([cut])).toEqual(["  long  +7000 −1", "    7001 lines more"]);
  const many = Array.from({ length: 5000 }, (_, index) => fileOf(`f${index}`, "a\n", "b\n"));
  expect(draw(many).at(-1)).toBe("  4900 files more");
  expect(draw(many.slice(0, 101)).at(-1)).not.toContain("more");
});
