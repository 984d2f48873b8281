import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { callText, toolSummary } from "../../../src/ui/transcript/tool-summary.ts";

const summary = (name: string, text: string) => toolSummary(name, text, en.steps);

describe("toolSummary", () => {
  test.each([
    ["bash", { command: "npm test" }, "npm test"],
    ["bash", { command: "\n  cd a\nmake\nmake install\n" }, "cd a (+2 lines)"],
    ["bash", { command: "a\nb" }, "a (+1 line)"],
    ["bash", { command: "a\tb" }, "a b"],
    ["bash", { command: "rm \u202e-rf \x1b[8m/\u200b" }, "rm \\u{202e}-rf \\u{1b}[8m/\\u{200b}"],
    ["bash", { command: "ls\r\npwd" }, "ls (+1 line)"],
    ["bash", { command: ["a"], timeout_ms: 5 }, "timeout_ms=5"],
    ["read_file", { path: "src/a.ts" }, "src/a.ts"],
    ["read_file", { path: "src/a.ts", offset: 10 }, "src/a.ts:10-"],
    ["read_file", { path: "src/a.ts", offset: 10, limit: 50 }, "src/a.ts:10-59"],
    ["read_file", { path: "src/a.ts", limit: 50 }, "src/a.ts:1-50"],
    ["write_file", { path: "a\nb", content: "x" }, "a\\u{a}b"],
    ["edit_file", { path: "src/a.ts", source_text: "a", target_text: "b" }, "src/a.ts"],
    ["edit_file", { source_text: "a b", path: 7 }, "source_text=a b path=7"],
    [
      "search",
      { query: "a  b\nc", list: [1], empty: "", deep: true, none: null, n: 3, more: "m" },
      "query=a b c deep=true n=3",
    ],
    ["search", { "k\u202e": "x".repeat(70) }, `k\\u{202e}=${"x".repeat(60)}…`],
    ["search", {}, ""],
  ])("%s %j is %j", (name, values, expected) => {
    expect(summary(name, JSON.stringify(values))).toBe(expected);
  });

  test.each([
    ["", ""],
    ['{"command": "ls', '{"command": "ls'],
    ['{"command":\n\t"ls\u202e', '{"command": "ls\\u{202e}'],
    ["[1, 2]", "[1, 2]"],
    ["null", "null"],
    ['{"__proto__":{"command":"x"},"constructor":"y"}', "constructor=y"],
  ])("the raw arguments %j are shown as %j", (text, expected) => {
    expect(summary("bash", text)).toBe(expected);
  });

  test("whatever comes in, it is one line without anything hidden", () => {
    const names = fc.constantFrom("bash", "read_file", "edit_file", "other", "__proto__");
    const values = fc.dictionary(
      fc.oneof(fc.constantFrom("command", "path", "offset", "limit"), fc.string({ unit: "binary" })),
      fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.constant("a\nb\tc\x1b]0;t\x07\ud800")),
    );
    const texts = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }),
      values.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(names, texts, fc.nat(), (name, text, end) => {
        for (const part of [text, text.slice(0, end % (text.length + 1))])
          expect(summary(name, part)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  test("a long file in the arguments costs no long summary", () => {
    expect(summary("x", `{"content": "${"y".repeat(100_000)}`).length).toBeLessThan(2100);
    expect(summary("bash", JSON.stringify({ command: "y".repeat(100_000) })).length).toBeLessThan(2100);
  });
});

test("the text of a call has every argument, and a command line by line", () => {
  expect(callText("bash", '{"command":"a\\nb"}')).toEqual(["a", "b"]);
  expect(callText("x", '{"q":"w","n":1,"text":"a\\nb","l":["c"]}')).toEqual([
    "q: w",
    "n: 1",
    "text:",
    "  a",
    "  b",
    'l: ["c"]',
  ]);
  expect(callText("x", '{"q":')).toEqual(['{"q":']);
  expect(callText("x", "")).toEqual([]);
});
