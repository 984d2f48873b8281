import { type Line, type Role, type Span, span } from "../line.ts";
import { cutToWidth, displayWidth } from "../width.ts";
import { wrapSpans } from "../wrap.ts";

export type TableColumn = { readonly title: string; readonly align: "left" | "right" };

/** A detail is part of the row above it and not part of the sum. */
export type TableRow = { readonly cells: readonly string[]; readonly kind: "value" | "detail" | "total" };

/** The first column names the row. Cells are one row of clean text each; an empty one has nothing to say. */
export type Table = { readonly columns: readonly TableColumn[]; readonly rows: readonly TableRow[] };

const INDENT = "  ";
const GAP = 2;

/** An aligned table within `width`, or where it does not fit a `label value` line for each cell. */
export const tableLines = (table: Table, width: number): Line[] => {
  const widths = table.columns.map(({ title }, column) =>
    Math.max(displayWidth(title), ...table.rows.map(({ cells }) => displayWidth(cells[column] ?? ""))),
  );
  const whole = INDENT.length + widths.reduce((sum, cells) => sum + cells + GAP, -GAP);
  const lines = whole <= width ? alignedLines(table, widths) : stackedLines(table);
  return lines.map((line) => cutLine(line, width));
};

const alignedLines = ({ columns, rows }: Table, widths: readonly number[]): Line[] => {
  const aligned = (cells: readonly string[], ...roles: readonly Role[]): Line => {
    const padded = columns.map(({ align }, column) => {
      const cell = cells[column] ?? "";
      const padding = " ".repeat((widths[column] ?? 0) - displayWidth(cell));
      return align === "left" ? cell + padding : padding + cell;
    });
    return [span((INDENT + padded.join(" ".repeat(GAP))).trimEnd(), ...roles)];
  };
  const titles = columns.map(({ title }) => title);
  const header = titles.every((title) => title === "") ? [] : [aligned(titles, "dim")];
  return [...header, ...rows.map(({ cells, kind }) => aligned(cells, ...ROLES[kind]))];
};

const ROLES: Readonly<Record<TableRow["kind"], readonly Role[]>> = { value: [], detail: ["dim"], total: ["bold"] };

/** One value stands beside the row's name; several stand below it, each with its column's title. */
const stackedLines = ({ columns, rows }: Table): Line[] =>
  rows.flatMap(({ cells: [name = "", ...values], kind }) => {
    const said = values.flatMap((value, index) =>
      value === "" ? [] : [{ title: columns[index + 1]?.title ?? "", value }],
    );
    const [only] = said;
    if (only !== undefined && said.length === 1) return [[span(`${INDENT}${name}  ${only.value}`, ...ROLES[kind])]];
    const titleWidth = Math.max(0, ...said.map(({ title }) => displayWidth(title)));
    return [
      [span(`${INDENT}${name}`, ...ROLES[kind])],
      ...said.map(({ title, value }): Line => {
        const padding = " ".repeat(titleWidth - displayWidth(title) + GAP);
        return [span(`${INDENT.repeat(2)}${title}${padding}`, "dim"), span(value, ...ROLES[kind])];
      }),
    ];
  });

/** A remark below a table. */
export const noteLines = (text: string, width: number): readonly Line[] =>
  wrapSpans([span(text, "dim")], { width, first: [span(INDENT)], rest: [span(INDENT)] });

/** The line in at most `width` cells. */
export const cutLine = (line: Line, width: number): Line => {
  const kept: Span[] = [];
  let room = width;
  for (const { text, roles = [] } of line) {
    const fitting = cutToWidth(text, room);
    if (fitting !== "") kept.push(span(fitting, ...roles));
    if (fitting !== text) break;
    room -= displayWidth(fitting);
  }
  return kept;
};
