import { change, type Editor, type Kill, redo, undo } from "./editor-changes.ts";
import { adoptChips, CHIPS, type ChipLabel, cleanInput, expandChips, textWithChip, wholeText } from "./editor-chips.ts";
import { boundaryAfter, boundaryBefore, type Layout, lineEnd, lineStart } from "./editor-clusters.ts";
import { shellWordBefore, wordAfter, wordBefore } from "./editor-words.ts";
import { columnOf, placeAt, rowOf, wrapLine } from "./editor-wrap.ts";
import type { EditAction } from "./keymap.ts";

export type { Editor };

/** How the text stands on the screen; rows above and below depend on it. `columns` is from `textColumns`. */
export type EditView = { readonly columns: number; readonly chipLabel: ChipLabel };

export type Edit =
  | EditAction
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "paste"; readonly text: string };

/** An editor with this text and the cursor at its end. */
export const createEditor = (text = ""): Editor => {
  const whole = wholeText(cleanInput(text));
  return { ...whole, cursor: whole.text.length, kills: [], undo: [], redo: [], last: { type: "other" } };
};

/** An empty editor that can still put back what was cut: for the time after a message is sent. */
export const emptied = (editor: Editor): Editor => ({ ...createEditor(), kills: editor.kills });

export const isEmpty = (editor: Editor): boolean => editor.text === "";

/** The text with pastes in full. */
export const submitText = ({ text, chips }: Editor): string => expandChips(text, chips);

export const textBeforeCursor = ({ text, cursor }: Editor): string => text.slice(0, cursor);

/** Another text, with the cursor at its end; undo brings the old one back. */
export const setText = (editor: Editor, text: string): Editor => {
  const whole = wholeText(cleanInput(text));
  return replaceWith(editor, 0, editor.text.length, { text: whole.text, chips: whole.chips });
};

/** Puts a text in the place of a range, and the cursor behind it; undo brings the old one back. */
export const replaceRange = (editor: Editor, start: number, end: number, text: string): Editor =>
  replaceWith(editor, start, end, {
    text: cleanInput(text).replaceAll("\t", "    ").replace(CHIPS, "\ufffd"),
    chips: new Map(),
  });

/** Whether Enter means a new line: the one that the caller puts in the place of the backslash. */
export const endsWithBackslash = ({ text, cursor }: Editor): boolean =>
  (/\\*$/.exec(text.slice(lineStart(text, cursor), cursor))?.[0].length ?? 0) % 2 === 1;

/** Whether "up" or "down" has a row to go to; where it has none, they leave the editor as it is. */
export const hasRow = (editor: Editor, direction: "up" | "down", view: EditView): boolean =>
  rowPlace(editor, direction, view) !== undefined;

/** What a key, typed text or a paste makes of the editor. Where it does nothing, the text and cursor stay the same. */
export const edit = (editor: Editor, action: Edit, view: EditView): Editor => {
  const { text, cursor } = editor;
  if (typeof action !== "string") return insert(editor, action);
  switch (action) {
    case "newline":
      return change(editor, { start: cursor, end: cursor, text: "\n" });
    case "left":
      return moved(editor, boundaryBefore(text, cursor));
    case "right":
      return moved(editor, boundaryAfter(text, cursor));
    case "up":
    case "down":
      return movedRow(editor, action, view);
    case "word-left":
      return moved(editor, wordBefore(text, cursor));
    case "word-right":
      return moved(editor, wordAfter(text, cursor));
    case "line-start":
      return moved(editor, lineStart(text, cursor));
    case "line-end":
      return moved(editor, lineEnd(text, cursor));
    case "text-start":
      return moved(editor, 0);
    case "text-end":
      return moved(editor, text.length);
    case "erase-left":
      return erased(editor, boundaryBefore(text, cursor), cursor);
    case "erase-right":
      return erased(editor, cursor, boundaryAfter(text, cursor));
    case "kill-word-left":
      return killed(editor, wordBefore(text, cursor));
    case "kill-shell-word-left":
      return killed(editor, shellWordBefore(text, cursor));
    case "kill-word-right":
      return killed(editor, wordAfter(text, cursor));
    case "kill-line-left":
      // At the start of a line the newline goes, so that pressing on takes all.
      return killed(
        editor,
        lineStart(text, cursor) === cursor ? boundaryBefore(text, cursor) : lineStart(text, cursor),
      );
    case "kill-line-right":
      return killed(editor, lineEnd(text, cursor) === cursor ? boundaryAfter(text, cursor) : lineEnd(text, cursor));
    case "yank":
      return yanked(editor);
    case "yank-older":
      return yankedOlder(editor);
    case "undo":
      return undo(editor);
    case "redo":
      return redo(editor);
    default:
      return action satisfies never;
  }
};

const insert = (editor: Editor, { type, text }: Exclude<Edit, string>): Editor => {
  const { text: clean, chips } = textWithChip(cleanInput(text), editor.chips);
  const { cursor } = editor;
  if (clean === "") return editor;
  const isTyped = type === "insert" && chips === editor.chips;
  return change(
    { ...editor, chips },
    { start: cursor, end: cursor, text: clean },
    { type: isTyped ? "typed" : "other" },
  );
};

const moved = (editor: Editor, cursor: number): Editor => ({ ...editor, cursor, last: { type: "other" } });

const movedRow = (editor: Editor, direction: "up" | "down", view: EditView): Editor => {
  const place = rowPlace(editor, direction, view);
  return place === undefined
    ? editor
    : { ...editor, cursor: place.cursor, last: { type: "moved-row", column: place.column } };
};

/** The place in the next row at the column where the movement began. */
const rowPlace = (
  { text, cursor, chips, last }: Editor,
  direction: "up" | "down",
  view: EditView,
): { readonly cursor: number; readonly column: number } | undefined => {
  const layout: Layout = { ...view, chips };
  const start = lineStart(text, cursor);
  const end = lineEnd(text, cursor);
  const rows = wrapLine(text.slice(start, end), layout);
  const index = rowOf(rows, cursor - start);
  const row = rows[index];
  if (row === undefined) return undefined;
  const column = last.type === "moved-row" ? last.column : columnOf(row, cursor - start);
  const placeIn = (from: number, line: readonly (typeof row)[], at: number) => {
    const target = line[at];
    return target && { cursor: from + placeAt(target, column, at < line.length - 1), column };
  };
  const next = direction === "up" ? index - 1 : index + 1;
  if (rows[next] !== undefined) return placeIn(start, rows, next);
  if (direction === "up" ? start === 0 : end === text.length) return undefined;
  const from = direction === "up" ? lineStart(text, start - 1) : end + 1;
  const line = wrapLine(text.slice(from, lineEnd(text, from)), layout);
  return placeIn(from, line, direction === "up" ? line.length - 1 : 0);
};

const erased = (editor: Editor, start: number, end: number): Editor =>
  start === end ? editor : change(editor, { start, end, text: "" }, { type: "erased" });

const MAX_KILLS = 30;

/** Takes what is between the cursor and `to`. Kills in a row are one. */
const killed = (editor: Editor, to: number): Editor => {
  const { text, cursor, chips, kills } = editor;
  if (to === cursor) return editor;
  const start = Math.min(cursor, to);
  const end = Math.max(cursor, to);
  const cut = text.slice(start, end);
  const last = editor.last.type === "killed" ? kills.at(-1) : undefined;
  const joined = to < cursor ? cut + (last?.text ?? "") : (last?.text ?? "") + cut;
  const others = last === undefined ? kills.slice(1 - MAX_KILLS) : kills.slice(0, -1);
  const kill: Kill = { text: joined, chips };
  return change({ ...editor, kills: [...others, kill] }, { start, end, text: "" }, { type: "killed" });
};

const yanked = (editor: Editor): Editor => putKill(editor, editor.cursor, editor.kills.length - 1);

/** Right after a yank: the kill before that one in its place; from the oldest on to the newest. */
const yankedOlder = (editor: Editor): Editor => {
  if (editor.last.type !== "yanked") return editor;
  const { start, kill } = editor.last;
  return putKill(editor, start, (kill === 0 ? editor.kills.length : kill) - 1);
};

const putKill = (editor: Editor, start: number, index: number): Editor => {
  const kill = editor.kills[index];
  if (kill === undefined) return editor;
  return {
    ...replaceWith(editor, start, editor.cursor, kill),
    last: { type: "yanked", start, kill: index },
  };
};

const replaceWith = (editor: Editor, start: number, end: number, put: Kill): Editor => {
  const { text, chips } = adoptChips(put.text, put.chips, editor.chips);
  return change({ ...editor, chips }, { start, end, text });
};
