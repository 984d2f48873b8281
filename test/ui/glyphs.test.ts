import { expect, test } from "vitest";
import { ASCII_GLYPHS, glyphsFor, UNICODE_GLYPHS } from "../../src/ui/glyphs.ts";

test.each([
  [{}, "unicode"],
  [{ TERM: "xterm-256color", LANG: "en_US.UTF-8" }, "unicode"],
  [{ TERM: "xterm", LANG: "zh_CN.utf8" }, "unicode"],
  [{ TERM: "linux", LANG: "en_US.UTF-8" }, "ascii"],
  [{ TERM: "dumb" }, "ascii"],
  [{ LANG: "C" }, "ascii"],
  [{ LANG: "POSIX" }, "ascii"],
  [{ LANG: "C.UTF-8" }, "unicode"],
  [{ LANG: "de_DE.ISO-8859-1" }, "ascii"],
  [{ LANG: "en_US.UTF-8", LC_CTYPE: "C" }, "ascii"],
  [{ LANG: "C", LC_CTYPE: "en_US.UTF-8" }, "unicode"],
  [{ LC_ALL: "C", LC_CTYPE: "en_US.UTF-8", LANG: "en_US.UTF-8" }, "ascii"],
  [{ LC_ALL: "", LANG: "en_US.UTF-8" }, "unicode"],
])("for %j the glyphs are %s", (env, expected) => {
  expect(glyphsFor({ env, setting: "auto" })).toBe(expected === "ascii" ? ASCII_GLYPHS : UNICODE_GLYPHS);
});

test("what the person has set wins over the terminal", () => {
  expect(glyphsFor({ env: { LANG: "C" }, setting: "unicode" })).toBe(UNICODE_GLYPHS);
  expect(glyphsFor({ env: { LANG: "en_US.UTF-8" }, setting: "ascii" })).toBe(ASCII_GLYPHS);
});

test("every ASCII glyph is ASCII and the marks of column 0 are one cell in both sets", () => {
  expect(Object.values(ASCII_GLYPHS).flat().join("")).toMatch(/^[ -~]*$/);
  for (const { person, model, done, failed, question, notice, output } of [UNICODE_GLYPHS, ASCII_GLYPHS])
    for (const mark of [person, model, done, failed, question, notice, output]) expect([...mark]).toHaveLength(1);
});
