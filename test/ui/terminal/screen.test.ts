import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stripControls } from "../../../src/text/clean.ts";
import { createScreen, type Frame } from "../../../src/ui/terminal/screen.ts";
import { cutToWidth, displayWidth } from "../../../src/ui/width.ts";
import { type DrawnTerminal, drawnTerminal } from "../../helpers/drawn-terminal.ts";

const lines = (count: number, word = "line"): string[] =>
  Array.from({ length: count }, (_, index) => `${word} ${index + 1}`);

const frame = (rows: readonly string[], cursor: Frame["cursor"] = { row: rows.length - 1, column: 0 }): Frame => ({
  rows,
  cursor,
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What the terminal shows is what was printed, then the live rows, and the cursor in its place. */
const expectShown = async (
  terminal: DrawnTerminal,
  printed: readonly string[],
  { rows, cursor }: Frame,
): Promise<void> => {
  const hidden = Math.max(0, rows.length - Math.max(1, terminal.output.rows - 1));
  const live = rows.slice(hidden);
  const all = [...printed, ...live].map((row) => stripControls(row).trimEnd());
  expect(await terminal.rows()).toEqual(all.slice(0, all.findLastIndex((row) => row !== "") + 1));
  const isShown = cursor !== null && cursor.row >= hidden;
  expect(terminal.isCursorHidden()).toBe(!isShown);
  if (isShown) expect(terminal.cursor()).toEqual({ row: printed.length + cursor.row - hidden, column: cursor.column });
};

type Step = { readonly print?: readonly string[]; readonly draw?: Frame };

const INPUT = ["────", "› ", "  ask"];

const TABLE: readonly (readonly [string, readonly Step[]])[] = [
  ["a first region", [{ draw: frame(INPUT, { row: 1, column: 2 }) }]],
  ["lines above a region in the middle of the screen", [{ draw: frame(INPUT) }, { print: lines(3) }]],
  [
    "lines above a region at the bottom",
    [{ print: lines(9) }, { draw: frame(INPUT) }, { print: lines(2, "more") }, { print: lines(4, "last") }],
  ],
  ["lines that fill the screen exactly", [{ draw: frame(INPUT) }, { print: lines(7) }]],
  ["as many lines as make the region leave the screen", [{ draw: frame(INPUT) }, { print: lines(8) }]],
  ["more lines than the screen has rows", [{ draw: frame(INPUT) }, { print: lines(25) }, { print: ["after"] }]],
  ["lines before any region", [{ print: lines(3) }, { draw: frame(INPUT) }]],
  ["a growing region", [{ draw: frame(["a"]) }, { draw: frame(["a", "b", "c"]) }, { draw: frame(lines(9)) }]],
  ["a shrinking region", [{ draw: frame(lines(8)) }, { draw: frame(["line 1"]) }, { print: ["done"] }]],
  [
    "a region that goes away and comes back",
    [{ draw: frame(INPUT) }, { draw: frame([], null) }, { draw: frame(INPUT) }],
  ],
  [
    "a region higher than the screen",
    [{ draw: frame(lines(30)) }, { print: lines(2, "p") }, { draw: frame(lines(12)) }],
  ],
  [
    "a cursor that is above what is shown of a high region is hidden",
    [{ draw: frame(lines(30), { row: 3, column: 1 }) }, { draw: frame(lines(3), { row: 0, column: 1 }) }],
  ],
  ["a hidden cursor", [{ draw: frame(INPUT, null) }, { print: ["x"] }, { draw: frame(INPUT) }, { print: ["y"] }]],
  [
    "only the cursor moves",
    [{ draw: frame(INPUT, { row: 1, column: 2 }) }, { draw: frame(INPUT, { row: 0, column: 3 }) }],
  ],
  [
    "empty lines and rows",
    [{ print: ["", "a", ""] }, { draw: frame(["", "b", ""], { row: 1, column: 1 }) }, { print: ["", ""] }],
  ],
  [
    "lines and a new region at once",
    [{ draw: frame(["old 1", "old 2"]) }, { print: lines(3), draw: frame(["new", "old 2", "third"]) }],
  ],
  [
    "wide and coloured rows that get shorter",
    [
      { draw: frame(["\x1b[32m你好世界\x1b[39m", "🎉🎉"]) },
      { draw: frame(["\x1b[32m你\x1b[39m", "🎉"], { row: 0, column: 2 }) },
    ],
  ],
];

describe("a screen", () => {
  test.each(TABLE)("draws %s", async (_name, steps) => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    const printed: string[] = [];
    let shown = frame([], null);
    for (const { print, draw } of steps) {
      if (print) screen.print(print);
      if (draw) screen.draw(draw);
      screen.flush();
      printed.push(...(print ?? []));
      shown = draw ?? shown;
      await expectShown(terminal, printed, shown);
    }
  });

  test("begins below what the shell has written", async () => {
    const terminal = drawnTerminal(20, 5);
    terminal.writeElsewhere("$ one\r\n$ two\r\n$ harness9\r\n");
    const screen = createScreen(terminal.output);
    screen.draw(frame(INPUT));
    screen.print(["hello"]);
    screen.flush();
    expect(await terminal.rows()).toEqual(["$ one", "$ two", "$ harness9", "hello", "────", "›", "  ask"]);
  });

  test("writes nothing when nothing has changed", () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.draw(frame(INPUT));
    screen.flush();
    terminal.takeWrites();
    screen.draw(frame([...INPUT]));
    screen.print([]);
    screen.flush();
    expect(terminal.takeWrites()).toEqual([]);
  });

  test("a change of one row is that row alone", () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.draw(frame(["one", "two", "› "], { row: 2, column: 2 }));
    screen.flush();
    terminal.takeWrites();
    screen.draw(frame(["one", "2.", "› "], { row: 2, column: 2 }));
    screen.flush();
    expect(terminal.takeWrites()).toEqual(["\x1b[1A\r2.\x1b[K\x1b[1B\r\x1b[2C"]);
  });

  test("several changes are one synchronized frame, the cursor out of sight meanwhile", () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.draw(frame(["one", "two"]));
    screen.flush();
    terminal.takeWrites();
    screen.draw(frame(["1", "2"]));
    screen.print(["done"]);
    screen.flush();
    const [write = "", ...more] = terminal.takeWrites();
    expect(more).toEqual([]);
    expect(write).toMatch(/^\x1b\[\?2026h\x1b\[\?25l.*\x1b\[\?25h\x1b\[\?2026l$/s);
  });

  test("of text that grows only what is new is written", () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.draw(frame(["● 你好", "› "], { row: 1, column: 2 }));
    screen.flush();
    terminal.takeWrites();
    screen.draw(frame(["● 你好 and", "› "], { row: 1, column: 2 }));
    screen.flush();
    expect(terminal.takeWrites()).toEqual(["\x1b[1A\r\x1b[6C and\x1b[1B\r\x1b[2C"]);
  });

  test.each([
    ["an accent", "cafe", "cafe\u0301"],
    ["a joined emoji", "👩", "👩\u200d👧"],
    ["a skin colour", "👍", "👍🏽"],
    ["a presentation", "❤", "❤\ufe0f"],
    ["a flag's second half", "🇩", "🇩🇪"],
    ["half a pair", "\ud83d", "🎉"],
  ])("a character that becomes another by %s is written again with its row", (_name, before, after) => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.draw(frame([before]));
    screen.flush();
    terminal.takeWrites();
    screen.draw(frame([after]));
    screen.flush();
    expect(terminal.takeWrites()).toEqual([`\r${after}\x1b[K\r`]);
  });

  test("all that changes in one turn of the event loop is one write", async () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.draw(frame(["a"]));
    screen.print(["one"]);
    screen.print(["two"]);
    screen.draw(frame(["b"]));
    expect(terminal.takeWrites()).toEqual([]);
    await turn();
    expect(terminal.takeWrites()).toHaveLength(1);
    await expectShown(terminal, ["one", "two"], frame(["b"]));
  });

  test("a terminal that cannot keep up gets the newest state once it has drained, in one write", async () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    terminal.output.writableNeedDrain = true;
    for (let index = 0; index < 30; index++) {
      screen.print([`p${index}`]);
      screen.draw(frame([`frame ${index}`]));
      await turn();
    }
    expect(terminal.takeWrites()).toEqual([]);
    expect(terminal.output.listenerCount("drain")).toBe(1);
    terminal.output.writableNeedDrain = false;
    terminal.output.emit("drain");
    await turn();
    expect(terminal.takeWrites()).toHaveLength(1);
    await expectShown(
      terminal,
      lines(30, "p").map((_, index) => `p${index}`),
      frame(["frame 29"]),
    );
  });

  test("takes as many lines as there are", async () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.print(Array.from({ length: 300_000 }, () => ""));
    screen.draw(frame(["end"]));
    screen.flush();
    expect((await terminal.rows()).at(-1)).toBe("end");
  });

  test("a pause leaves the finished text and a visible cursor at its end, and what comes meanwhile waits", async () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.print(["one"]);
    screen.draw(frame(INPUT, null));
    screen.flush();
    screen.print(["two"]);
    screen.pause();
    expect(await terminal.rows()).toEqual(["one", "two"]);
    expect(terminal.cursor()).toEqual({ row: 2, column: 0 });
    expect(terminal.isCursorHidden()).toBe(false);
    terminal.takeWrites();
    screen.print(["three"]);
    screen.draw(frame(["› x"], { row: 0, column: 3 }));
    await turn();
    screen.flush();
    expect(terminal.takeWrites()).toEqual([]);
    terminal.writeElsewhere("editor\r\n");
    screen.resume();
    await turn();
    await expectShown(terminal, ["one", "two", "editor", "three"], frame(["› x"], { row: 0, column: 3 }));
  });

  test("a pause in a pause and a resize in one change nothing", async () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.print(["one"]);
    screen.draw(frame(INPUT));
    screen.flush();
    screen.pause();
    terminal.takeWrites();
    screen.pause();
    screen.redraw();
    screen.hold();
    screen.resized();
    await turn();
    expect(terminal.takeWrites()).toEqual([]);
    screen.resume();
    screen.flush();
    await expectShown(terminal, ["one"], frame(INPUT));
  });

  test("a redraw repairs what another program has written over the region", async () => {
    const terminal = drawnTerminal(20, 10);
    const screen = createScreen(terminal.output);
    screen.print(["one"]);
    screen.draw(frame(INPUT, { row: 1, column: 2 }));
    screen.flush();
    terminal.writeElsewhere("\x1b7\r\x1b[1Agarbage\r\n\n!!!\x1b8");
    screen.redraw();
    screen.flush();
    await expectShown(terminal, ["one"], frame(INPUT, { row: 1, column: 2 }));
  });
});

describe("a terminal that changes its size", () => {
  const region = frame(["─".repeat(38), "› word word", "  ask"], { row: 1, column: 10 });
  const narrow = frame(["─".repeat(14), "› word word", "  ask"], { row: 1, column: 10 });

  test.each([
    ["wider", 60, 10, region],
    ["higher", 40, 20, region],
    ["lower", 40, 5, region],
    ["narrower than the region", 15, 10, narrow],
    ["narrower and lower", 15, 6, narrow],
  ])("%s has one region, and all that was printed", async (_name, columns, rows, next) => {
    const printed = lines(12, "p");
    const terminal = drawnTerminal(40, 10);
    const screen = createScreen(terminal.output);
    screen.print(printed);
    screen.draw(region);
    screen.flush();
    await terminal.resize(columns, rows);
    screen.hold();
    screen.resized();
    screen.draw(next);
    screen.flush();
    await expectShown(terminal, printed, next);
  });

  test("a window that is dragged has no ghosts, though the terminal loses the cursor when a row below it wraps", async () => {
    const wide = frame(["─".repeat(38), "› word word", `  ${"status ".repeat(5)}`.trimEnd()], { row: 1, column: 10 });
    const terminal = drawnTerminal(40, 10);
    const screen = createScreen(terminal.output);
    screen.print(["one", "two"]);
    screen.draw(wide);
    screen.flush();
    for (let columns = 39; columns > 12; columns--) {
      await terminal.resize(columns, 10);
      screen.hold();
    }
    for (let columns = 12; columns < 60; columns += 3) {
      await terminal.resize(columns, 8 + (columns % 5));
      screen.hold();
    }
    screen.resized();
    screen.flush();
    await expectShown(terminal, ["one", "two"], wide);
  });

  test("rows of wide characters are wrapped before one that has no room", async () => {
    const terminal = drawnTerminal(40, 10);
    const screen = createScreen(terminal.output);
    screen.print(["one"]);
    screen.draw(frame(["你好".repeat(9), "› "], { row: 1, column: 2 }));
    screen.flush();
    await terminal.resize(15, 10);
    screen.hold();
    screen.resized();
    screen.draw(frame(["你好", "› "], { row: 1, column: 2 }));
    screen.flush();
    await expectShown(terminal, ["one"], frame(["你好", "› "], { row: 1, column: 2 }));
  });

  test("nothing is erased from a row's first cell on: at the top of the screen, tmux would make history of it", async () => {
    const terminal = drawnTerminal(30, 6);
    const screen = createScreen(terminal.output);
    screen.draw(frame(INPUT, { row: 1, column: 2 }));
    screen.flush();
    await terminal.resize(30, 10);
    screen.hold();
    screen.resized();
    screen.draw(frame(INPUT, { row: 1, column: 2 }));
    screen.print(lines(20));
    screen.flush();
    screen.draw(frame(["one"]));
    screen.flush();
    screen.pause();
    expect(terminal.takeWrites().join("")).not.toMatch(/(?:^|[\r\n])\x1b\[J/);
    expect(await terminal.rows()).toEqual(lines(20));
  });

  test("where the cursor's own row is not wrapped anew, nothing that was printed is lost", async () => {
    const terminal = drawnTerminal(40, 10);
    const screen = createScreen(terminal.output);
    screen.print(["one", "two"]);
    screen.draw(frame(["x".repeat(37)], { row: 0, column: 37 }));
    screen.flush();
    await terminal.resize(15, 10);
    screen.hold();
    screen.resized();
    screen.draw(frame(["xx"], { row: 0, column: 2 }));
    screen.flush();
    expect((await terminal.rows()).slice(0, 2)).toEqual(["one", "two"]);
  });
});

describe("whatever sizes a terminal takes", () => {
  const size = fc.record({ columns: fc.integer({ min: 8, max: 60 }), rows: fc.integer({ min: 3, max: 15 }) });
  const row = fc
    .array(fc.constantFrom("x", "word ", "你好", "────"), { minLength: 1, maxLength: 12 })
    .map((parts) => `|${parts.join("")}`);
  const step = fc.record({
    size,
    printed: fc.nat(3),
    rows: fc.array(row, { minLength: 1, maxLength: 5 }),
    cursor: fc.nat(),
  });

  test("no finished line is lost or written twice, and the region is whole at the end", async () => {
    await fc.assert(
      fc.asyncProperty(size, fc.array(step, { minLength: 1, maxLength: 6 }), async (first, steps) => {
        const terminal = drawnTerminal(first.columns, first.rows);
        const screen = createScreen(terminal.output);
        let printed = 0;
        let shown: readonly string[] = [];
        const put = (rows: readonly string[], count: number, cursor: number): void => {
          screen.print(Array.from({ length: count }, () => `p${++printed}.`));
          shown = rows.map((one) => cutToWidth(one, screen.columns - 1));
          const at = cursor % shown.length;
          screen.draw({ rows: shown, cursor: { row: at, column: cursor % (displayWidth(shown[at] ?? "") + 1) } });
          screen.flush();
        };
        put(["|first"], 5, 0);
        for (const { size: next, printed: count, rows, cursor } of steps) {
          await terminal.resize(next.columns, next.rows);
          screen.hold();
          screen.resized();
          put(rows, count, cursor);
        }
        const all = await terminal.rows();
        expect(all.filter((line) => line.startsWith("p"))).toEqual(
          Array.from({ length: printed }, (_, index) => `p${index + 1}.`),
        );
        const visible = shown.slice(-Math.max(1, terminal.output.rows - 1)).map((line) => line.trimEnd());
        expect(all.slice(-visible.length)).toEqual(visible);
      }),
      { numRuns: 150 },
    );
  });
});

describe("whatever is printed and drawn", () => {
  const COLUMNS = 24;
  const painted = (text: string): string => (text === "" ? text : `\x1b[31m${text}\x1b[39m`);
  const text = fc
    .tuple(
      fc.array(fc.constantFrom("a", "b ", "word ", "你", "好", "世界", "🎉", "e\u0301", "─", "  ", "$1"), {
        maxLength: 12,
      }),
      fc.boolean(),
    )
    .map(([parts, isPainted]) => {
      const row = cutToWidth(parts.join(""), COLUMNS - 1);
      return isPainted ? painted(row) : row;
    });
  const rowsWithCursor = fc
    .tuple(fc.array(text, { maxLength: 12 }), fc.nat(), fc.nat(), fc.boolean())
    .map(([rows, row, column, isHidden]): Frame => {
      const at = rows.length === 0 ? 0 : row % rows.length;
      const width = displayWidth(stripControls(rows[at] ?? ""));
      return { rows, cursor: isHidden || rows.length === 0 ? null : { row: at, column: column % (width + 1) } };
    });
  const step = fc.record({
    print: fc.array(text, { maxLength: 12 }),
    draw: fc.option(rowsWithCursor),
    /** The last row grows, as an answer does. */
    grows: fc.option(fc.constantFrom("x", "你", " y", "🎉")),
  });

  test("each line stands there once and in order, the live rows below, the cursor where it should be", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.integer({ min: 2, max: 12 }), async (steps, rows) => {
        const terminal = drawnTerminal(COLUMNS, rows);
        const screen = createScreen(terminal.output);
        const printed: string[] = [];
        let shown: Frame = { rows: [], cursor: null };
        for (const { print, draw, grows } of steps) {
          if (print.length > 0) screen.print(print);
          printed.push(...print);
          if (draw) shown = draw;
          else if (grows !== null) shown = grown(shown, grows);
          screen.draw(shown);
          screen.flush();
          await expectShown(terminal, printed, shown);
        }
        const written = terminal.takeWrites().join("");
        expect(written).not.toMatch(/\x1b\[(?:[23]J|[\d;]*H|\?1049)/);
      }),
      { numRuns: 150 },
    );
  });

  const grown = ({ rows, cursor }: Frame, by: string): Frame => {
    const last = rows.at(-1) ?? "";
    const next = cutToWidth(stripControls(last) + by, COLUMNS - 1);
    return { rows: [...rows.slice(0, -1), next], cursor: rows.length === 0 ? null : cursor };
  };
});
