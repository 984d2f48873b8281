import { type Line, lineWidth, type Role, type Span, span } from "../line.ts";
import { cutToWidth } from "../width.ts";
import type { Editor } from "./editor-changes.ts";
import type { ChipLabel } from "./editor-chips.ts";
import type { Cluster, Layout } from "./editor-clusters.ts";
import { columnOf, countRows, rowOf, type WrappedRow, wrapLine } from "./editor-wrap.ts";

export type RowsOptions = {
  /** No row is wider, and the cursor stands within it, also behind a full row. */
  readonly width: number;
  readonly maxRows: number;
  /** What stands before the first row, and before the others. */
  readonly prompt: Line;
  readonly rest: Line;
  readonly chipLabel: ChipLabel;
  readonly placeholder?: string;
};

export type EditorRows = {
  readonly rows: readonly Line[];
  /** Counted from the first of `rows` and from the first cell. */
  readonly cursor: { readonly row: number; readonly column: number };
  readonly hiddenAbove: number;
  readonly hiddenBelow: number;
};

/** The cells that a row has for text, beside the prompt and a cell for the cursor behind a full row. */
export const textColumns = (options: Pick<RowsOptions, "width" | "prompt" | "rest">): number =>
  Math.max(1, options.width - 1 - prefixWidth(options));

// Less is no room to write in: the prompt gives way.
const LEAST_COLUMNS = 2;

const prefixWidth = ({ width, prompt, rest }: Pick<RowsOptions, "width" | "prompt" | "rest">): number => {
  const prefix = Math.max(lineWidth(prompt), lineWidth(rest));
  return width - 1 - prefix >= LEAST_COLUMNS ? prefix : 0;
};

/** The input as it stands on the screen: wrapped, and of a long text the part around the cursor. */
export const editorRows = (editor: Editor, options: RowsOptions): EditorRows => {
  const prefixOf = (isFirst: boolean): Line =>
    prefixWidth(options) === 0 ? [] : isFirst ? options.prompt : options.rest;
  const columns = textColumns(options);
  if (editor.text === "") {
    const placeholder = cutToWidth(options.placeholder ?? "", columns);
    const prompt = prefixOf(true);
    return {
      rows: [placeholder === "" ? prompt : [...prompt, span(placeholder, "dim")]],
      cursor: { row: 0, column: lineWidth(prompt) },
      hiddenAbove: 0,
      hiddenBelow: 0,
    };
  }
  const layout: Layout = { columns, chips: editor.chips, chipLabel: options.chipLabel };
  const lines = editor.text.split("\n");
  const counts = lines.map((line) => countRows(line, layout));
  const place = cursorPlace(lines, counts, editor.cursor, layout);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shown = Math.min(Math.max(1, options.maxRows), total);
  const top = Math.min(Math.max(0, place.row - Math.floor(shown / 2)), total - shown);
  return {
    rows: rowsBetween(lines, counts, top, top + shown, layout).map((row, index) => [
      ...prefixOf(top + index === 0),
      ...rowSpans(row.clusters),
    ]),
    cursor: { row: place.row - top, column: lineWidth(prefixOf(place.row === 0)) + place.column },
    hiddenAbove: top,
    hiddenBelow: total - shown - top,
  };
};

const cursorPlace = (
  lines: readonly string[],
  counts: readonly number[],
  cursor: number,
  layout: Layout,
): { readonly row: number; readonly column: number } => {
  let start = 0;
  let above = 0;
  for (const [index, line] of lines.entries()) {
    if (cursor <= start + line.length) {
      const rows = wrapLine(line, layout);
      const inLine = rowOf(rows, cursor - start);
      const row = rows[inLine];
      return { row: above + inLine, column: row === undefined ? 0 : columnOf(row, cursor - start) };
    }
    start += line.length + 1;
    above += counts[index] ?? 1;
  }
  return { row: above, column: 0 };
};

const rowsBetween = (
  lines: readonly string[],
  counts: readonly number[],
  from: number,
  to: number,
  layout: Layout,
): WrappedRow[] => {
  const rows: WrappedRow[] = [];
  let above = 0;
  for (const [index, line] of lines.entries()) {
    if (above >= to) break;
    const count = counts[index] ?? 1;
    if (above + count > from) rows.push(...wrapLine(line, layout).slice(Math.max(0, from - above), to - above));
    above += count;
  }
  return rows;
};

const ROLES: Readonly<Record<Cluster["kind"], readonly Role[]>> = { plain: [], chip: ["accent"], hidden: ["warning"] };

const rowSpans = (clusters: readonly Cluster[]): Span[] => {
  const spans: Span[] = [];
  let text = "";
  for (const [index, cluster] of clusters.entries()) {
    text += cluster.text;
    const next = clusters[index + 1];
    if (cluster.kind === "plain" && next?.kind === "plain") continue;
    spans.push(span(text, ...ROLES[cluster.kind]));
    text = "";
  }
  return spans;
};
