import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Line, lineWidth, plainText, type Role, type Span, span } from "../../src/ui/line.ts";
import { createWrapper, type WrapOptions, wrapSpans } from "../../src/ui/wrap.ts";

const wrapped = (text: string, options: WrapOptions): string[] => wrapSpans([span(text)], options).map(plainText);

describe("wrapSpans", () => {
  test.each<{ name: string; text: string; options: WrapOptions; lines: string[] }>([
    { name: "an empty text is one line", text: "", options: { width: 10 }, lines: [""] },
    { name: "words move down whole", text: "one two three", options: { width: 8 }, lines: ["one two", "three"] },
    { name: "spaces within a line are kept", text: "a   b c", options: { width: 5 }, lines: ["a   b", "c"] },
    { name: "spaces at a break are dropped", text: "abc      def ", options: { width: 4 }, lines: ["abc", "def"] },
    { name: "an indentation is kept", text: "  abc def", options: { width: 6 }, lines: ["  abc", "def"] },
    { name: "a long word is broken", text: "ab cdefghijk", options: { width: 5 }, lines: ["ab", "cdefg", "hijk"] },
    { name: "wide characters are parted", text: "中文字符", options: { width: 5 }, lines: ["中文", "字符"] },
    { name: "a full stop does not begin a line", text: "中文字。", options: { width: 6 }, lines: ["中文", "字。"] },
    {
      name: "an opening bracket does not end one",
      text: "中文（字）",
      options: { width: 6 },
      lines: ["中文", "（字）"],
    },
    {
      name: "words beside wide characters stay whole",
      text: "中文word",
      options: { width: 6 },
      lines: ["中文", "word"],
    },
    {
      name: "a prefix counts",
      text: "one two",
      options: { width: 6, first: [span("• ")], rest: [span("  ")] },
      lines: ["• one", "  two"],
    },
    { name: "a prefix without room is dropped", text: "ab", options: { width: 2, first: [span("• ")] }, lines: ["ab"] },
    {
      name: "the prefix of nothing has no trailing space",
      text: "",
      options: { width: 6, first: [span("│ ")] },
      lines: ["│"],
    },
    {
      name: "a wide character without room is an ellipsis",
      text: "a中b",
      options: { width: 1 },
      lines: ["a", "…", "b"],
    },
    {
      name: "a moved word finds less room",
      text: "ab cdefgh",
      options: { width: 8, rest: [span("    ")] },
      lines: ["ab", "    cdef", "    gh"],
    },
    { name: "a family stays together", text: "a👨‍👩‍👧b", options: { width: 2 }, lines: ["a", "👨‍👩‍👧", "b"] },
    {
      name: "by cells every space is kept",
      text: "a  bc   d",
      options: { width: 3, breaking: "cells" },
      lines: ["a  ", "bc ", "  d"],
    },
  ])("$name", ({ text, options, lines }) => {
    expect(wrapped(text, options)).toEqual(lines);
  });

  test("roles stay with their text", () => {
    expect(wrapSpans([span("one "), span("two three", "bold")], { width: 7 })).toEqual([
      [span("one "), span("two", "bold")],
      [span("three", "bold")],
    ]);
  });
});

const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(..."ab ().中文。（é") },
  { weight: 1, arbitrary: fc.constantFrom("👨‍👩‍👧", "🇩🇪", "e\u0301", "\u0301", "️", "👍🏽", "क्षि", "\u200b") },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((text) => !/[\p{Cc}]/u.test(text)),
  },
);
const text = fc.array(character, { maxLength: 80 }).map((characters) => characters.join(""));
const spans = fc.array(fc.record({ text, roles: fc.constantFrom<readonly Role[]>([], ["bold"], ["code"]) }), {
  maxLength: 4,
});
const options = fc.record({
  width: fc.integer({ min: 1, max: 40 }),
  first: fc.constantFrom<Line>([], [span("• ")]),
  rest: fc.constantFrom<Line>([], [span("      ")]),
  breaking: fc.constantFrom<"words" | "cells">("words", "cells"),
});

describe("createWrapper", () => {
  test("any division into pieces gives the same lines", () => {
    fc.assert(
      fc.property(spans, options, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (parts, given, sizes) => {
        const wrapper = createWrapper(given);
        const lines: Line[] = [];
        for (const part of parts) {
          for (let at = 0; at < part.text.length; ) {
            const size = sizes.next().value ?? 1;
            lines.push(...wrapper.push([{ ...part, text: part.text.slice(at, at + size) }]));
            wrapper.preview();
            at += size;
          }
        }
        expect([...lines, ...wrapper.end()]).toEqual(wrapSpans(parts, given));
      }),
    );
  });

  test("no line is wider than the width", () => {
    fc.assert(
      fc.property(spans, options, (parts, given) => {
        for (const line of wrapSpans(parts, given)) expect(lineWidth(line)).toBeLessThanOrEqual(given.width);
      }),
    );
  });

  test("nothing but spaces is lost", () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 2, max: 40 }), (parts, width) => {
        const squeezed = (lines: readonly (readonly Span[])[]): string =>
          lines.map(plainText).join("").replaceAll(" ", "");
        expect(squeezed(wrapSpans(parts, { width }))).toBe(squeezed([parts]));
      }),
    );
  });

  test("shows its unfinished line", () => {
    const wrapper = createWrapper({ width: 7, first: [span("• ")], rest: [span("  ")] });
    expect(wrapper.push([span("one two thr")]).map(plainText)).toEqual(["• one", "  two"]);
    expect(plainText(wrapper.partial())).toBe("  thr");
    expect(wrapper.preview().map(plainText)).toEqual(["  thr"]);
    expect(wrapper.push([span("ee")])).toEqual([]);
    expect(wrapper.end().map(plainText)).toEqual(["  three"]);
  });

  test("a megabyte without spaces, or of accents, comes out in lines", () => {
    const wrapper = createWrapper({ width: 100 });
    let count = 0;
    for (let piece = 0; piece < 10_000; piece += 1) count += wrapper.push([span("x".repeat(100))]).length;
    expect(count + wrapper.end().length).toBe(10_000);
    const accents = wrapped("\u0301".repeat(100_000), { width: 80 });
    expect(accents.join("")).toHaveLength(100_000);
    // Some terminals give each a cell of its own.
    expect(Math.max(...accents.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
