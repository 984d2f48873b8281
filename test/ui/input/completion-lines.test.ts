import fc from "fast-check";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { describeCommands } from "../../../src/ui/commands/slash-commands.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import type { CompletionItem } from "../../../src/ui/input/completion.ts";
import { completionItems } from "../../../src/ui/input/completion.ts";
import { completionLines } from "../../../src/ui/input/completion-lines.ts";
import { createFileList } from "../../../src/ui/input/file-completion.ts";
import { plainRank } from "../../../src/ui/input/fuzzy.ts";
import { lineWidth, plainText } from "../../../src/ui/line.ts";

const options = { width: 40, maxRows: 8, glyphs: UNICODE_GLYPHS, strings: en.commands };
const item = (label: string, positions: number[] = [], description = ""): CompletionItem => ({
  value: label,
  label,
  positions,
  description,
});
const numbered = (count: number) => Array.from({ length: count }, (_, index) => item(`f${index}`));

test("the selected row has a mark and the accent, matched letters are bold, the description is dim", () => {
  const items = [item("/cost", [1, 2], "tokens"), item("/context", [1, 2], "what fills it")];
  expect(completionLines({ items, total: 2, selected: 1 }, options)).toEqual([
    [
      { text: "  " },
      { text: "/" },
      { text: "co", roles: ["bold"] },
      { text: "st" },
      { text: "     tokens", roles: ["dim"] },
    ],
    [
      { text: "› ", roles: ["accent"] },
      { text: "/", roles: ["accent"] },
      { text: "co", roles: ["accent", "bold"] },
      { text: "ntext", roles: ["accent"] },
      { text: "  what fills it", roles: ["dim"] },
    ],
  ]);
});

test("more than fit: the rows around the selected one, and the count", () => {
  const menu = { items: numbered(20), total: 300, selected: 10 };
  expect(completionLines(menu, { ...options, maxRows: 5 }).map(plainText)).toEqual([
    "  f8",
    "  f9",
    "› f10",
    "  f11",
    "  … 11 of 300",
  ]);
  expect(completionLines({ ...menu, selected: 19 }, { ...options, maxRows: 3 }).map(plainText)).toEqual([
    "  f18",
    "› f19",
    "  … 20 of 300",
  ]);
  expect(completionLines(menu, { ...options, maxRows: 1 }).map(plainText)).toEqual(["› f10"]);
  expect(completionLines(menu, { ...options, maxRows: 0 })).toEqual([]);
  expect(completionLines(menu, { ...options, maxRows: 99 })).toHaveLength(8);
  expect(completionLines({ items: numbered(8), total: 8, selected: 0 }, options)).toHaveLength(8);
  expect(completionLines({ items: [], total: 0, selected: 0 }, options)).toEqual([]);
});

test("hidden characters of a name are shown, and a long path keeps its end", () => {
  const items = [item("a\u001b[2Jb\u202ec\n", [1]), item("packages/deeply/nested/folder/of/src/component.tsx")];
  expect(completionLines({ items, total: 2, selected: 0 }, { ...options, width: 30 }).map(plainText)).toEqual([
    String.raw`› a\u{1b}[2Jb\u{202e}c\u{a}`,
    "  …folder/of/src/component.tsx",
  ]);
});

test("no line is wider than the width, and no control character is left", () => {
  const label = fc.string({
    unit: fc.constantFrom("a", "/", "模", "😀", "e\u0301", "\u001b", "\t", "\n", "\u202e", "\ud800"),
  });
  const items = fc.array(fc.record({ value: label, label, positions: fc.array(fc.nat(20)), description: label }));
  fc.assert(
    fc.property(
      items,
      fc.nat(20),
      fc.integer({ min: 1, max: 50 }),
      fc.nat(9),
      fc.boolean(),
      (all, at, width, maxRows, ascii) => {
        const menu = { items: all, total: all.length, selected: Math.min(at, Math.max(0, all.length - 1)) };
        const glyphs = ascii ? ASCII_GLYPHS : UNICODE_GLYPHS;
        const lines = completionLines(menu, { ...options, width, maxRows, glyphs });
        expect(lines.length).toBeLessThanOrEqual(Math.min(8, maxRows));
        for (const line of lines) {
          expect(lineWidth(line)).toBeLessThanOrEqual(width);
          expect(plainText(line)).not.toMatch(/[\p{Cc}\p{Cs}\u202e]/u);
        }
      },
    ),
  );
});

const sources = (strings: typeof en.commands) => ({
  commands: describeCommands(strings),
  files: createFileList(["src/app.ts", "src/ui/app.tsx", "文档/说明.md", "my folder/a b.txt"]),
  arguments: {},
});

test.each([40, 80, 120])("the menus at %d columns", async (width) => {
  const frames = [en.commands, zh.commands].flatMap((strings) =>
    (["command", "file"] as const).flatMap((kind) =>
      [UNICODE_GLYPHS, ASCII_GLYPHS].map((glyphs) => {
        const { items, total } = completionItems(
          { kind, query: "", start: 0, end: 1 },
          sources(strings),
          plainRank,
          50,
        );
        const lines = completionLines({ items, total, selected: 2 }, { width, maxRows: 8, glyphs, strings });
        return lines.map(plainText).join("\n");
      }),
    ),
  );
  await expect(`${frames.join("\n\n")}\n`).toMatchFileSnapshot(`../frames/commands/menu-${width}.txt`);
});
