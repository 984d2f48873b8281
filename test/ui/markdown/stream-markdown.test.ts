import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, lineWidth, plainText, span } from "../../../src/ui/line.ts";
import { createMarkdown, type MarkdownOptions } from "../../../src/ui/markdown/stream-markdown.ts";

const rendered = (text: string, options: Partial<MarkdownOptions> = {}): Line[] => {
  const markdown = createMarkdown({ width: 40, glyphs: UNICODE_GLYPHS, ...options });
  return [...markdown.push(text), ...markdown.end()];
};
const drawn = (text: string, options: Partial<MarkdownOptions> = {}): string[] =>
  rendered(text, options).map(plainText);

const inPieces = (text: string, sizes: Iterator<number>, options: MarkdownOptions): Line[] => {
  const markdown = createMarkdown(options);
  const lines: Line[] = [];
  for (let at = 0; at < text.length; ) {
    const size = sizes.next().value ?? 1;
    lines.push(...markdown.push(text.slice(at, at + size)));
    markdown.live();
    at += size;
  }
  return [...lines, ...markdown.end()];
};

// Pieces of markdown that are likely to matter to each other.
const FRAGMENTS = [
  "word",
  "words of text",
  "中文，标点。",
  "「引」",
  " ",
  "  ",
  "    ",
  "\n",
  "\n",
  "\n\n",
  "**",
  "*",
  "_",
  "~~",
  "`",
  "``",
  "```",
  "~~~",
  "- ",
  "* ",
  "1. ",
  "2) ",
  "> ",
  ">",
  "# ",
  "###",
  "---",
  "===",
  "| a | b |\n|---|:-:|\n| 1 | 2 |\n",
  "| x ",
  "|",
  "|--|--|",
  "[",
  "](",
  ")",
  "![",
  "<",
  ">",
  "<b>",
  "<div>",
  "</div>",
  "<br>",
  "&amp;",
  "&#27;",
  "\\",
  "\\\n",
  "  \n",
  "https://a.b/c_d",
  "\t",
  "\r\n",
  "\x1b[31m",
  "\x1b]0;t\x07",
  "\x1b",
  "\u202e",
  "👍🏽",
  "👨‍👩‍👧",
  "e\u0301",
  "\ud83d",
  "+ ",
  "10. ",
  "- [x] ",
  "!",
  "://",
];
const markdownText = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...FRAGMENTS) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 5 }) },
    ),
    { maxLength: 60 },
  )
  .map((fragments) => fragments.join(""));
const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 12 }));
const width = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 200 }));

describe("createMarkdown, whatever comes", () => {
  test("any division into pieces gives the same lines", () => {
    fc.assert(
      fc.property(markdownText, sizes, width, (text, pieces, cells) => {
        const options = { width: cells, glyphs: UNICODE_GLYPHS };
        expect(inPieces(text, pieces, options)).toEqual(rendered(text, options));
      }),
      { numRuns: 400 },
    );
  });

  test("long lines are divided the same way whatever the pieces", () => {
    const long = fc
      .array(
        fc.constantFrom(
          "a",
          " ",
          "*",
          "**",
          "`",
          "[",
          "](",
          "<x",
          "中",
          "| ",
          "-",
          "#",
          "_",
          "\\",
          "word ".repeat(40),
          "x".repeat(600),
          "`".repeat(300),
          " ".repeat(600),
        ),
        { minLength: 5, maxLength: 30 },
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.array(long, { maxLength: 4 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 700 })),
        (lines, pieces) => {
          const text = lines.join("\n");
          const options = { width: 80, glyphs: UNICODE_GLYPHS };
          expect(inPieces(text, pieces, options)).toEqual(rendered(text, options));
        },
      ),
    );
  });

  test("no line is wider than the width, finished or not, and none has control characters", () => {
    fc.assert(
      fc.property(markdownText, width, (text, cells) => {
        const markdown = createMarkdown({ width: cells, glyphs: UNICODE_GLYPHS });
        const lines = [...markdown.push(text), ...markdown.live(), ...markdown.end()];
        for (const line of lines) {
          expect(lineWidth(line)).toBeLessThanOrEqual(cells);
          expect(plainText(line)).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("every word of plain text survives", () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    fc.assert(
      fc.property(
        fc.array(fc.array(word, { minLength: 1, maxLength: 12 }), { maxLength: 8 }),
        fc.integer({ min: 12, max: 60 }),
        (lines, cells) => {
          const text = lines.map((words) => words.join(" ")).join("\n");
          expect(drawn(text, { width: cells }).join(" ").split(" ").filter(Boolean)).toEqual(lines.flat());
        },
      ),
    );
  });
});

const KINDS: readonly { name: string; text: string; width?: number; lines: string[] }[] = [
  { name: "soft breaks join lines", text: "one\ntwo", lines: ["one two"] },
  { name: "soft breaks between wide characters leave no space", text: "中文\n字符", lines: ["中文字符"] },
  { name: "two spaces and a backslash break", text: "one  \ntwo\\\nthree", lines: ["one", "two", "three"] },
  { name: "blank lines collapse", text: "\n\none\n\n\n\ntwo\n\n", lines: ["one", "", "two"] },
  {
    name: "headings of both forms stand apart",
    text: "text\n# One ##\nTwo\n===\nthree",
    lines: ["text", "", "One", "", "Two", "", "three"],
  },
  {
    name: "a list keeps close to its paragraph",
    text: "Do:\n- one\n- two\n\nDone.",
    lines: ["Do:", "• one", "• two", "", "Done."],
  },
  { name: "blank lines between items stay", text: "- one\n\n- two", lines: ["• one", "", "• two"] },
  { name: "items nest by indentation", text: "- a\n  - b\n    - c\n- d", lines: ["• a", "  • b", "    • c", "• d"] },
  { name: "two spaces nest below a number", text: "1. a\n  - b\n2. c", lines: ["1. a", "   • b", "2. c"] },
  { name: "a list that is all ones is counted", text: "1. a\n1. b\n1. c", lines: ["1. a", "2. b", "3. c"] },
  { name: "numbers stay as written", text: "3. a\n7. b", lines: ["3. a", "7. b"] },
  { name: "tasks keep their boxes", text: "- [x] done\n- [ ] open", lines: ["• [x] done", "• [ ] open"] },
  { name: "an empty item is its bullet", text: "- \n- b", lines: ["•", "• b"] },
  { name: "items hang", text: "- one two three", width: 10, lines: ["• one two", "  three"] },
  {
    name: "an item has paragraphs, code and quotes",
    text: "- a\n\n  b\n\n  ```\n  c\n  ```\n  > d",
    lines: ["• a", "", "  b", "", "    c", "  │ d"],
  },
  { name: "quotes nest", text: "> a\n> > b\n>\n> c", lines: ["│ a", "│", "│ │ b", "│", "│ c"] },
  { name: "a quote goes on without its mark", text: "> a\nb", lines: ["│ a b"] },
  {
    name: "code is kept as it is",
    text: "```ts\n  a  **b**\n\n\tc\n```\nafter",
    lines: ["    a  **b**", "", "      c", "", "after"],
  },
  { name: "a longer fence holds a shorter one", text: "````\n```\n````", lines: ["  ```"] },
  { name: "tildes hold backticks", text: "~~~\n```\n~~~", lines: ["  ```"] },
  { name: "an open fence ends with the answer", text: "```\na\n``", lines: ["  a", "  ``"] },
  {
    name: "code that is indented less than its item stays code",
    text: "1. a\n   ```\nb\n   ```\n2. c",
    lines: ["1. a", "     b", "2. c"],
  },
  { name: "indented code keeps its blank lines", text: "    a\n\n    b\n\nc", lines: ["  a", "", "  b", "", "c"] },
  {
    name: "a long line of code is wrapped",
    text: "```\nabcdefghijklmnopqr  s\n```",
    width: 20,
    lines: ["  abcdefghijklmnopqr", "    s"],
  },
  { name: "a rule is a line", text: "a\n\n***\nb", width: 10, lines: ["a", "", "─".repeat(10), "", "b"] },
  { name: "emphasis across lines", text: "a **b\nc** d", lines: ["a b c d"] },
  {
    name: "an address is shown where the text hides it",
    text: "[a](http://b.c) <http://d.e> [http://f.g](http://h.i)",
    width: 80,
    lines: ["a (http://b.c) http://d.e http://f.g (http://h.i)"],
  },
  { name: "an image is its text and address", text: "![a](b.png)", lines: ["a (b.png)"] },
  {
    name: "entities are characters, never controls",
    text: "&lt;&amp;&copy;&#65;&#27;&unknown;",
    lines: ["<&©A\\u{1b}&unknown;"],
  },
  { name: "marks without a partner stay", text: "2 * 3, snake_case_x, **open", lines: ["2 * 3, snake_case_x, **open"] },
  {
    name: "HTML stays as it is",
    text: "<div>\n**a**\n</div>\n\n<b>c</b>",
    lines: ["<div>", "**a**", "</div>", "", "<b>c</b>"],
  },
  {
    name: "control sequences go, bidi controls show",
    text: "a\x1b[31mb\x1b]0;t\x07c\u202ed",
    lines: ["abc\\u{202e}d"],
  },
  {
    name: "a table has columns",
    text: "| a | bb | c |\n|---|:-:|--:|\n| long cell | x | 12 |\n| 中文 | `a|b` | 3 |",
    lines: ["a          bb    c", "─────────  ───  ──", "long cell   x   12", "中文       a|b   3"],
  },
  {
    name: "a table may follow its paragraph",
    text: "Text:\n| a | b |\n|---|---|\n| 1 | 2 |\nafter",
    lines: ["Text:", "", "a  b", "─  ─", "1  2", "", "after"],
  },
  { name: "a cell too many is not lost", text: "a | b\n-|-\n1 | 2 | 3", lines: ["a  b", "─  ─────", "1  2 | 3"] },
  {
    name: "cells wrap where the table is too wide",
    text: "| a | b |\n|---|---|\n| one two three | x |",
    width: 12,
    lines: ["a          b", "─────────  ─", "one two    x", "three"],
  },
  {
    name: "a table without room is a list of records",
    text: "| name | value |\n|---|---|\n| first | second |\n| third | fourth |",
    width: 10,
    lines: ["name:", "  first", "value:", "  second", "", "name:", "  third", "value:", "  fourth"],
  },
  { name: "a line with a bar is no table", text: "a | b\nc | d", lines: ["a | b c | d"] },
];

describe("createMarkdown", () => {
  test.each(KINDS)("$name", ({ text, width: cells = 40, lines }) => {
    expect(drawn(text, { width: cells })).toEqual(lines);
  });

  test("marks inline text with roles", () => {
    expect(rendered("a **b *c*** ~~d~~ `e` [f](g)")).toEqual([
      [
        span("a "),
        span("b ", "bold"),
        span("c", "bold", "italic"),
        span(" "),
        span("d", "strike"),
        span(" "),
        span("e", "code"),
        span(" "),
        span("f", "link"),
        span(" (g)", "dim"),
      ],
    ]);
  });

  test("knows emphasis beside wide punctuation", () => {
    expect(rendered("中**「文」**字，是**“这”**的")).toEqual([
      [span("中"), span("「文」", "bold"), span("字，是"), span("“这”", "bold"), span("的")],
    ]);
  });

  test("draws with ASCII where it must", () => {
    expect(drawn("- a\n\n> b\n\n---", { glyphs: ASCII_GLYPHS, width: 5 })).toEqual(["- a", "", "| b", "", "-----"]);
  });

  test("gives each line of code its colours, with the lines before it in mind", () => {
    const seen: string[] = [];
    const highlight = (code: string, language: string): Line[] => {
      seen.push(`${language}: ${code}`);
      return code.split("\n").map((line) => [span(line, "keyword")]);
    };
    expect(rendered("```js x\na\nb\n```", { highlight })).toEqual([
      [span("  "), span("a", "code", "keyword")],
      [span("  "), span("b", "code", "keyword")],
    ]);
    expect(seen).toEqual(["js: a", "js: a\nb"]);
  });
});

describe("createMarkdown, while it comes", () => {
  const create = (): ReturnType<typeof createMarkdown> => createMarkdown({ width: 20, glyphs: UNICODE_GLYPHS });
  const texts = (lines: readonly Line[]): string[] => lines.map(plainText);

  test("a long paragraph leaves the live region line by line", () => {
    const markdown = create();
    const counts: number[] = [];
    let finished = 0;
    for (let piece = 0; piece < 10_000; piece += 1) {
      finished += markdown.push("word ").length;
      if (piece % 500 === 499) counts.push(markdown.live().length);
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(3);
    expect(finished).toBeGreaterThan(2490);
  });

  test("an unclosed mark shows, and is literal when it stays open", () => {
    const markdown = create();
    markdown.push(`${"word ".repeat(40)}**bold`);
    expect(texts(markdown.live())).toEqual(["word word word word", "**bold"]);
    const lines = texts(markdown.push(` ${"word ".repeat(120)}`));
    expect(lines.slice(0, 2)).toEqual(["word word word word", "**bold word word"]);
  });

  test("marks that may become anything do not flicker", () => {
    for (const mark of ["``", "`", "#", "- ", "1"]) {
      const line = create();
      line.push(`text\n${mark}`);
      expect(texts(line.live())).toEqual(["text"]);
    }
  });

  test("lines of code are finished one by one", () => {
    const markdown = create();
    expect(texts(markdown.push("```\na\nb"))).toEqual(["  a"]);
    expect(texts(markdown.live())).toEqual(["  b"]);
  });

  test("a growing table is live, and streams once it is long", () => {
    const markdown = create();
    expect(markdown.push("| a | b |\n|---|---|\n| 1 | 2 |\n")).toEqual([]);
    expect(texts(markdown.live())).toEqual(["a  b", "─  ─", "1  2"]);
    expect(markdown.push("| 1 | 2 |\n".repeat(29))).toHaveLength(32);
    expect(texts(markdown.push("| wide | 2 |\n"))).toEqual(["w  2", "i", "d", "e"]);
    expect(markdown.live()).toEqual([]);
  });

  test("a long answer may come at once, even into one column", () => {
    const text = "x".repeat(300_000);
    expect(drawn(text, { width: 1 }).join("")).toBe(text);
    expect(drawn(`\`\`\`\n${text}`, { width: 1 }).join("")).toBe(text);
  });

  test.each([
    { name: "words", text: "word ".repeat(200_000) },
    { name: "letters", text: "x".repeat(1_000_000) },
    { name: "wide characters", text: "中".repeat(300_000) },
    { name: "marks", text: "*a ".repeat(100_000) },
    { name: "backticks", text: "`".repeat(300_000) },
    { name: "brackets", text: "[".repeat(200_000) },
    { name: "backslashes", text: "\\".repeat(300_000) },
    { name: "quotes", text: ">".repeat(100_000) },
    { name: "escape characters", text: "\x1b".repeat(300_000) },
    { name: "code in one line", text: `\`\`\`\n${"x".repeat(1_000_000)}` },
  ])("much of the same takes linear time: $name", { timeout: 20_000 }, ({ text }) => {
    const markdown = createMarkdown({ width: 100, glyphs: UNICODE_GLYPHS });
    const step = Math.ceil(text.length / 10_000);
    for (let at = 0; at < text.length; at += step) markdown.push(text.slice(at, at + step));
    // What is undecided is a few thousand characters, here in lines of eight cells at least.
    expect(markdown.live().length).toBeLessThan(400);
    expect(markdown.end().length).toBeLessThan(400);
  });
});
