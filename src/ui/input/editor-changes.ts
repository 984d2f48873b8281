import type { Chips } from "./editor-chips.ts";
import { boundaryAt } from "./editor-clusters.ts";

/** Text that was cut, with the chips in it. */
export type Kill = { readonly text: string; readonly chips: Chips };

type Change = {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
  readonly cursorBefore: number;
  readonly cursorAfter: number;
};

/** What the last action was, as far as the next one depends on it. */
export type LastAction =
  | { readonly type: "typed" }
  | { readonly type: "erased" }
  | { readonly type: "killed" }
  | { readonly type: "yanked"; readonly start: number; readonly kill: number }
  | { readonly type: "moved-row"; readonly column: number }
  | { readonly type: "other" };

/** The text of the input and all that editing it needs. Never changed: each edit gives a new one. */
export type Editor = {
  /** Without control characters and tabs; large pastes are one character each. */
  readonly text: string;
  /** An index into the text, always between two characters as a person counts them. */
  readonly cursor: number;
  readonly chips: Chips;
  /** The newest is the last. */
  readonly kills: readonly Kill[];
  readonly undo: readonly Change[];
  readonly redo: readonly Change[];
  readonly last: LastAction;
};

const MAX_UNDO = 500;

/** Replaces what is between `start` and `end`, and puts the cursor behind it. */
export const change = (
  editor: Editor,
  edit: { readonly start: number; readonly end: number; readonly text: string; readonly cursor?: number },
  last: LastAction = { type: "other" },
): Editor => {
  const removed = editor.text.slice(edit.start, edit.end);
  if (removed === edit.text) return { ...editor, cursor: edit.cursor ?? edit.end, last };
  const text = editor.text.slice(0, edit.start) + edit.text + editor.text.slice(edit.end);
  // An accent that now follows a letter makes one character of the two.
  const cursor = boundaryAt(text, edit.cursor ?? edit.start + edit.text.length);
  const made = { at: edit.start, removed, inserted: edit.text, cursorBefore: editor.cursor, cursorAfter: cursor };
  return { ...editor, text, cursor, last, undo: withChange(editor, made, last), redo: [] };
};

const withChange = ({ undo, last: before }: Editor, made: Change, last: LastAction): readonly Change[] => {
  const previous = undo.at(-1);
  const joined = previous && before.type === last.type ? join(previous, made, last) : undefined;
  return joined === undefined ? [...undo.slice(1 - MAX_UNDO), made] : [...undo.slice(0, -1), joined];
};

/** Typed words and erased characters are undone together. */
const join = (previous: Change, made: Change, last: LastAction): Change | undefined => {
  if (last.type === "typed") {
    const follows = made.removed === "" && previous.at + previous.inserted.length === made.at;
    const beginsWord = /\s$/.test(previous.inserted) && !/^\s/.test(made.inserted);
    if (!follows || beginsWord || made.inserted.includes("\n")) return undefined;
    return { ...previous, inserted: previous.inserted + made.inserted, cursorAfter: made.cursorAfter };
  }
  if (last.type !== "erased" || made.inserted !== "" || previous.inserted !== "") return undefined;
  if (made.at + made.removed.length === previous.at)
    return { ...previous, at: made.at, removed: made.removed + previous.removed, cursorAfter: made.cursorAfter };
  return made.at === previous.at ? { ...previous, removed: previous.removed + made.removed } : undefined;
};

export const undo = (editor: Editor): Editor => {
  const made = editor.undo.at(-1);
  if (made === undefined) return editor;
  return {
    ...editor,
    text: editor.text.slice(0, made.at) + made.removed + editor.text.slice(made.at + made.inserted.length),
    cursor: made.cursorBefore,
    undo: editor.undo.slice(0, -1),
    redo: [...editor.redo, made],
    last: { type: "other" },
  };
};

export const redo = (editor: Editor): Editor => {
  const made = editor.redo.at(-1);
  if (made === undefined) return editor;
  return {
    ...editor,
    text: editor.text.slice(0, made.at) + made.inserted + editor.text.slice(made.at + made.removed.length),
    cursor: made.cursorAfter,
    undo: [...editor.undo, made],
    redo: editor.redo.slice(0, -1),
    last: { type: "other" },
  };
};
