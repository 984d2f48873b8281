import { type Line, lineWidth, plainText, span } from "../line.ts";
import type { TerminalOutput } from "../terminal/screen.ts";
import { wrapSpans } from "../wrap.ts";

/** Plain rows and a prompt, and nothing else: no control character but the newline is ever written. */
export interface LineOutput {
  /** Cells that a row may take. */
  readonly width: number;
  print(lines: readonly Line[]): void;
  /** Shows that it is the person's turn; where it stands already, nothing happens. */
  prompt(): void;
  /** The terminal has ended the row, as it does at Enter. */
  rowEnded(): void;
  /** Something of the terminal's own stands in the row, as `^C`. */
  rowBegun(): void;
  /** Ends the row that has begun. */
  endRow(): void;
}

const PROMPT = "> ";
const USUAL_COLUMNS = 80;
const INDENT = "  ";

export const createLineOutput = (output: TerminalOutput): LineOutput => {
  let isInRow = false;
  let hasPrompt = false;
  const width = (): number => Math.max(1, (output.columns || USUAL_COLUMNS) - 1);
  const endRow = (): void => {
    if (isInRow) output.write("\n");
    isInRow = false;
    hasPrompt = false;
  };
  return {
    get width() {
      return width();
    },
    print: (lines) => {
      if (lines.length === 0) return;
      endRow();
      const rows = lines.flatMap((line) => fitted(line, width()));
      output.write(rows.map((row) => `${plainText(row).trimEnd()}\n`).join(""));
    },
    prompt: () => {
      if (hasPrompt) return;
      endRow();
      output.write(PROMPT);
      isInRow = true;
      hasPrompt = true;
    },
    rowEnded: () => {
      isInRow = false;
      hasPrompt = false;
    },
    rowBegun: () => {
      isInRow = true;
      hasPrompt = false;
    },
    endRow,
  };
};

/**
 * A long line in rows, the others indented as the first one and at least by two: left to the terminal, the text of
 * others would begin in the first column.
 */
const fitted = (line: Line, width: number): readonly Line[] => {
  if (lineWidth(line) <= width) return [line];
  const text = plainText(line);
  const indent = /^ */.exec(text)?.[0] ?? "";
  const rest = [span(indent.length < INDENT.length || indent.length > width / 2 ? INDENT : indent)];
  const isCode = line.every(({ text: part, roles = [] }) => part.trim() === "" || roles.includes("code"));
  return wrapSpans([span(text.slice(indent.length))], {
    width,
    first: [span(indent)],
    rest,
    breaking: isCode ? "cells" : "words",
  });
};
