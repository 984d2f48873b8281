import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzyReplace } from "../../../src/tools/workspace/fuzzy-replace.ts";

type Row = readonly [name: string, content: string, source: string, target: string, level: number, after: string];

const outcomeOf = (content: string, source: string, target: string) => {
  const result = fuzzyReplace(content, source, target);
  return result.ok ? { level: result.level, after: result.content } : result;
};

describe("what is replaced, and at which level", () => {
  const rows: Row[] = [
    ["dollar signs are text at every level", "  a\n  b\n", "a\nb", "$&\n$1$$", 4, "  $&\n  $1$$\n"],
    ["dollar signs are text at level 3", "x = 1;\n", "x = 1;  ", "$' $` $&", 3, "$' $` $&\n"],
    ["a new line in a CRLF file gets CRLF", "a\r\nb\r\n", "a", "a\nx", 1, "a\r\nx\r\nb\r\n"],
    ["a new line at the end of a CRLF file gets CRLF", "a\r\nb", "b", "b\n", 1, "a\r\nb\r\n"],
    ["a CRLF in the target becomes LF in an LF file", "a\nb\n", "a", "x\r\ny", 1, "x\ny\nb\n"],
    ["a change of line endings alone is meant", "a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", 1, "a\nb\n"],
    ["LF in a target for an exact CRLF source follows the file", "a\r\nb\r\n", "a\r\nb", "a\nB", 1, "a\r\nB\r\n"],
    ["a source that begins with LF takes the whole CRLF", "a\r\nb\r\nc\r\n", "\nb", "", 2, "a\r\nc\r\n"],
    ["a source that ends in CR takes no half of a CRLF", "a\r\nb\r\n", "a\r", "x\r", 3, "x\r\nb\r\n"],
    ["each line of a mixed file keeps its own ending", "a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", 2, "a\r\nB\nc\r\n"],
    [
      "a line added in a mixed file follows its neighbour",
      "a\nb\r\nc\n",
      "a\nb\nc",
      "a\nb\nx\nc",
      2,
      "a\nb\r\nx\r\nc\n",
    ],
    ["lines removed in a mixed file leave the rest", "a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nc\n", 2, "a\r\nc\r\nd\n"],
    ["level 3 keeps CRLF", "  a();\r\n  b();\r\n", "a();  ", "x();\ny();", 3, "  x();\r\n  y();\r\n  b();\r\n"],
    ["level 4 keeps CRLF", "  a\r\n  b\r\n", "a\nb", "a\nc\nd", 4, "  a\r\n  c\r\n  d\r\n"],
    ["level 4 keeps a missing final newline", "x\n  a\n  b", "a\nb\n", "a\nc\n", 4, "x\n  a\n  c"],
    ["a tab and spaces are trimmed alike", "\tfoo();\n", "    foo(); \t", "    bar();\t", 3, "\tbar();\n"],
    [
      "level 3 indents further lines like the first",
      "  y();\n",
      "      y();",
      "      z();\n        w();",
      3,
      "  z();\n    w();\n",
    ],
    [
      "level 3 with tabs in the file",
      "\ty();\n",
      "    y();",
      "    if (x) {\n        y();\n    }",
      3,
      "\tif (x) {\n\t\ty();\n\t}\n",
    ],
    ["level 3 leaves the next line's indentation", "a\n  b\n    c\n", "  a\n\n", "x\n\n", 3, "x\n  b\n    c\n"],
    ["level 3 deletes a whole line with its indentation", "a\n  foo();\nb\n", "    foo();\n", "", 3, "a\nb\n"],
    ["level 3 may match within a line", "x = call(a, b);\n", " call(a, b) ", " call(b, a) ", 3, "x = call(b, a);\n"],
    ["level 3 needs no word boundary beside punctuation", "f(a)\n", "(a)\t", "(b)", 3, "f(b)\n"],
    ["a lone CR is an ordinary character", "a\rb\n", "a\rb", "a\rc", 1, "a\rc\n"],
    [
      "two spaces a level become four",
      "if a:\n    b()\n",
      "if a:\n  b( )\n".replace("( )", "()"),
      "if a:\n  if c:\n    b()\n",
      4,
      "if a:\n    if c:\n        b()\n",
    ],
    [
      "tabs become spaces",
      "    if a {\n      b\n    }\n",
      "if a {\n\tb\n}",
      "if a {\n\tif c {\n\t\tb\n\t}\n}",
      4,
      "    if a {\n      if c {\n        b\n      }\n    }\n",
    ],
    [
      "spaces become tabs, two a level",
      "\tif a {\n\t\tb\n\t}\n",
      "if a {\n  b\n}",
      "if a {\n  c\n  if d {\n    b\n  }\n}",
      4,
      "\tif a {\n\t\tc\n\t\tif d {\n\t\t\tb\n\t\t}\n\t}\n",
    ],
    [
      "a flat block deeper than the file",
      "  x()\n  y()\n",
      "        x()\n        y()",
      "        x()\n            z()\n        y()",
      4,
      "  x()\n      z()\n  y()\n",
    ],
    [
      "a target that goes further left than the source",
      "        a()\n        b()\n",
      "    a()\n    b()",
      "    a()\nb()",
      4,
      "        a()\n    b()\n",
    ],
    ["blank lines stay blank", "    a()\n\n    b()\n", "a()\n\nb()", "a()\n\n\nc()", 4, "    a()\n\n\n    c()\n"],
    [
      "a flat source for an indented file",
      "if a:\n    b()\n    c()\n",
      "if a:\nb()\nc()",
      "if a:\nb()\nd()",
      4,
      "if a:\n    b()\n    d()\n",
    ],
    ["unchanged lines keep their trailing blanks", "  a  \n  b\n", "a\nb", "a\nc", 4, "  a  \n  c\n"],
    [
      "blank lines around the source are left out",
      "x\n    a\n    b\ny\n",
      "\na\nb\n\n",
      "\na\nc\n\n",
      4,
      "x\n    a\n    c\ny\n",
    ],
    ["a deleted block at the end of a file without newline", "a\n  x\n  y", "x\ny", "", 4, "a\n"],
    ["wrapping a block", "  a()\n  b()\n", "a()\nb()", "try {\n  a()\n  b()\n}", 4, "  try {\n    a()\n    b()\n  }\n"],
    [
      "level 3 indents further lines that lack it like the first",
      "a\n  foo()\nb\n",
      "foo()\n\n",
      "bar()\nbaz()\n\n",
      3,
      "a\n  bar()\n  baz()\nb\n",
    ],
    [
      "level 3 leaves further lines that have the indentation",
      "a\n  foo()\nb\n",
      "foo()\n\n",
      "if x:\n    foo()\n  baz()\n\n",
      3,
      "a\n  if x:\n    foo()\n  baz()\nb\n",
    ],
    [
      "a first line without indentation is no other scale",
      "    if x:\n        a()  \n        b()\n",
      "if x:\n        a()\n        b()",
      "if x:\n        a()\n        if y:\n            c()",
      4,
      "    if x:\n        a()  \n        if y:\n            c()\n",
    ],
    [
      "a last line with a wrong indentation is no other scale",
      "function f() {\n    a();\n    b();\n}\n",
      "    a();\n    b();\n  }",
      "    a();\n    if (c) {\n        d();\n    }\n  }",
      4,
      "function f() {\n    a();\n    if (c) {\n        d();\n    }\n}\n",
    ],
    [
      "a scale that the file's alignments hide is seen",
      "call(a,\n     b)\nif x:\n    a()\n    if y:\n        b()\n",
      "if x:\n  a()\n  if y:\n    b()",
      "if x:\n  a()\n  if y:\n    if z:\n      b()",
      4,
      "call(a,\n     b)\nif x:\n    a()\n    if y:\n        if z:\n            b()\n",
    ],
    [
      "a target that has the file's indentation already gets it once",
      "class A:\n    def f(self):\n        return 1\n",
      "def f(self):\n    return 1",
      "    def f(self):\n        x = 2\n\n        return x",
      4,
      "class A:\n    def f(self):\n        x = 2\n\n        return x\n",
    ],
    [
      "a target that is flush like the file stays, whatever the source has",
      "if x:\n    a()\n",
      "    if x:\n        a()",
      "if x:\n    b()",
      4,
      "if x:\n    b()\n",
    ],
    ["a BOM inside the text is text", "\ufeffa\nb\n", "b", "c", 1, "\ufeffa\nc\n"],
  ];
  it.each(rows)("%s", (_, content, source, target, level, after) => {
    expect(outcomeOf(content, source, target)).toEqual({ level, after });
  });
});

describe("what is refused", () => {
  const notFound = { ok: false, kind: "not-found" };
  const rows: [name: string, content: string, source: string, target: string, outcome: object][] = [
    ["an empty source", "", "", "x", { ok: false, kind: "empty-source" }],
    ["a blank source", "a\n\n", " \t\r\n", "x", { ok: false, kind: "empty-source" }],
    ["a source that is the target", "a", "a", "a", { ok: false, kind: "no-change" }],
    ["a lenient match that changes nothing", "a  \n", "a\t", "a", { ok: false, kind: "no-change" }],
    ["a longer number", "total = 10\n", "total = 1 ", "total = 2 ", notFound],
    ["a decimal number", "total = 1.5\n", "total = 1 ", "total = 2 ", notFound],
    ["a longer name", "foobar()\n", "foo ", "x ", notFound],
    ["a longer name before", "my_foo\n", " foo", " x", notFound],
    ["a longer name of other letters", "naïveté\n", " té", " x", notFound],
    ["a hyphenated name", "class=btn-primary\n", "btn ", "x ", notFound],
    ["a line that goes on", "x = 1 + y\n", "x = 1\n", "x = 2\n", notFound],
    ["a line that began before", "return x;\n", "\nx;", "\ny;", notFound],
    ["an ideographic space is no blank", "\u3000a\nb\n", "a\n b", "x", notFound],
    ["a no-break space is no blank", "a\u00a0\n", "a\u00a0 \u00a0", "x", notFound],
    ["a BOM is no blank", "x\n a\n b\n", "\ufeffa\nb", "x", notFound],
    [
      "overlapping matches",
      "aXaXa\n",
      "aXa",
      "b",
      { ok: false, kind: "not-unique", level: 1, count: 2, lines: [1, 1] },
    ],
    [
      "overlapping lines",
      "a\na\na\n",
      "a\na\n",
      "b",
      { ok: false, kind: "not-unique", level: 1, count: 2, lines: [1, 2] },
    ],
    [
      "two matches at level 2",
      "a\r\nb\r\na\r\nb\r\n",
      "a\nb",
      "x",
      { ok: false, kind: "not-unique", level: 2, count: 2, lines: [1, 3] },
    ],
    [
      "two matches at level 3",
      "a;\nb\na;\n",
      "a; ",
      "x",
      { ok: false, kind: "not-unique", level: 3, count: 2, lines: [1, 3] },
    ],
    [
      "two matches at level 4",
      " a\n b\n  a\n  b\n",
      "a\nb",
      "x",
      { ok: false, kind: "not-unique", level: 4, count: 2, lines: [1, 3] },
    ],
    [
      "overlapping windows at level 4",
      " a\n  a\n a\n",
      "a\na",
      "x",
      { ok: false, kind: "not-unique", level: 4, count: 2, lines: [1, 2] },
    ],
    ["more lines than the file has", "a\n", "a\nb\nc\nd", "x", notFound],
  ];
  it.each(rows)("%s", (_, content, source, target, outcome) => {
    expect(outcomeOf(content, source, target)).toEqual(outcome);
  });
});

describe("stays fast", () => {
  const line = "    return value;\n";
  const rows: [name: string, content: string, source: string, outcome: object][] = [
    [
      "where most of a block matches everywhere",
      line.repeat(300_000),
      `${line.slice(4).repeat(2000)}no`,
      { ok: false },
    ],
    [
      "where the middle of a block differs",
      "a".repeat(5_000_000),
      `${"a".repeat(50_000)}b${"a".repeat(50_000)}`,
      { ok: false },
    ],
    ["where a block matches nearly everywhere", "a".repeat(5_000_000), "a".repeat(100_000), { count: 10_000 }],
    ["in one long line", "a ".repeat(2_500_000), "a\n", { ok: true, level: 3 }],
    ["with very many line endings", "\r\n".repeat(2_000_000), "x\ny", { ok: false }],
  ];
  it.each(rows)("%s", (_, content, source, outcome) => {
    const started = performance.now();
    expect(fuzzyReplace(content, source, "x")).toMatchObject(outcome);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe("properties", () => {
  const piece = fc.constantFrom("a", "b", " ", "\t", "\n", "\r\n", "x1", "(", "é", "👩‍💻", "\u3000", "\ufeff");
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

  it("nothing outside the match changes", () => {
    fc.assert(
      fc.property(text, text, text, (content, source, target) => {
        const result = fuzzyReplace(content, source, target);
        if (!result.ok) return;
        const { start, end } = result;
        expect(result.content).toBe(content.slice(0, start) + result.text + content.slice(end));
        expect(result.content).not.toBe(content);
        expect(content[start - 1] === "\r" && content[start] === "\n").toBe(false);
        expect(content[end - 1] === "\r" && content[end] === "\n").toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it("a unique block that lost its indentation is found and only it changes", () => {
    const line = fc.constantFrom("if (a) {", "call(b);", "}", "return c;", "// d");
    const block = fc.array(line, { minLength: 2, maxLength: 5 });
    const indent = fc.constantFrom("  ", "    ", "\t", "\t\t");
    const ending = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(block, indent, ending, (lines, indentation, newline) => {
        const inFile = lines.map((one) => indentation + one + newline).join("");
        const content = `first${newline}${inFile}last${newline}`;
        const changed = [...lines.slice(0, -1), "changed();"];
        const wanted = changed.map((one) => indentation + one + newline).join("");
        expect(outcomeOf(content, lines.join("\n"), changed.join("\n"))).toEqual({
          level: 4,
          after: `first${newline}${wanted}last${newline}`,
        });
      }),
    );
  });

  it("a source with LF finds its lines whatever their endings are, and each keeps its own", () => {
    const line = fc.tuple(fc.constantFrom("one", "two", "three"), fc.constantFrom("\n", "\r\n"));
    fc.assert(
      fc.property(fc.array(line, { minLength: 2, maxLength: 6 }), (lines) => {
        const content = `${lines.map(([word, ending]) => word + ending).join("")}end`;
        const source = lines.map(([word]) => `${word}\n`).join("");
        const target = source.replace(/^\w+/, "CHANGED");
        const result = fuzzyReplace(content, source, target);
        expect(result.ok && result.content).toBe(content.replace(/^\w+/, "CHANGED"));
      }),
    );
  });
});
