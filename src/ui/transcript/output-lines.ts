import { cleanOutput } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { cutRow, hardRows, outputRow } from "../rows.ts";
import { cutToWidth } from "../width.ts";

export type OutputOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["steps"];
  /** Lines that are shown, the one that counts the hidden ones included. Infinity shows everything, long lines too. */
  readonly maxLines: number;
  /** Says how many lines are hidden; default says only that. */
  readonly more?: (hidden: number) => string;
};

const MAX_ROWS = 3;
// A row that says that two are hidden saves one.
const SPARED = 1;
// Of a line that is cut anyway no more is looked at. Control sequences take room too, so this is more than three rows.
const MAX_LOOKED_AT = 16_384;

/**
 * What a tool printed, behind the output mark: cut in the middle, the end being worth more than the beginning, and each
 * line in at most three rows. Only what is shown is looked at, whatever the size of the text.
 */
export const outputLines = (text: string, options: OutputOptions): Line[] => {
  const { glyphs, strings, maxLines, more = strings.linesMore } = options;
  const end = contentEnd(text);
  if (end === 0 || maxLines < 1) return [];
  const start = contentStart(text);
  const total = countLines(text, start, end);
  const show = (line: string): Line[] =>
    maxLines === Number.POSITIVE_INFINITY ? wholeLine(line, options) : cutLine(line, options);
  if (total <= maxLines + SPARED) return text.slice(start, end).split("\n").flatMap(show);
  const shown = maxLines - 1;
  const head = Math.ceil(shown / 3);
  const hidden = cutRow(`${glyphs.ellipsis} ${more(total - shown)}`, frame(options).cells, glyphs.ellipsis);
  return [
    ...firstLines(text, start, head).flatMap(show),
    behindMark([span(hidden, "dim")], options),
    ...lastLines(text, end, shown - head).flatMap(show),
  ];
};

/** The newest lines of a command that runs, each in one row. */
export const tailLines = (text: string, options: Pick<OutputOptions, "width" | "glyphs" | "maxLines">): Line[] => {
  const end = contentEnd(text);
  if (end === 0) return [];
  const { cells } = frame(options);
  return lastLines(text, end, options.maxLines).map((line) => {
    const row = cutRow(outputRow(lookAt(line).text), cells, options.glyphs.ellipsis);
    return behindMark(row === "" ? [] : [span(row)], options);
  });
};

type Frame = { readonly prefix: string; readonly cells: number };

/** Where little room is left the mark gives way before the text does. */
const frame = ({ width, glyphs }: Pick<OutputOptions, "width" | "glyphs">): Frame => {
  const prefix = cutToWidth(`  ${glyphs.output} `, Math.max(0, width - 2));
  return { prefix, cells: Math.max(1, width - prefix.length) };
};

const behindMark = (row: Line, options: Pick<OutputOptions, "width" | "glyphs">): Line => {
  const { prefix } = frame(options);
  return [span(row.length === 0 ? prefix.trimEnd() : prefix, "dim"), ...row];
};

const wholeLine = (line: string, options: OutputOptions): Line[] =>
  hardRows([span(outputRow(cleanOutput(line)))], frame(options).cells).map((row) => behindMark(row, options));

const cutLine = (line: string, options: OutputOptions): Line[] => {
  const { glyphs, strings } = options;
  const { cells } = frame(options);
  const looked = lookAt(line);
  const rows = hardRows([span(outputRow(looked.text))], cells);
  const shown = rows.length <= MAX_ROWS && looked.rest === 0 ? rows : rows.slice(0, MAX_ROWS - 1);
  const lines = shown.map((row) => behindMark(row, options));
  if (shown === rows) return lines;
  const hidden = characters(rows.slice(shown.length)) + looked.rest;
  const note = cutRow(`${glyphs.ellipsis} ${strings.charactersMore(hidden)}`, cells, glyphs.ellipsis);
  return [...lines, behindMark([span(note, "dim")], options)];
};

const characters = (rows: readonly Line[]): number =>
  rows.reduce((sum, row) => sum + row.reduce((length, { text }) => length + codePoints(text, 0), 0), 0);

/** The beginning of a line in its last state, clean, and how many characters come after it. */
const lookAt = (line: string): { readonly text: string; readonly rest: number } => {
  if (line.length <= MAX_LOOKED_AT) return { text: cleanOutput(line), rest: 0 };
  let end = line.length;
  while (end > 0 && line.charAt(end - 1) === "\r") end -= 1;
  const start = end === 0 ? 0 : line.lastIndexOf("\r", end - 1) + 1;
  const cut = Math.min(end, start + MAX_LOOKED_AT);
  const isSplit = cut < end && isLowSurrogate(line.charCodeAt(cut));
  const stop = isSplit ? cut - 1 : cut;
  return { text: cleanOutput(line.slice(start, stop)), rest: codePoints(line, stop, end) };
};

const codePoints = (text: string, from: number, to = text.length): number => {
  let count = 0;
  for (let at = from; at < to; at += 1) if (!isLowSurrogate(text.charCodeAt(at))) count += 1;
  return count;
};

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Where the first line begins that is not blank. */
const contentStart = (text: string): number => {
  let start = 0;
  for (let at = 0; at < text.length && " \t\r\n".includes(text.charAt(at)); at += 1)
    if (text.charAt(at) === "\n") start = at + 1;
  return start;
};

/** Where the text ends when the blank lines after it are left out. */
const contentEnd = (text: string): number => {
  let end = text.length;
  let at = end;
  while (at > 0 && " \t\r\n".includes(text.charAt(at - 1))) {
    at -= 1;
    if (text.charAt(at) === "\n") end = at;
  }
  return at === 0 ? 0 : end;
};

const countLines = (text: string, start: number, end: number): number => {
  let count = 1;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
};

const firstLines = (text: string, from: number, count: number): string[] => {
  const lines: string[] = [];
  for (let start = from; lines.length < count; ) {
    const end = text.indexOf("\n", start);
    if (end === -1) return [...lines, text.slice(start)];
    lines.push(text.slice(start, end));
    start = end + 1;
  }
  return lines;
};

const lastLines = (text: string, end: number, count: number): string[] => {
  const lines: string[] = [];
  for (let stop = end; lines.length < count; ) {
    const start = stop === 0 ? 0 : text.lastIndexOf("\n", stop - 1) + 1;
    lines.unshift(text.slice(start, stop));
    if (start === 0) break;
    stop = start - 1;
  }
  return lines;
};
