import type { Glyphs } from "../glyphs.ts";
import type { Line, Role, Span } from "../line.ts";
import { lineWidth, plainText, span } from "../line.ts";
import { displayWidth } from "../width.ts";
import { withoutTrailingSpaces, wrapSpans } from "../wrap.ts";
import { type Frame, followed, type Leaf } from "./frame.ts";
import { inlineLines } from "./inline.ts";
import { isWide } from "./settle.ts";
import { type Alignment, splitRow } from "./table-row.ts";

/** A table, held back until its columns are known well enough. */
export interface Table extends Leaf {
  readonly type: "table";
  row(line: string): Line[];
  clone(): Table;
}

/** A cell: its lines between hard breaks. */
type Cell = readonly Line[];
type Row = readonly Cell[];

// Enough rows to choose the widths; from then on each row is drawn at once.
const MAX_HELD_ROWS = 30;
// A word that is longer does not make its column wider than this where room is short.
const MAX_WORD = 16;
const MAX_WIDE = 6;
const GAP = 2;

export const createTable = (frame: Frame, glyphs: Glyphs, header: string, alignments: readonly Alignment[]): Table =>
  tableFrom({
    frame,
    glyphs,
    header: cellsOf(header, alignments.length, [...frame.roles, "bold"]),
    alignments,
    held: [],
    layout: undefined,
    hasRecord: false,
  });

type State = {
  frame: Frame;
  readonly glyphs: Glyphs;
  readonly header: Row;
  readonly alignments: readonly Alignment[];
  held: Row[];
  /** Chosen with the first rows; afterwards rows are drawn as they come. */
  layout: Layout | undefined;
  hasRecord: boolean;
};

type Layout = { readonly type: "columns"; readonly widths: readonly number[] } | { readonly type: "records" };

const tableFrom = (state: State): Table => {
  const draw = (): Line[] => {
    const lines: Line[] = [];
    if (state.layout === undefined) {
      state.layout = chooseLayout(state);
      lines.push(...headLines(state, state.layout));
    }
    const { layout } = state;
    for (const row of state.held) lines.push(...rowLines(state, layout, row));
    state.held = [];
    if (lines.length > 0) {
      const framed = lines.map((line, at) => [...(at === 0 ? state.frame.first : state.frame.rest), ...line]);
      state.frame = followed(state.frame);
      return framed;
    }
    return [];
  };
  return {
    type: "table",
    row: (line) => {
      state.held.push(cellsOf(line, state.alignments.length, state.frame.roles));
      return state.layout === undefined && state.held.length < MAX_HELD_ROWS ? [] : draw();
    },
    write: () => [],
    endLine: () => [],
    end: draw,
    clone: () => tableFrom({ ...state, held: [...state.held] }),
  };
};

/** As many cells as there are columns; what a row has more goes into its last one, so that nothing is lost. */
const cellsOf = (line: string, columns: number, roles: readonly Role[]): Row => {
  const cells = splitRow(line);
  return Array.from({ length: columns }, (_, at) => {
    const text = at === columns - 1 ? cells.slice(at).join(" | ") : (cells[at] ?? "");
    return inlineLines(text, roles);
  });
};

const room = ({ frame }: State): number => frame.width - Math.max(lineWidth(frame.first), lineWidth(frame.rest));

const chooseLayout = (state: State): Layout => {
  const rows = [state.header, ...state.held];
  const available = room(state) - GAP * (state.alignments.length - 1);
  const natural = state.alignments.map((_, at) => Math.max(1, ...rows.map((row) => cellWidth(row[at] ?? []))));
  if (sum(natural) <= available) return { type: "columns", widths: natural };
  const least = natural.map((width, at) =>
    Math.min(width, Math.max(1, ...rows.map((row) => Math.min(MAX_WORD, longestWord(row[at] ?? []))))),
  );
  if (sum(least) > available) return { type: "records" };
  return { type: "columns", widths: shrink(natural, least, available) };
};

/** The widest columns give way first, down to the least that each needs. */
const shrink = (natural: readonly number[], least: readonly number[], available: number): readonly number[] => {
  const limited = (limit: number): readonly number[] =>
    natural.map((width, at) => Math.min(width, Math.max(limit, least[at] ?? 1)));
  let limit = 1;
  while (sum(limited(limit + 1)) <= available) limit += 1;
  const widths = [...limited(limit)];
  // What is left over goes to the first columns that can use it.
  let left = available - sum(widths);
  return widths.map((width, at) => {
    if (left === 0 || width !== limit || width === natural[at]) return width;
    left -= 1;
    return width + 1;
  });
};

const headLines = (state: State, layout: Layout): Line[] => {
  if (layout.type === "records") return state.held.length > 0 ? [] : recordLines(state, state.header);
  const rule = layout.widths.flatMap((width, at) => [
    ...(at === 0 ? [] : [span(" ".repeat(GAP))]),
    span(state.glyphs.rule.repeat(width), "dim"),
  ]);
  return [...columnLines(state, layout.widths, state.header), rule];
};

const rowLines = (state: State, layout: Layout, row: Row): Line[] =>
  layout.type === "columns" ? columnLines(state, layout.widths, row) : recordLines(state, row);

const columnLines = ({ alignments }: State, widths: readonly number[], row: Row): Line[] => {
  const columns = widths.map((width, at) => (row[at] ?? []).flatMap((spans) => wrapSpans(spans, { width })));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) => {
    const line = columns.flatMap((lines, at): Span[] => {
      const gap = at === 0 ? [] : [span(" ".repeat(GAP))];
      return [...gap, ...aligned(lines[y] ?? [], widths[at] ?? 0, alignments[at] ?? "left")];
    });
    return withoutTrailingSpaces(line);
  });
};

const aligned = (line: Line, width: number, alignment: Alignment): Line => {
  const space = Math.max(0, width - lineWidth(line));
  const before = alignment === "left" ? 0 : alignment === "right" ? space : space >> 1;
  return [span(" ".repeat(before)), ...line, span(" ".repeat(space - before))].filter(({ text }) => text !== "");
};

/** A row as `header: value` lines, where columns have no room. */
const recordLines = (state: State, row: Row): Line[] => {
  const width = room(state);
  const rest = [span("  ")];
  const lines = row.flatMap((cell, at) => {
    const name = row === state.header ? [] : (state.header[at] ?? []).flat();
    const label = plainText(name) === "" ? [] : [...name, span(": ")];
    const [value = [], ...more] = cell;
    return [
      ...wrapSpans([...label, ...value], { width, rest }),
      ...more.flatMap((spans) => wrapSpans(spans, { width, first: rest, rest })),
    ];
  });
  const separator: Line[] = state.hasRecord ? [[]] : [];
  state.hasRecord = true;
  return [...separator, ...lines];
};

const cellWidth = (cell: Cell): number => Math.max(0, ...cell.map(lineWidth));

/** Wide characters can be parted, but a few of them stay together. */
const longestWord = (cell: Cell): number =>
  Math.max(0, ...cell.flatMap((line) => plainText(line).split(" ").map(wordWidth)));

const wordWidth = (word: string): number => {
  let [longest, width] = [0, 0];
  for (const character of word) {
    width = isWide(character) ? Math.min(MAX_WIDE, width + 2) : width + displayWidth(character);
    longest = Math.max(longest, width);
  }
  return longest;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
