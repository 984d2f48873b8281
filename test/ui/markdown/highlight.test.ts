import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText } from "../../../src/ui/line.ts";
import { createHighlighter } from "../../../src/ui/markdown/highlight.ts";

const highlight = createHighlighter();
const languages = [
  ...[
    "bash",
    "sh",
    "zsh",
    "shell",
    "console",
    "c",
    "cpp",
    "c++",
    "css",
    "scss",
    "diff",
    "patch",
    "docker",
    "dockerfile",
  ],
  ...[
    "go",
    "golang",
    "html",
    "xml",
    "svg",
    "vue",
    "ini",
    "toml",
    "env",
    "java",
    "js",
    "jsx",
    "mjs",
    "json",
    "jsonc",
    "kt",
    "kotlin",
  ],
  ...[
    "make",
    "makefile",
    "md",
    "markdown",
    "php",
    "py",
    "python",
    "rb",
    "ruby",
    "rs",
    "rust",
    "sql",
    "swift",
    "ts",
    "tsx",
    "yml",
    "yaml",
  ],
];

describe("createHighlighter", () => {
  test("every line of the code is a line, with roles for what it is made of", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the code has one.
    expect(highlight("const a = `x ${1}`; // no\n\nreturn null;", "ts")).toEqual([
      [
        { text: "const", roles: ["keyword"] },
        { text: " a = " },
        { text: "`x ", roles: ["string"] },
        { text: "${" },
        { text: "1", roles: ["number"] },
        { text: "}" },
        { text: "`", roles: ["string"] },
        { text: "; " },
        { text: "// no", roles: ["comment"] },
      ],
      [],
      [{ text: "return", roles: ["keyword"] }, { text: " " }, { text: "null", roles: ["number"] }, { text: ";" }],
    ]);
  });

  test("a text over several lines keeps its role, and languages within another are coloured", () => {
    expect(highlight("/* a\nb */", "css")).toEqual([
      [{ text: "/* a", roles: ["comment"] }],
      [{ text: "b */", roles: ["comment"] }],
    ]);
    expect(highlight("<script>let a</script>", "html")?.[0]).toContainEqual({ text: "let", roles: ["keyword"] });
    expect(highlight("-a\n+b", "diff")).toEqual([
      [{ text: "-a", roles: ["removed"] }],
      [{ text: "+b", roles: ["added"] }],
    ]);
  });

  test.each(languages)("%s is known", (language) => {
    expect(highlight("a", language)?.map(plainText)).toEqual(["a"]);
  });

  test.each(["", "brainfuck", "constructor", "__proto__", "ts; x"])("%j is not known", (language) => {
    expect(highlight("a", language)).toBeUndefined();
  });

  test("the case of a language does not matter; control characters go, tabs are spaces", () => {
    expect(highlight("\ta\x1b[31m\u202e\r", "TypeScript")?.map(plainText)).toEqual(["    a\\u{202e}"]);
  });

  test("code that would take long is left alone", () => {
    expect(highlight("x".repeat(100_000), "js")).toBeUndefined();
    expect(highlight("x\n".repeat(20_000), "js")).toBeUndefined();
  });

  test("whatever the code, no character is lost and nothing is thrown", () => {
    const pieces = fc.oneof(
      fc.constantFrom(
        "\n",
        "\t",
        "/*",
        "*/",
        "`",
        "${",
        "}",
        '"',
        "'",
        "<",
        "</script>",
        "<script>",
        "<?php",
        "#",
        "```",
        "{{",
        "@",
        "你",
      ),
      fc.string({ unit: "grapheme-ascii", maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.constantFrom(...languages), (parts, language) => {
        const code = parts.join("");
        const lines = highlight(code, language);
        if (lines === undefined) return;
        expect(lines.map(plainText).join("\n").replace(/ +/g, "")).toBe(code.replace(/[ \t]+/g, ""));
        for (const { text } of lines.flat()) expect(text).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }),
    );
  });
});
