import { createEditor, type Editor, setText } from "./editor-buffer.ts";

/** What was sent before, and where in it the person is. Entries may be edited: what becomes of them is kept meanwhile. */
export type PromptHistory = {
  /** The newest is the last. */
  readonly entries: readonly string[];
  /** The entry that is shown; behind the last it is the draft. */
  readonly at: number;
  readonly edited: ReadonlyMap<number, Editor>;
};

export type Recalled = { readonly history: PromptHistory; readonly editor: Editor };

export const createHistory = (entries: readonly string[]): PromptHistory => {
  const kept = entries.filter((entry, index) => entry.trim() !== "" && entry !== entries[index - 1]);
  return { entries: kept, at: kept.length, edited: new Map() };
};

/** The history after a message was sent: back at an empty draft. The same text twice in a row is one entry. */
export const remember = ({ entries }: PromptHistory, text: string): PromptHistory => {
  const all = text.trim() === "" || text === entries.at(-1) ? entries : [...entries, text];
  return { entries: all, at: all.length, edited: new Map() };
};

/** The entry before the one that is shown; undefined at the oldest. */
export const recallOlder = (history: PromptHistory, editor: Editor): Recalled | undefined =>
  recall(history, editor, history.at - 1);

/** The entry after the one that is shown, at last the draft; undefined there. */
export const recallNewer = (history: PromptHistory, editor: Editor): Recalled | undefined =>
  recall(history, editor, history.at + 1);

const recall = (history: PromptHistory, editor: Editor, at: number): Recalled | undefined => {
  if (at < 0 || at > history.entries.length) return undefined;
  const edited = new Map(history.edited).set(history.at, editor);
  const shown = edited.get(at) ?? createEditor(history.entries[at]);
  return { history: { ...history, at, edited }, editor: { ...shown, kills: editor.kills, last: { type: "other" } } };
};

export type SearchMatch = { readonly entry: number; readonly text: string; readonly start: number };

/** Search backward through what was sent. */
export type HistorySearch = {
  readonly query: string;
  /** The newest entry that the query has led to; it stays when nothing matches any more. */
  readonly match?: SearchMatch;
  /** Nothing (more) matches. */
  readonly failed: boolean;
};

export const startSearch = (): HistorySearch => ({ query: "", failed: false });

/** Another query: the match stays as long as it fits, else an older one; from the newest on when the query got shorter. */
export const searchFor = ({ entries }: PromptHistory, search: HistorySearch, query: string): HistorySearch => {
  if (query === "") return startSearch();
  const goesOn = search.match !== undefined && query.startsWith(search.query) && search.query !== "";
  return found(
    { ...search, query },
    findMatch(entries, query, goesOn ? (search.match?.entry ?? 0) : entries.length - 1),
  );
};

/** The next older entry that matches and differs from the one that is shown. */
export const searchOlder = ({ entries }: PromptHistory, search: HistorySearch): HistorySearch =>
  found(search, findMatch(entries, search.query, (search.match?.entry ?? entries.length) - 1, search.match?.text));

/** The next newer one. */
export const searchNewer = ({ entries }: PromptHistory, search: HistorySearch): HistorySearch => {
  const from = (search.match?.entry ?? entries.length) + 1;
  for (let entry = from; entry < entries.length; entry++) {
    const match = matchOf(entries, entry, search.query);
    if (match !== undefined && match.text !== search.match?.text) return found(search, match);
  }
  return found(search, undefined);
};

/** The match takes the place of the input, to be edited or sent; without one the input stays. To cancel, drop the search. */
export const acceptMatch = (history: PromptHistory, { match }: HistorySearch, editor: Editor): Recalled => {
  const recalled = match && recall(history, editor, match.entry);
  if (!recalled) return { history, editor };
  // An entry that was edited since comes back as it was found.
  return { ...recalled, editor: setText(recalled.editor, match.text) };
};

const found = (search: HistorySearch, match: SearchMatch | undefined): HistorySearch =>
  match === undefined ? { ...search, failed: true } : { query: search.query, match, failed: false };

const findMatch = (entries: readonly string[], query: string, from: number, not?: string): SearchMatch | undefined => {
  for (let entry = from; entry >= 0; entry--) {
    const match = matchOf(entries, entry, query);
    if (match !== undefined && match.text !== not) return match;
  }
  return undefined;
};

/** A query in small letters finds both. */
const matchOf = (entries: readonly string[], entry: number, query: string): SearchMatch | undefined => {
  const text = entries[entry];
  if (text === undefined || query === "") return undefined;
  const start = (query === query.toLowerCase() ? text.toLowerCase() : text).indexOf(query);
  return start < 0 ? undefined : { entry, text, start };
};
