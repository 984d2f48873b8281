import type { Strings } from "../../text/strings.ts";
import { type Glyphs, UNICODE_GLYPHS } from "../glyphs.ts";
import { type Line, plainText, span } from "../line.ts";
import { cutRow, hardRows } from "../rows.ts";
import { cutToWidth } from "../width.ts";
import { type ChangedLine, changedLines, type DiffData, markedTexts, rolesOf } from "./changed-lines.ts";

export type DiffLinesOptions = {
  readonly width: number;
  readonly strings: Strings["steps"];
  /** Default Unicode. */
  readonly glyphs?: Glyphs;
  /** Rows in all, the one that counts the hidden lines included; default everything, and no line is cut. */
  readonly maxLines?: number;
  /** Says how many lines are hidden; default says only that. */
  readonly more?: (hidden: number) => string;
};

const INDENT = 4;
const NARROW_INDENT = 2;
// Of text; with less the indentation gives way.
const COMFORTABLE_CELLS = 24;
// Number and sign with the blanks after them.
const BLANKS_AND_SIGN = 3;
const SIGNS = { context: " ", removed: "-", added: "+", gap: " " };

/**
 * A diff: line number (the old file's for a removed line), sign, text. Long lines go on under their text. Words that
 * changed are marked where two lines resemble each other.
 */
export const diffLines = (data: DiffData, options: DiffLinesOptions): Line[] => {
  const { maxLines = Number.POSITIVE_INFINITY, strings, more = strings.linesMore } = options;
  if (maxLines < 1) return [];
  const lines = changedLines(data);
  const layout = layoutOf(lines, options);
  const { glyphs } = layout;
  const ends = chooseEnds(lines, maxLines, layout.cells);
  if (ends === undefined) return draw(lines, Number.POSITIVE_INFINITY, layout);
  const note = cutRow(`${glyphs.ellipsis} ${more(ends.hidden)}`, layout.cells, glyphs.ellipsis);
  return [
    ...draw(ends.head, ends.maxRows, layout),
    ...(ends.hidden === 0 ? [] : [[span(" ".repeat(layout.prefixWidth)), span(note, "dim")]]),
    ...draw(ends.tail, ends.maxRows, layout),
  ];
};

type Layout = {
  readonly glyphs: Glyphs;
  readonly strings: Strings["steps"];
  readonly indent: number;
  readonly numberWidth: number;
  /** Before the text. */
  readonly prefixWidth: number;
  /** Of the text. */
  readonly cells: number;
};

const layoutOf = (lines: readonly ChangedLine[], options: DiffLinesOptions): Layout => {
  const { width, strings, glyphs = UNICODE_GLYPHS } = options;
  const numberWidth = Math.max(2, String(lines.reduce((max, { number }) => Math.max(max, number), 0)).length);
  const columns = numberWidth + BLANKS_AND_SIGN;
  const indent = width - INDENT - columns < COMFORTABLE_CELLS ? NARROW_INDENT : INDENT;
  const cells = Math.max(width - indent - columns, Math.min(width, 2), 1);
  return { glyphs, strings, indent, numberWidth, cells, prefixWidth: Math.max(0, width - cells) };
};

type Ends = {
  readonly head: readonly ChangedLine[];
  readonly tail: readonly ChangedLine[];
  readonly hidden: number;
  /** Of one line, or a single one would take all the room. */
  readonly maxRows: number;
};

/** What fits `maxLines` rows from both ends, beside a row that counts the rest; undefined where everything fits. */
const chooseEnds = (lines: readonly ChangedLine[], maxLines: number, cells: number): Ends | undefined => {
  if (fitting(lines, maxLines, Number.POSITIVE_INFINITY, cells).length === lines.length) return undefined;
  const maxRows = Math.max(1, Math.floor((maxLines - 1) / 2));
  const head = withoutGap(fitting(lines, Math.ceil((maxLines - 1) / 2), maxRows, cells));
  const rest = lines.slice(head.length).reverse();
  const tail = withoutGap(fitting(rest, Math.floor((maxLines - 1) / 2), maxRows, cells)).reverse();
  const hidden = rest.slice(tail.length).filter(({ kind }) => kind !== "gap").length;
  return { head, tail, hidden, maxRows };
};

/** The first lines that take at most `room` rows. */
const fitting = (
  lines: readonly ChangedLine[],
  room: number,
  maxRows: number,
  cells: number,
): readonly ChangedLine[] => {
  if (room === Number.POSITIVE_INFINITY) return lines;
  let used = 0;
  const end = lines.findIndex((line) => {
    used += Math.min(maxRows, hardRows([span(line.text)], cells).length);
    return used > room;
  });
  return end === -1 ? lines : lines.slice(0, end);
};

const withoutGap = (lines: readonly ChangedLine[]): ChangedLine[] =>
  lines.at(-1)?.kind === "gap" ? lines.slice(0, -1) : [...lines];

const draw = (lines: readonly ChangedLine[], maxRows: number, layout: Layout): Line[] => {
  const texts = markedTexts(lines);
  return lines.flatMap((line, index) => drawLine(line, cutRows(texts[index] ?? [], maxRows, layout), layout));
};

/** The rows of a text, the last one counting what is missing. */
const cutRows = (text: Line, maxRows: number, { cells, glyphs, strings }: Layout): Line[] => {
  const rows = hardRows(text, cells);
  if (rows.length <= maxRows) return rows;
  const hidden = rows.slice(maxRows - 1).reduce((sum, row) => sum + [...plainText(row)].length, 0);
  const note = cutRow(`${glyphs.ellipsis} ${strings.charactersMore(hidden)}`, cells, glyphs.ellipsis);
  return [...rows.slice(0, maxRows - 1), [span(note, "dim")]];
};

const drawLine = (line: ChangedLine, rows: readonly Line[], layout: Layout): Line[] => {
  const { indent, numberWidth, prefixWidth, glyphs } = layout;
  const number = line.kind === "gap" ? glyphs.ellipsis : String(line.number);
  const place = `${" ".repeat(indent)}${number.padStart(numberWidth)}`;
  return rows.map((row, index): Line => {
    if (index > 0) return [span(" ".repeat(prefixWidth)), ...row];
    const isBare = row.length === 0;
    const sign = isBare ? SIGNS[line.kind].trimEnd() : `${SIGNS[line.kind]} `;
    const room = Math.max(0, prefixWidth - place.length - 1);
    const shown = cutToWidth(sign, room);
    if (shown === "") return [span(cutToWidth(place, prefixWidth), "dim"), ...row];
    return [span(`${place} `, "dim"), span(shown, ...rolesOf(line)), ...row];
  });
};
