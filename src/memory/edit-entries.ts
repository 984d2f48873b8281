import { type Entries, type Entry, splitEntries } from "./entries.ts";
import { LIST_MARKER } from "./lines.ts";

/** The whole text of a file as a change leaves it, and the entry that is new in it; null for one that was taken out. */
export type Edited = { readonly text: string; readonly entry: Entry | null };

/** A new entry: a section at the end, or without a title an item of the list above the first section. Null where the text would become other entries as well. */
export const addEntry = (text: string, title: string | undefined, content: string): Edited | null =>
  title === undefined ? addItem(text, content) : addSection(text, title, content);

const addSection = (text: string, title: string, content: string): Edited | null => {
  const { entries } = splitEntries(text);
  const level = Math.min(2, entries.findLast((entry) => entry.level !== null)?.level ?? 2);
  const section = withEnding(`${"#".repeat(level)} ${title}\n\n${content.trim()}\n`, text);
  return insert(text, text.length, text.trim() === "" ? withEnding(`# Memory\n\n`, text) + section : section);
};

const addItem = (text: string, content: string): Edited | null => {
  const { entries, looseStart } = splitEntries(text);
  const last = entries.findLast(({ level }) => level === null);
  const item = withEnding(`- ${indented(content.trim(), 2)}\n`, text);
  if (last === undefined)
    return insert(text, looseStart, text.trim() === "" ? withEnding(`# Memory\n\n`, text) + item : item);
  const isList = LIST_MARKER.test(text.slice(last.start, last.end));
  return insert(text, contentEnd(text, last), item, isList ? "line" : "paragraph");
};

/** Puts the content in the place of the entry's own; its heading or list marker stays. Null where the text would become other entries as well. */
export const updateEntry = (text: string, entry: Entry, content: string): Edited | null => {
  const old = text.slice(entry.start, entry.end);
  const after = text.slice(contentEnd(text, entry), entry.end);
  const nl = ending(text);
  if (entry.level !== null) {
    const heading = text.slice(entry.start, entry.bodyStart).replace(/\r?\n?$/, nl);
    const section = `${heading}${nl}${withEnding(content.trim(), text)}${nl}${after}`;
    return changed(text, entry, section);
  }
  const marker = LIST_MARKER.exec(old)?.[0] ?? "";
  return changed(text, entry, `${marker}${withEnding(indented(content.trim(), marker.length), text)}${nl}${after}`);
};

/** Takes the entry out. Null where others would run together. */
export const removeEntry = (text: string, entry: Entry): Edited | null => {
  const isAfterText = /\S[ \t]*\r?\n?$/.test(text.slice(0, entry.start));
  // Where no blank line stands above, the one below is kept between the neighbours.
  return changed(text, entry, isAfterText ? text.slice(contentEnd(text, entry), entry.end) : "");
};

/** The entry's own text below its heading, without list marker. */
export const entryContent = (text: string, entry: Entry): string => {
  const body = text.slice(entry.bodyStart, entry.end).replaceAll("\r\n", "\n");
  if (entry.level !== null) return body.trim();
  const marker = LIST_MARKER.exec(body)?.[0] ?? "";
  return body
    .slice(marker.length)
    .replace(new RegExp(`\\n {1,${Math.max(1, marker.length)}}`, "g"), "\n")
    .trim();
};

/** Blank lines part it from what stands above and below; a list goes on in the next line. */
const insert = (text: string, at: number, added: string, parts: "line" | "paragraph" = "paragraph"): Edited | null => {
  const nl = ending(text);
  const above = text.slice(0, at);
  const below = text.slice(at);
  const toLineEnd = above === "" || above.endsWith("\n") ? "" : nl;
  const isParted = above.trim() === "" || parts === "line" || /\n[ \t]*\r?\n$/.test(above);
  const toBelow = below.trim() === "" || /^[ \t]*\r?\n/.test(below) ? "" : nl;
  const next = `${above}${toLineEnd}${isParted ? "" : nl}${added}${toBelow}${below}`;
  const before = splitEntries(text);
  return onlyChange({ text, ...before }, next, before.entries.filter(({ start }) => start < at).length, "added");
};

const changed = (text: string, entry: Entry, put: string): Edited | null => {
  const before = splitEntries(text);
  const index = before.entries.findIndex(({ start }) => start === entry.start);
  const next = text.slice(0, entry.start) + put + text.slice(entry.end);
  return onlyChange({ text, ...before }, next, index, put.trim() === "" ? "removed" : "updated");
};

/** What a person has written beside it is there as before, entry by entry. */
const onlyChange = (
  before: Entries & { readonly text: string },
  text: string,
  index: number,
  change: "added" | "updated" | "removed",
): Edited | null => {
  const after = splitEntries(text);
  const texts = (whole: string, { entries }: Entries): string[] =>
    entries.map(({ start, end }) => whole.slice(start, end).trimEnd());
  const expected = texts(before.text, before);
  const found = texts(text, after);
  if (change !== "added") expected.splice(index, 1);
  if (change !== "removed") found.splice(index, 1);
  const isSame = expected.length === found.length && expected.every((one, at) => one === found[at]);
  if (!isSame) return null;
  return { text, entry: change === "removed" ? null : (after.entries[index] ?? null) };
};

/** Where the line ends that is an entry's last one but for blank ones. */
const contentEnd = (text: string, { start, end }: Entry): number => {
  let last = end;
  while (last > start && " \t\r\n".includes(text[last - 1] ?? "")) last -= 1;
  const newline = text.indexOf("\n", last);
  return newline < 0 ? end : Math.min(end, newline + 1);
};

const indented = (content: string, by: number): string => content.replace(/\n(?=[^\n])/g, `\n${" ".repeat(by)}`);

const ending = (text: string): string => (/\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n");

const withEnding = (added: string, text: string): string => added.replaceAll("\n", ending(text));
