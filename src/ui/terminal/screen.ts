import { stripControls } from "../../text/clean.ts";
import { displayWidth, graphemes } from "../width.ts";

/** What a screen writes to: a terminal, as process.stdout is one. */
export type TerminalOutput = {
  readonly columns?: number;
  readonly rows?: number;
  readonly writableNeedDrain?: boolean;
  write(text: string): unknown;
  once(event: "drain", listener: () => void): unknown;
};

/** The rows below the finished text, painted, each narrower than the terminal; the cursor stands in one of them, or is hidden. */
export type Frame = {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number } | null;
};

/**
 * The terminal as two parts: finished lines, which are written once and then belong to the terminal's scrollback, and
 * below them a small live region that is drawn again where it changed. Everything that changed in one turn of the event
 * loop is one write.
 */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /** Adds finished lines above the live region. */
  print(lines: readonly string[]): void;
  /** Replaces the live region. */
  draw(frame: Frame): void;
  /** Writes what is waiting now. */
  flush(): void;
  /** The size begins to change: takes away the rows below the cursor, and writes nothing until `resized`. */
  hold(): void;
  /** The size has changed: takes the rest off the terminal, which has wrapped it anew, and draws the live region again. */
  resized(): void;
  /** Takes the live region away, and writes nothing until `resume`: another program has the terminal. */
  pause(): void;
  /** Draws the whole live region where the cursor is now. */
  resume(): void;
  /** Draws the whole live region again in its place. */
  redraw(): void;
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
// Terminals that do not know synchronized output ignore it.
const BEGIN_SYNC = "\x1b[?2026h";
const END_SYNC = "\x1b[?2026l";
const ERASE_TO_END_OF_LINE = "\x1b[K";
// The cursor's row by itself, the rest from its second cell: what is erased from a screen's first cell on, tmux keeps in its
// history, where each would be a ghost.
const ERASE_BELOW = "\x1b[K\x1b[C\x1b[J\r";

const EMPTY: Frame = { rows: [], cursor: null };

export const createScreen = (output: TerminalOutput): Screen => {
  let finished: string[] = [];
  /** What the live region should be, and what the terminal shows of it. */
  let wanted = EMPTY;
  let shown: readonly string[] = [];
  /** Where the terminal's cursor is, counted from the live region's first cell. */
  let at = { row: 0, column: 0 };
  let isCursorHidden = false;
  let isScheduled = false;
  let isPaused = false;
  let isHeld = false;

  const columns = (): number => output.columns || 80;
  const rows = (): number => output.rows || 24;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(writeWhenDrained);
  };

  /** A terminal that cannot keep up gets the newest state once it has read the last one. */
  const writeWhenDrained = (): void => {
    if (output.writableNeedDrain) {
      output.once("drain", writeWhenDrained);
      return;
    }
    isScheduled = false;
    flush();
  };

  const flush = (): void => {
    if (isPaused || isHeld) return;
    const frame = fit(wanted, rows());
    const changes = rowChanges(frame);
    if (changes === "") return;
    // One changed row needs no protection against being seen half done.
    const isOneRow = finished.length === 0 && frame.rows.length === shown.length && count(frame) <= 1;
    finished = [];
    shown = frame.rows;
    output.write(
      isOneRow
        ? changes
        : `${BEGIN_SYNC}${isCursorHidden ? "" : HIDE_CURSOR}${changes}${isCursorHidden ? "" : SHOW_CURSOR}${END_SYNC}`,
    );
  };

  const count = (frame: Frame): number => frame.rows.filter((row, index) => row !== shown[index]).length;

  /** The text that turns what is shown into the frame, with the finished lines above it. */
  const rowChanges = (frame: Frame): string => {
    let text = "";
    const move = (row: number): void => {
      text += vertical(row - at.row);
      text += "\r";
      at = { row, column: 0 };
    };
    let before = shown;
    if (finished.length > 0) {
      if (shown.length > 0 && finished.length + shown.length < rows()) {
        // Room is made above the live region: its rows move down as they are, and what leaves the screen is scrollback.
        move(shown.length - 1);
        text += "\n".repeat(finished.length);
        at = { row: shown.length - 1 + finished.length, column: 0 };
        move(0);
        text += `\x1b[${finished.length}L${finished.join("\r\n")}`;
        at = { row: finished.length - 1, column: 0 };
        text += "\r\n";
      } else {
        move(0);
        for (const line of finished) text += `${line}${ERASE_TO_END_OF_LINE}\r\n`;
        text += ERASE_BELOW;
        before = [];
      }
      at = { row: 0, column: 0 };
    }
    frame.rows.forEach((row, index) => {
      if (row === before[index]) return;
      if (index < before.length) move(index);
      else if (index > 0) {
        move(index - 1);
        text += "\n";
        at = { row: index, column: 0 };
      } else move(0);
      const old = before[index] ?? "";
      // Text that grows, as an answer does: what stands there already is not written again.
      if (old !== "" && row.startsWith(old) && !row.includes("\x1b") && isBetweenCharacters(row, old.length))
        text += `${right(displayWidth(old))}${row.slice(old.length)}`;
      else text += `${row}${ERASE_TO_END_OF_LINE}`;
    });
    if (before.length > frame.rows.length) {
      if (frame.rows.length > 0) {
        move(frame.rows.length - 1);
        text += "\n\r";
        at = { row: frame.rows.length, column: 0 };
      } else move(0);
      text += ERASE_BELOW;
    }
    return text + place(frame, text !== "");
  };

  /** Moves the cursor to its place in the frame. */
  const place = ({ cursor, rows: frameRows }: Frame, hasWritten: boolean): string => {
    const target = cursor ?? { row: Math.max(0, frameRows.length - 1), column: 0 };
    const isThere = !hasWritten && target.row === at.row && target.column === at.column;
    const text = isThere ? "" : `${vertical(target.row - at.row)}\r${right(target.column)}`;
    at = target;
    if ((cursor === null) === isCursorHidden) return text;
    isCursorHidden = cursor === null;
    return text + (isCursorHidden ? HIDE_CURSOR : SHOW_CURSOR);
  };

  /**
   * Takes the shown rows away, each of which may have become several. Some terminals leave the cursor's own row as it
   * was; it counts as one, so that at worst a ghost of ours stays, never a finished line goes.
   */
  const clear = (): void => {
    if (isPaused) return;
    const width = columns();
    const above = shown.slice(0, at.row).reduce((sum, row) => sum + wrappedHeight(row, width), 0);
    if (shown.length > 0) output.write(`${vertical(-Math.min(above, rows() - 1))}\r${ERASE_BELOW}`);
    shown = [];
    at = { row: 0, column: 0 };
  };

  /** Some terminals lose the cursor when rows below it wrap; how those above wrap, `clear` can tell once the size stays. */
  const clearBelow = (): void => {
    if (isPaused || shown.length <= at.row + 1) return;
    // From where the cursor is: a terminal that has become lower may have no row below.
    output.write("\x1b[J");
    shown = shown.slice(0, at.row + 1);
  };

  return {
    get columns() {
      return columns();
    },
    get rows() {
      return rows();
    },
    print: (lines) => {
      for (const line of lines) finished.push(line);
      schedule();
    },
    draw: (frame) => {
      wanted = frame;
      schedule();
    },
    flush,
    hold: () => {
      if (isHeld) return;
      clearBelow();
      isHeld = true;
    },
    resized: () => {
      isHeld = false;
      clear();
      schedule();
    },
    pause: () => {
      if (isPaused) return;
      if (isHeld) clear();
      isHeld = false;
      const frame = wanted;
      wanted = EMPTY;
      flush();
      wanted = frame;
      if (isCursorHidden) output.write(SHOW_CURSOR);
      isCursorHidden = false;
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      shown = [];
      at = { row: 0, column: 0 };
      schedule();
    },
    redraw: () => {
      clear();
      schedule();
    },
  };
};

/** Whether what follows cannot make another character of the one before: no accent, no second half. */
const isBetweenCharacters = (text: string, at: number): boolean => {
  const before = graphemes(text.slice(0, at)).at(-1) ?? "";
  return graphemes(before + text.slice(at, at + LONGEST_PART))[0] === before;
};

const LONGEST_PART = 16;

/** Rows that a terminal makes of one that has become too wide. A wide character is not divided. */
const wrappedHeight = (row: string, width: number): number => {
  const text = stripControls(row);
  if (displayWidth(text) <= width) return 1;
  let height = 1;
  let used = 0;
  for (const character of graphemes(text)) {
    const cells = displayWidth(character);
    if (used + cells > width) {
      height += 1;
      used = 0;
    }
    used += cells;
  }
  return height;
};

const right = (by: number): string => (by === 0 ? "" : `\x1b[${by}C`);

const vertical = (by: number): string => (by === 0 ? "" : by > 0 ? `\x1b[${by}B` : `\x1b[${-by}A`);

/** A live region as high as the screen would scroll at each change: the last rows are kept. */
const fit = ({ rows, cursor }: Frame, height: number): Frame => {
  const hidden = Math.max(0, rows.length - Math.max(1, height - 1));
  if (hidden === 0) return { rows, cursor };
  const isInView = cursor !== null && cursor.row >= hidden;
  return { rows: rows.slice(hidden), cursor: isInView ? { row: cursor.row - hidden, column: cursor.column } : null };
};
