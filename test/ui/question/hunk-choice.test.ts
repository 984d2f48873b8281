import fc from "fast-check";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, plainText, span } from "../../../src/ui/line.ts";
import { chooseHunks, hunkKey, hunkLines } from "../../../src/ui/question/hunk-choice.ts";
import type { KeyInput } from "../../../src/ui/terminal/keys.ts";

const options = { width: 79, glyphs: UNICODE_GLYPHS, strings: en };
const press = (chord: string): KeyInput => ({ type: "key", chord }) as KeyInput;
const title: Line = [span("? edit_file")];

/** Hunks of so many rows, each row with a text of its own. */
const rowsOf = (...heights: readonly number[]): readonly (readonly Line[])[] =>
  heights.map((height, hunk) => Array.from({ length: height }, (_, row) => [span(`row ${hunk}.${row}`)]));

const shown = (choice: ReturnType<typeof chooseHunks>, maxRows: number): readonly string[] =>
  hunkLines(choice, title, { ...options, maxRows }).map((line) => plainText(line));

test("what fits is shown whole", () => {
  expect(shown(chooseHunks(rowsOf(1, 2)), 10)).toEqual([
    "? edit_file",
    "  › [x] hunk 1 of 2  kept",
    "row 0.0",
    "    [x] hunk 2 of 2  kept",
    "row 1.0",
    "row 1.1",
    `    ${en.question.hunkKeys}`,
  ]);
});

test("in the midst of a hunk its mark stands above what is shown of it", () => {
  const choice = { ...chooseHunks(rowsOf(1, 9, 1)), selected: 1, scroll: 4, kept: [true, false, true] };
  expect(shown(choice, 7)).toEqual([
    "? edit_file",
    "  › [ ] hunk 2 of 3  left out  … 6 rows above",
    "row 1.3",
    "row 1.4",
    "row 1.5",
    "    … 5 rows below",
    `    ${en.question.hunkKeys}`,
  ]);
});

test("going down shows every row once at least, and what is not in the window is counted to the row", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 6, max: 40 }),
      (heights, maxRows) => {
        const total = heights.reduce((sum, height) => sum + height + 1, 0);
        const seen = new Set<string>();
        let choice = chooseHunks(rowsOf(...heights));
        // No estimate of the room is higher than the room.
        const room = maxRows - 2;
        for (let presses = 0; presses < 200; presses += 1) {
          const lines = shown(choice, maxRows);
          expect(lines.length).toBeLessThanOrEqual(maxRows);
          const rows = lines.filter((line) => line.startsWith("row"));
          const heads = lines.filter((line) => line.includes("hunk ") && !line.includes("above"));
          const [hidden, more] = ["above", "below"].map((where) =>
            Number(new RegExp(`(\\d+) rows? ${where}`).exec(lines.join("\n"))?.[1] ?? 0),
          );
          expect(rows.length + heads.length + (hidden ?? 0) + (more ?? 0)).toBe(total);
          for (const row of rows) seen.add(row);
          const next = hunkKey(choice, press("down"), room);
          if (next === choice) break;
          choice = next ?? choice;
        }
        expect(seen.size).toBe(total - heights.length);
        expect(choice.selected).toBe(heights.length - 1);
      },
    ),
  );
});

test("any keys leave a choice of as many hunks, one of them selected", () => {
  const key = fc.oneof(
    fc.constantFrom("up", "down", "pageup", "pagedown", "ctrl+n", "ctrl+p").map(press),
    fc.constantFrom("y", "n", " ", "a", "x", "yn", "👍").map((text): KeyInput => ({ type: "text", text })),
  );
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.array(key),
      (heights, keys) => {
        const choice = keys.reduce(
          (before, pressed) => hunkKey(before, pressed, 5) ?? before,
          chooseHunks(rowsOf(...heights)),
        );
        expect(choice.kept).toHaveLength(heights.length);
        expect(choice.hunks[choice.selected]).toBeDefined();
        expect(choice.scroll).toBeLessThanOrEqual(heights[choice.selected] ?? 0);
        expect(choice.scroll).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});

test.each(["tab", "ctrl+c", "shift+tab"])("%s means nothing to it", (chord) => {
  expect(hunkKey(chooseHunks(rowsOf(1)), press(chord), 5)).toBeUndefined();
});
