import { visibleControls } from "../text/clean.ts";
import { type Line, type Span, span } from "./line.ts";
import { cutToWidth, displayWidth, graphemes, widthAfter } from "./width.ts";

const PRINTABLE_ASCII = /^[ -~]*$/;
const TAB_STOP = 4;
// Characters that turn the order of a whole row round, or that some terminals take for a line break.
const REORDERING = /[\u202a-\u202e\u2066-\u2069\u2028\u2029\p{Cs}]/gu;

/** Output that is already without control sequences, in one row: tabs as spaces, what reorders a row shown as `\u{…}`. */
export const outputRow = (line: string): string =>
  PRINTABLE_ASCII.test(line) ? line : expandTabs(line.replace(REORDERING, visible));

/** A line that a person decides on: tabs as spaces, everything hidden shown as `\u{…}`. */
export const checkedRow = (line: string): string =>
  PRINTABLE_ASCII.test(line) ? line : expandTabs(visibleControls(line, "\t"));

const visible = (character: string): string => visibleControls(character);

/** Tabs become spaces up to the next multiple of four cells. */
const expandTabs = (line: string): string => {
  if (!line.includes("\t")) return line;
  const [first = "", ...rest] = line.split("\t");
  let expanded = first;
  let column = displayWidth(first);
  for (const part of rest) {
    const blanks = TAB_STOP - (column % TAB_STOP);
    expanded += " ".repeat(blanks) + part;
    column += blanks + displayWidth(part);
  }
  return expanded;
};

/** The text in at most `cells`, with `ellipsis` where something is missing. */
export const cutRow = (text: string, cells: number, ellipsis: string): string => {
  if (displayWidth(text) <= cells) return text;
  const room = cells - displayWidth(ellipsis);
  return room < 1 ? cutToWidth(ellipsis, cells) : cutToWidth(text, room) + ellipsis;
};

/** Rows of at most `cells`, broken between any two characters; an empty text is one empty row. */
export const hardRows = (spans: Line, cells: number): Line[] => {
  const rows: Span[][] = [];
  let row: Span[] = [];
  let room = cells;
  const nextRow = (): void => {
    rows.push(row);
    row = [];
    room = cells;
  };
  for (const { text, roles = [] } of spans) {
    let kept = "";
    const keep = (): void => {
      if (kept !== "") row.push(span(kept, ...roles));
      kept = "";
    };
    for (const [piece, width] of pieces(text, cells)) {
      if (width > room) {
        keep();
        nextRow();
      }
      kept += piece;
      room -= width;
    }
    keep();
  }
  if (row.length > 0 || rows.length === 0) rows.push(row);
  return rows;
};

/** The smallest pieces that a row may end at, with their widths; none is wider than a row. */
function* pieces(text: string, cells: number): Generator<readonly [string, number]> {
  if (PRINTABLE_ASCII.test(text)) {
    for (const character of text) yield [character, 1];
    return;
  }
  let before = "";
  for (const cluster of graphemes(text)) {
    const width = displayWidth(cluster);
    const atMost = widthAfter(before, cluster);
    before = cluster;
    if (width > 0 ? width <= cells : atMost <= cells) yield [cluster, Math.min(atMost, cells)];
    else for (const character of cluster) yield displayWidth(character) <= cells ? one(character) : one("…");
  }
}

const one = (character: string): readonly [string, number] => [character, Math.max(1, displayWidth(character))];
