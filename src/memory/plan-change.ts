import { visibleControls } from "../text/clean.ts";
import type { Strings } from "../text/strings.ts";
import { byteLength } from "../text/utf8.ts";
import { ToolError } from "../tools/tool.ts";
import { addEntry, type Edited, entryContent, removeEntry, updateEntry } from "./edit-entries.ts";
import { type Entry, isSameTitle, splitEntries } from "./entries.ts";
import { MAIN_FILE, MAX_FILE_BYTES, type MemoryFile, type MemoryFolder, shownPath } from "./memory-files.ts";

/** What is asked of the memory, already checked by itself. */
export type Change =
  | { readonly mode: "add"; readonly title: string | undefined; readonly content: string }
  | { readonly mode: "update"; readonly title: string; readonly content: string }
  | { readonly mode: "remove"; readonly title: string };

export type PlannedChange = {
  /** Null for one that is made. */
  readonly file: MemoryFile | null;
  readonly shown: string;
  readonly title: string;
  /** The entry's own text, before and after; empty where there is none. */
  readonly before: string;
  readonly after: string;
  /** The whole file as the change leaves it. */
  readonly text: string;
  /** `path:line` of the entry as it then stands; the path alone where it is gone. */
  readonly place: string;
  /** The file has it already. */
  readonly isDone: boolean;
};

type Spot = { readonly file: MemoryFile; readonly entry: Entry };

/** What a change would do to the files of its folder. Writes nothing. @throws ToolError where it cannot be done */
export const planChange = async (
  change: Change,
  folder: MemoryFolder,
  files: readonly MemoryFile[],
  strings: Strings["memory"],
): Promise<PlannedChange> => {
  const spots = files.flatMap((file) => splitEntries(file.text).entries.map((entry): Spot => ({ file, entry })));
  if (change.mode === "add") return planAdd(change, folder, { files, spots }, strings);
  const { file, entry } = await theOne(change.title, spots, strings);
  const before = entryContent(file.text, entry);
  const after = change.mode === "remove" ? "" : change.content;
  const edited = change.mode === "remove" ? removeEntry(file.text, entry) : updateEntry(file.text, entry, after);
  return planned({ file, shown: file.shown, before, after, title: entry.title }, edited, strings);
};

type Known = { readonly files: readonly MemoryFile[]; readonly spots: readonly Spot[] };

const planAdd = (
  { title, content }: Change & { mode: "add" },
  folder: MemoryFolder,
  { files, spots }: Known,
  strings: Strings["memory"],
): PlannedChange => {
  const isSame = ({ file, entry }: Spot): boolean => entryContent(file.text, entry) === content;
  const known = spots.find((spot) => (title === undefined ? isSame(spot) : isSameTitle(spot.entry.title, title)));
  if (known) {
    const { file, entry } = known;
    const place = placeOf(file.shown, entry);
    if (!isSame(known)) throw new ToolError(strings.titleTaken(visibleControls(entry.title), place));
    const { shown, text } = file;
    return { file, shown, title: entry.title, before: content, after: content, text, place, isDone: true };
  }
  const file = files.find(({ isMain }) => isMain) ?? null;
  const shown = file?.shown ?? shownPath(folder, MAIN_FILE);
  const edited = addEntry(file?.text ?? "", title, content);
  return planned({ file, shown, before: "", after: content, title }, edited, strings);
};

const planned = (
  {
    file,
    shown,
    before,
    after,
    title,
  }: Omit<PlannedChange, "text" | "place" | "isDone" | "title"> & { title: string | undefined },
  edited: Edited | null,
  strings: Strings["memory"],
): PlannedChange => {
  // Without a heading the first line is the title, and may be another one now.
  const hasTitle = title !== undefined && edited?.entry && edited.entry.level !== null;
  if (edited === null || (hasTitle && !isSameTitle(edited.entry.title, title)))
    throw new ToolError(strings.wouldMix(visibleControls(shown)));
  if (byteLength(edited.text) > MAX_FILE_BYTES)
    throw new ToolError(strings.fileFull(visibleControls(shown), MAX_FILE_BYTES));
  const { text, entry } = edited;
  const place = entry ? placeOf(shown, entry) : visibleControls(shown);
  return { file, shown, title: entry?.title ?? title ?? "", before, after, text, place, isDone: text === file?.text };
};

const placeOf = (shown: string, { firstLine, lastLine }: Entry): string =>
  `${visibleControls(shown)}:${firstLine}-${lastLine}`;

/** The entry of this title. */
const theOne = async (title: string, spots: readonly Spot[], strings: Strings["memory"]): Promise<Spot> => {
  const [first, ...more] = spots.filter(({ entry }) => isSameTitle(entry.title, title));
  if (first === undefined) {
    const titles = spots.map(({ entry }) => ({ title: visibleControls(entry.title), text: "" }));
    const { search } = await import("./search.ts");
    const near = (await search(title, titles)).slice(0, 3).map(({ item }) => item.title);
    throw new ToolError(strings.titleUnknown(title, near));
  }
  if (more.length === 0) return first;
  const places = [first, ...more].map(({ file, entry }) => placeOf(file.shown, entry));
  throw new ToolError(strings.titleNotUnique(title, places));
};
