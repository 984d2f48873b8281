import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, lineWidth, span } from "../line.ts";
import type { KeyInput } from "../terminal/keys.ts";
import type { DiffData } from "../transcript/changed-lines.ts";
import { diffLines } from "../transcript/diff-lines.ts";
import { graphemes } from "../width.ts";
import { wrapSpans } from "../wrap.ts";

/** A person chooses which hunks of a change are kept. */
export type HunkChoice = {
  /** The rows of each hunk, as they fit the width. */
  readonly hunks: readonly (readonly Line[])[];
  readonly kept: readonly boolean[];
  readonly selected: number;
  /** Rows of the selected hunk that are above the window. */
  readonly scroll: number;
};

export type HunkOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "question" | "steps">;
};

/** The rows of each hunk. */
export const hunkRows = (diff: DiffData, { width, glyphs, strings }: HunkOptions): HunkChoice["hunks"] =>
  diff.hunks.map((hunk) => diffLines({ ...diff, hunks: [hunk] }, { width, glyphs, strings: strings.steps }));

export const chooseHunks = (hunks: HunkChoice["hunks"]): HunkChoice => ({
  hunks,
  kept: hunks.map(() => true),
  selected: 0,
  scroll: 0,
});

/** What a key makes of the choice, with so many rows for the hunks; undefined for a key that means something else. */
export const hunkKey = (choice: HunkChoice, key: KeyInput, room: number): HunkChoice | undefined => {
  if (key.type === "text") return graphemes(key.text.toLowerCase()).reduce(markKey, choice);
  if (key.type !== "key") return undefined;
  switch (key.chord) {
    case "up":
    case "ctrl+p":
      return scrolled(choice, -1, room);
    case "down":
    case "ctrl+n":
      return scrolled(choice, 1, room);
    case "pageup":
      return moved(choice, -1);
    case "pagedown":
      return moved(choice, 1);
    default:
      return undefined;
  }
};

const markKey = (choice: HunkChoice, letter: string): HunkChoice => {
  switch (letter) {
    case " ":
      return marked(choice, choice.kept[choice.selected] !== true);
    case "y":
      return moved(marked(choice, true), 1);
    case "n":
      return moved(marked(choice, false), 1);
    case "a":
      return { ...choice, kept: choice.kept.map(() => true) };
    default:
      return choice;
  }
};

const marked = (choice: HunkChoice, isKept: boolean): HunkChoice => ({
  ...choice,
  kept: choice.kept.with(choice.selected, isKept),
});

const moved = (choice: HunkChoice, by: number): HunkChoice => {
  const selected = Math.max(0, Math.min(choice.hunks.length - 1, choice.selected + by));
  return selected === choice.selected ? choice : { ...choice, selected, scroll: 0 };
};

/** Through a hunk that is higher than the window, then to the next one. */
const scrolled = (choice: HunkChoice, direction: 1 | -1, room: number): HunkChoice => {
  const step = Math.max(1, room - MARKER_ROWS);
  const rows = (choice.hunks[choice.selected]?.length ?? 0) + 1;
  if (direction === 1 && rows - choice.scroll > step) return { ...choice, scroll: choice.scroll + step };
  if (direction === -1 && choice.scroll > 0) return { ...choice, scroll: Math.max(0, choice.scroll - step) };
  return moved(choice, direction);
};

const MARKER_ROWS = 2;

/**
 * The hunks with their marks, in a window that begins with the selected one; rows at its ends count what is not in it.
 * `title` says what the change is about.
 */
export const hunkLines = (
  choice: HunkChoice,
  title: Line,
  { width, maxRows, glyphs, strings }: HunkOptions & { readonly maxRows: number },
): readonly Line[] => {
  const { hunks, kept, selected, scroll } = choice;
  const { hasTitle, keys, room } = partsOf(choice, { width, maxRows, strings });
  const rows = hunks.flatMap((lines, index) => [
    headOf(choice, index, { glyphs, strings: strings.question }),
    ...(kept[index] ? lines : lines.map(faint)),
  ]);
  const before = hunks.slice(0, selected).reduce((sum, lines) => sum + lines.length + 1, 0);
  const shown = windowOf(rows, before + scroll, room, {
    // In the midst of a hunk its mark must still be seen.
    above: (count) =>
      scroll > 0
        ? withCount(headOf(choice, selected, { glyphs, strings: strings.question }), count, {
            width,
            glyphs,
            strings: strings.question,
          })
        : marker(strings.question.rowsAbove(count), glyphs),
    below: (count) => marker(strings.question.rowsBelow(count), glyphs),
  });
  return [...(hasTitle ? [title] : []), ...shown, ...keys];
};

/** How many rows `hunkLines` has for the hunks, those that count the rest included. */
export const hunkRoom = (choice: HunkChoice, options: PartsOptions): number => partsOf(choice, options).room;

type PartsOptions = Pick<HunkOptions, "width" | "strings"> & { readonly maxRows: number };

const partsOf = ({ kept }: HunkChoice, { width, maxRows, strings }: PartsOptions) => {
  const hint = kept.includes(true) ? strings.question.hunkKeys : strings.question.noHunkKept;
  const keys = wrapSpans([span(hint, kept.includes(true) ? "dim" : "warning")], {
    width,
    first: INDENT,
    rest: INDENT,
  }).slice(0, Math.max(0, maxRows - LEAST_ROWS));
  const hasTitle = maxRows >= LEAST_ROWS;
  return { hasTitle, keys, room: Math.max(0, maxRows - (hasTitle ? 1 : 0) - keys.length) };
};

const INDENT: Line = [span("    ")];
/** A title, and something of a hunk between the rows that count the rest. */
const LEAST_ROWS = 4;

const headOf = (
  { hunks, kept, selected }: HunkChoice,
  index: number,
  { glyphs, strings }: { readonly glyphs: Glyphs; readonly strings: Strings["question"] },
): Line => {
  const isKept = kept[index] === true;
  const isSelected = index === selected;
  const name = `${isKept ? "[x]" : "[ ]"} ${strings.hunk(index + 1, hunks.length)}`;
  return [
    span(isSelected ? `  ${glyphs.selected} ` : "    ", "accent"),
    isSelected ? span(name, "bold") : span(name),
    span(`  ${isKept ? strings.hunkKept : strings.hunkLeftOut}`, isKept ? "dim" : "warning"),
  ];
};

type WordOptions = Pick<HunkOptions, "width" | "glyphs"> & { readonly strings: Strings["question"] };

/** The head of a hunk whose beginning is above the window; in a narrow one the count comes before the word. */
const withCount = (head: Line, count: number, { width, glyphs, strings }: WordOptions): Line => {
  const note = span(`  ${glyphs.ellipsis} ${strings.rowsAbove(count)}`, "dim");
  return [head, head.slice(0, 2)].map((part) => [...part, note]).find((row) => lineWidth(row) <= width) ?? head;
};

const faint = (line: Line): Line => line.map(({ text }) => span(text, "dim"));

const marker = (text: string, glyphs: Glyphs): Line => [span(`    ${glyphs.ellipsis} ${text}`, "dim")];

type Markers = { readonly above: (count: number) => Line; readonly below: (count: number) => Line };

/** The rows from `start` on, and from before it where these would leave room. */
const windowOf = (rows: readonly Line[], start: number, room: number, markers: Markers): readonly Line[] => {
  if (rows.length <= room || room < 1) return rows.slice(0, room);
  const hasMarkers = room > MARKER_ROWS;
  const first = Math.min(start, rows.length - (hasMarkers ? room - 1 : room));
  const isCut = hasMarkers && first > 0;
  const inner = room - (isCut ? 1 : 0);
  const goesOn = room > 1 && first + inner < rows.length;
  const end = first + inner - (goesOn ? 1 : 0);
  return [
    ...(isCut ? [markers.above(first)] : []),
    ...rows.slice(first, end),
    ...(goesOn ? [markers.below(rows.length - end)] : []),
  ];
};
