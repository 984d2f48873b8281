import fc from "fast-check";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { describeCommands } from "../../../src/ui/commands/slash-commands.ts";
import { lineWidth, plainText } from "../../../src/ui/line.ts";
import { helpLines, keyLines } from "../../../src/ui/transcript/help-lines.ts";

const keys = [
  { keys: "enter", description: "send; while it works, queue" },
  { keys: "shift+enter ctrl+j", description: "a new line" },
  { keys: "esc", description: "stop what goes on" },
  { keys: "shift+tab", description: "the next permission mode" },
  { keys: "ctrl+o", description: "all output of the last step" },
  { keys: "ctrl+r", description: "search in what has been typed" },
  { keys: "ctrl+d", description: "leave, when the input is empty" },
];
const squeezed = (lines: readonly string[]) => lines.join("").replace(/\s+/g, "");

test("no line is wider than the width, and from 40 cells on nothing is lost", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.constantFrom(en.commands, zh.commands), (width, strings) => {
      const lines = helpLines({ commands: describeCommands(strings), keys }, { width, strings });
      for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
      if (width < 40 || width >= 79) return;
      const text = squeezed(lines.map(plainText));
      for (const { description, hint } of describeCommands(strings)) {
        expect(text).toContain(squeezed([description]));
        expect(text).toContain(squeezed([hint]));
      }
      for (const { description } of keys) expect(text).toContain(squeezed([description]));
    }),
  );
});

test("the keys stand in two columns from 79 cells on, read downwards", () => {
  expect(keyLines(keys.slice(0, 3), 80).map(plainText)).toEqual([
    "  enter               send; while it      esc  stop what goes on",
    "                      works, queue",
    "  shift+enter ctrl+j  a new line",
  ]);
  expect(keyLines([], 80)).toEqual([]);
});

test.each([40, 80, 120])("/help at %d columns", async (width) => {
  const frames = [en.commands, zh.commands].map((strings) =>
    helpLines({ commands: describeCommands(strings), keys }, { width, strings })
      .map(plainText)
      .join("\n"),
  );
  await expect(`${frames.join("\n\n----\n")}\n`).toMatchFileSnapshot(`../frames/commands/help-${width}.txt`);
});
