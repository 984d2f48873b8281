import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, type Role, type Span, span } from "../line.ts";
import { cutRow } from "../rows.ts";
import { cutToWidth, displayWidth, graphemes } from "../width.ts";
import type { CompletionItem, CompletionItems } from "./completion.ts";

/** `selected` is an index of `items`. */
export type CompletionMenu = CompletionItems & { readonly selected: number };

export type CompletionLinesOptions = {
  readonly width: number;
  readonly maxRows: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["commands"];
};

const MAX_ROWS = 8;
const INDENT = 2;
const GAP = 2;
const MIN_DESCRIPTION = 10;

/** The menu below the input: at most eight rows around the selected one, the last of them the count where not all fit. */
export const completionLines = (menu: CompletionMenu, options: CompletionLinesOptions): Line[] => {
  const { width, glyphs, strings } = options;
  const maxRows = Math.min(MAX_ROWS, options.maxRows);
  const isCounted = menu.total > maxRows || menu.items.length > maxRows;
  // One row alone is better spent on the selected item.
  const itemRows = isCounted && maxRows > 1 ? maxRows - 1 : maxRows;
  const first = firstShown(menu, itemRows);
  const shown = menu.items.slice(first, first + Math.max(0, itemRows));
  const rows = shown.map((item, index) => ({ item, isSelected: first + index === menu.selected }));
  const labelWidth = labelColumn(menu.items);
  const lines = rows.map(({ item, isSelected }) => itemLine(item, isSelected, labelWidth, options));
  if (!isCounted || maxRows <= 1 || shown.length === 0) return lines;
  const count = `  ${glyphs.ellipsis} ${strings.menuPosition(menu.selected + 1, menu.total)}`;
  return [...lines, [span(cutRow(count, width, glyphs.ellipsis), "dim")]];
};

/** The selected row in the middle, as far as the ends allow. */
const firstShown = ({ items, selected }: CompletionMenu, rows: number): number =>
  Math.max(0, Math.min(selected - Math.floor(rows / 2), items.length - rows));

type Cell = { readonly text: string; readonly isMatched: boolean; readonly width: number };

/** Of all items, not only those that are shown: the column stays where it is while one moves through them. */
const labelColumn = (items: readonly CompletionItem[]): number =>
  Math.max(0, ...items.filter(({ description }) => description !== "").map((item) => cellsWidth(labelCells(item))));

const itemLine = (
  item: CompletionItem,
  isSelected: boolean,
  labelWidth: number,
  { width, glyphs }: CompletionLinesOptions,
): Line => {
  const roles: readonly Role[] = isSelected ? ["accent"] : [];
  const marker = span(cutToWidth(isSelected ? `${glyphs.selected} ` : "  ", width), ...roles);
  const room = Math.max(0, width - INDENT);
  const cells = fittingCells(item, room, glyphs.ellipsis);
  const label = cellSpans(cells, roles);
  const free = room - Math.max(labelWidth, cellsWidth(cells)) - GAP;
  if (item.description === "" || free < MIN_DESCRIPTION) return [marker, ...label];
  const padding = " ".repeat(Math.max(labelWidth - cellsWidth(cells), 0) + GAP);
  const description = cutRow(visibleControls(item.description), free, glyphs.ellipsis);
  return [marker, ...label, span(padding + description, "dim")];
};

const labelCells = ({ label, positions }: CompletionItem): Cell[] => {
  const matched = new Set(positions);
  let at = 0;
  return graphemes(label).map((character) => {
    const start = at;
    at += character.length;
    const isMatched = Array.from(character, (_, index) => start + index).some((index) => matched.has(index));
    const text = visibleControls(character);
    return { text, isMatched, width: displayWidth(text) };
  });
};

const cellsWidth = (cells: readonly Cell[]): number => cells.reduce((sum, { width }) => sum + width, 0);

/** Cut on the left: the end of a path says more than its beginning. */
const fittingCells = (item: CompletionItem, room: number, ellipsis: string): Cell[] => {
  const cells = labelCells(item);
  if (cellsWidth(cells) <= room) return cells;
  const text = cutToWidth(ellipsis, room);
  const mark: Cell = { text, isMatched: false, width: displayWidth(text) };
  let left = room - mark.width;
  const firstKept = cells.findLastIndex(({ width }) => {
    left -= width;
    return left < 0;
  });
  return [mark, ...cells.slice(firstKept + 1)];
};

const cellSpans = (cells: readonly Cell[], roles: readonly Role[]): Span[] => {
  const spans: Span[] = [];
  let text = "";
  const push = (isMatched: boolean): void => {
    if (text !== "") spans.push(span(text, ...roles, ...(isMatched ? (["bold"] as const) : [])));
    text = "";
  };
  cells.forEach((cell, index) => {
    const previous = cells[index - 1];
    if (previous !== undefined && previous.isMatched !== cell.isMatched) push(previous.isMatched);
    text += cell.text;
  });
  push(cells.at(-1)?.isMatched ?? false);
  return spans;
};
