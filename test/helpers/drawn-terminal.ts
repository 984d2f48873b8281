import { EventEmitter } from "node:events";
import xterm from "@xterm/headless";
import type { TerminalOutput } from "../../src/ui/terminal/screen.ts";
import { displayWidth } from "../../src/ui/width.ts";

export type DrawnTerminal = {
  readonly output: TerminalOutput & EventEmitter & { columns: number; rows: number; writableNeedDrain: boolean };
  /** What was written since the last look, a text for each write. */
  readonly takeWrites: () => readonly string[];
  /** Scrollback and screen without blank rows at the end, once the terminal has taken in everything. */
  readonly rows: () => Promise<readonly string[]>;
  /** Where the cursor is, in the rows that `rows` gives. */
  readonly cursor: () => { readonly row: number; readonly column: number };
  readonly isCursorHidden: () => boolean;
  readonly resize: (columns: number, rows: number) => Promise<void>;
  /** Another program writes. */
  readonly writeElsewhere: (text: string) => void;
};

/** What a screen writes to, and what a terminal makes of it. Widths are those that we count with. */
export const drawnTerminal = (columns: number, rows: number, options: xterm.ITerminalOptions = {}): DrawnTerminal => {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true, ...options });
  terminal.unicode.register(WIDTHS);
  terminal.unicode.activeVersion = WIDTHS.version;
  let writes: string[] = [];
  let isHidden = false;
  const take = (text: string): void => {
    for (const [, set] of text.matchAll(/\x1b\[\?25([hl])/g)) isHidden = set === "l";
    terminal.write(text);
  };
  const output = Object.assign(new EventEmitter(), {
    columns,
    rows,
    writableNeedDrain: false,
    write: (text: string) => {
      writes.push(text);
      take(text);
      return true;
    },
  });
  const settled = (): Promise<void> => new Promise((resolve) => terminal.write("", resolve));
  return {
    output,
    takeWrites: () => {
      const taken = writes;
      writes = [];
      return taken;
    },
    rows: async () => {
      await settled();
      const { active } = terminal.buffer;
      const lines = Array.from(
        { length: active.length },
        (_, at) => active.getLine(at)?.translateToString(true).trimEnd() ?? "",
      );
      return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
    },
    cursor: () => {
      const { baseY, cursorX, cursorY } = terminal.buffer.active;
      return { row: baseY + cursorY, column: cursorX };
    },
    isCursorHidden: () => isHidden,
    resize: async (toColumns, toRows) => {
      await settled();
      terminal.resize(toColumns, toRows);
      output.columns = toColumns;
      output.rows = toRows;
    },
    writeElsewhere: take,
  };
};

const WIDTHS: xterm.IUnicodeVersionProvider & {
  charProperties(codePoint: number, preceding: number): number;
} = {
  version: "ours",
  wcwidth: (codePoint) => cells(codePoint),
  // As xterm.js packs it: the width in bits 1 and 2, and in bit 0 whether the character joins the one before.
  charProperties: (codePoint, preceding) => {
    const width = cells(codePoint);
    const before = (preceding >> 1) & 3;
    return width === 0 && before > 0 ? (before << 1) | 1 : width << 1;
  },
};

const cells = (codePoint: number): 0 | 1 | 2 => {
  const width = displayWidth(String.fromCodePoint(codePoint));
  return width === 0 ? 0 : width === 1 ? 1 : 2;
};
