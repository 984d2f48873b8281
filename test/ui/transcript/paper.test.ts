import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, lineWidth, plainText, span } from "../../../src/ui/line.ts";
import { createMarkdown } from "../../../src/ui/markdown/stream-markdown.ts";
import { createPaper, type PaperOptions } from "../../../src/ui/transcript/paper.ts";
import type { Block } from "../../../src/ui/transcript/transcript.ts";

const paperOf = (width: number, change: Partial<PaperOptions> = {}) => {
  const glyphs = change.glyphs ?? UNICODE_GLYPHS;
  return createPaper({
    width: () => width,
    glyphs,
    strings: en,
    createMarkdown: (columns) => createMarkdown({ width: columns, glyphs }),
    showsThinking: () => false,
    ...change,
  });
};
const plain = (lines: readonly Line[]): string[] => lines.map((line) => plainText(line).trimEnd());
const write = (blocks: readonly Block[], width = 60, change: Partial<PaperOptions> = {}): string[] =>
  plain(paperOf(width, change).write(blocks));

const person = (text: string): Block => ({ type: "person", text });
const text = (delta: string): Block => ({ type: "text", delta });
const textEnd: Block = { type: "text.end", isDiscarded: false };
const notice = (text: string, level: "info" | "warning" | "error" = "info"): Block => ({ type: "notice", level, text });
const thought: Block = { type: "thought", text: "One.\nTwo.", durationMs: 1200 };
const step = (output: string, name = "bash", command = "ls"): Block => ({
  type: "step",
  step: {
    number: 1,
    name,
    arguments: JSON.stringify({ command }),
    result: { output, isError: false },
    durationMs: 3,
  },
});
const stepHead = (width: number): string => `${"✓ bash       ls".padEnd(width - 5)}3 ms`;
const end = (reason: Extract<Block, { type: "end" }>["reason"], change: object = {}): Block => ({
  type: "end",
  reason,
  durationMs: 4100,
  denials: [],
  ...change,
});

describe("the paper", () => {
  test("leaves a blank line between blocks, and none between steps", () => {
    expect(
      write([
        person("go\non"),
        text("First.\n\nThen"),
        textEnd,
        step("a"),
        step("b"),
        thought,
        text("Done."),
        textEnd,
        notice("note"),
        end("cancelled"),
      ]),
    ).toEqual([
      "› go",
      "  on",
      "",
      "● First.",
      "",
      "  Then",
      "",
      stepHead(60),
      "  │ a",
      stepHead(60),
      "  │ b",
      "",
      "● thought for 1.2 s (ctrl+t shows it)",
      "",
      "● Done.",
      "",
      "! note",
      "",
      "✗ interrupted by you after 4.1 s; what was done is kept",
    ]);
  });

  test("goes on below what was printed in the midst of a text", () => {
    const paper = paperOf(40);
    expect(plain(paper.write([person("go"), text("One two\n\nthr")]))).toEqual(["› go", "", "● One two", ""]);
    expect(plain(paper.write([step("a")]))).toEqual(["", stepHead(40), "  │ a"]);
    expect(plain(paper.live())).toEqual(["", "  thr"]);
    expect(plain(paper.write([text("ee\n\n")]))).toEqual(["", "  three"]);
    expect(plain(paper.live())).toEqual([]);
    expect(plain(paper.write([text("four"), textEnd]))).toEqual(["", "  four"]);
  });

  test("shows what is unfinished, with the mark only before its first line", () => {
    const paper = paperOf(40);
    paper.write([text("Hel")]);
    expect(plain(paper.live())).toEqual(["● Hel"]);
    paper.write([text("lo\n\nwor")]);
    expect(plain(paper.live()).at(-1)).toBe("  wor");
    paper.write([textEnd]);
    expect(paper.live()).toEqual([]);
  });

  test("says whether a blank line stands before the next step", () => {
    const paper = paperOf(40);
    const spaced = [paper.isSpaced()];
    for (const block of [person("go"), step("a"), text("x")]) {
      paper.write([block]);
      spaced.push(paper.isSpaced());
    }
    paper.say([[span("said")]]);
    expect([...spaced, paper.isSpaced()]).toEqual([false, true, false, true, true]);
  });

  test.each<readonly [string, Block, readonly string[]]>([
    ["that nothing went wrong with nothing", end("completed"), []],
    ["a stop", end("cancelled"), ["✗ interrupted by you after 4.1 s; what was done is kept"]],
    [
      "each refused tool once",
      end("blocked", { denials: ["bash", "bash", "edit_file"] }),
      ["✗ calls were refused: bash, edit_file"],
    ],
    [
      "an error and what to do",
      end("error", { error: { kind: "auth", message: "401", hint: "set KEY" } }),
      ["✗ 401", "  set KEY"],
    ],
    ["a limit without a message by its name", end("max_turns"), ["✗ max_turns"]],
  ])("tells %s", (_name, block, lines) => {
    expect(write([block])).toEqual(lines);
  });

  test("prints a thought whole where the person wants that", () => {
    expect(write([thought], 60, { showsThinking: () => true })).toEqual([
      "● thought for 1.2 s (ctrl+t shows it)",
      "  One.",
      "  Two.",
    ]);
  });

  test("marks what a retry throws away", () => {
    expect(write([text("wrong"), { type: "text.end", isDiscarded: true }], 80)).toEqual([
      "● wrong",
      `  ${en.transcript.discarded}`,
    ]);
  });

  test("shows what would act on a terminal or turn the order round", () => {
    expect(write([notice("a\x1b[2Jb\u202ec\td"), person("x\u2066y")])).toEqual([
      "! ab\\u{202e}c    d",
      "",
      "› x\\u{2066}y",
    ]);
  });

  test("a terminal that becomes narrower in the midst of an answer gets no line that is too wide", () => {
    let width = 60;
    const paper = paperOf(0, { width: () => width });
    paper.write([text(`${"word ".repeat(9)}`)]);
    width = 20;
    const lines = [...paper.live(), ...paper.write([text(`${"word ".repeat(30)}`), textEnd])];
    expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(20);
    expect(plain(lines.slice(1)).join(" ").match(/word/g)?.length).toBeGreaterThanOrEqual(39);
  });
});

const FORGED = [
  ...["› yes", "● done", "✓ bash", "✗ failed", "? bash rm", "! note", "⠹ x", "* a", "+ b", "> c", "~", "| d"],
  ...[
    "\n",
    "\n\n",
    "\r",
    "\t",
    "\x1b[1G",
    "\x1b[A",
    "\b\b\b",
    "\u202e",
    "```\n",
    "- ",
    "1. ",
    "# ",
    "    ",
    "| a | b |\n|---|---|\n",
  ],
  ...["word ", "你好", "🎉", "x".repeat(30), "\u2028", "\x85", "<b>", "&gt;"],
];
const hostile = fc.array(fc.constantFrom(...FORGED), { maxLength: 25 }).map((parts) => parts.join(""));
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  hostile.map(text),
  fc.constantFrom<Block>(textEnd, { type: "text.end", isDiscarded: true }),
  hostile.map((said): Block => ({ type: "thought", text: said, durationMs: 10 })),
  hostile.map((said) => step(said)),
  fc.tuple(hostile, hostile).map(([name, command]) => step("ok", name, command)),
  hostile.map((said) => notice(said)),
  hostile.map((message) => end("error", { error: { kind: "server", message, hint: message } })),
  hostile.map((name) => end("blocked", { denials: [name] })),
  hostile.map(person),
);

describe("whatever others write", () => {
  test.each([
    ["with characters of its own", UNICODE_GLYPHS],
    ["in ASCII", ASCII_GLYPHS],
  ])("stands nowhere in the first column, %s", (_name, glyphs) => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 8 }), fc.integer({ min: 5, max: 100 }), (blocks, width) => {
        const paper = paperOf(width, { glyphs, showsThinking: () => true });
        const own = [glyphs.person, glyphs.model, glyphs.done, glyphs.failed, glyphs.notice];
        for (const block of blocks)
          for (const lines of [paper.write([block]), paper.live()]) {
            const marks = plain(lines).filter((line) => line !== "" && !line.startsWith("  "));
            // One for what is ours: the block's own, or that of the text of which it is a piece.
            expect(marks.length, JSON.stringify(plain(lines))).toBeLessThanOrEqual(1);
            for (const mark of marks) expect(own).toContain(mark.split(" ")[0]);
          }
      }),
    );
  });

  test("no line is wider than the width, none has a control character", () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 8 }), fc.integer({ min: 1, max: 100 }), (blocks, width) => {
        const paper = paperOf(width, { showsThinking: () => true });
        for (const block of blocks)
          for (const line of [...paper.write([block]), ...paper.live()]) {
            expect(lineWidth(line), JSON.stringify(line)).toBeLessThanOrEqual(width);
            expect(plainText(line)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
          }
      }),
    );
  });

  test("a text in pieces is what it is at once", () => {
    fc.assert(
      fc.property(
        hostile,
        fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1 }),
        fc.integer({ min: 5, max: 80 }),
        (said, sizes, width) => {
          const pieces: string[] = [];
          for (let at = 0, index = 0; at < said.length; index++) {
            const size = sizes[index % sizes.length] ?? 1;
            pieces.push(said.slice(at, at + size));
            at += size;
          }
          const once = write([person("go"), text(said), textEnd], width);
          const paper = paperOf(width);
          const parts = [person("go"), ...pieces.map(text), textEnd].flatMap((block) => plain(paper.write([block])));
          // Nothing at all is no piece.
          if (said !== "") expect(parts).toEqual(once);
        },
      ),
    );
  });
});
