import type { Line, Role, Span } from "./line.ts";
import { lineWidth } from "./line.ts";
import { displayWidth, graphemes, widthAfter } from "./width.ts";

export type WrapOptions = {
  /** Cells of a line, prefix included. */
  readonly width: number;
  /** Before the first line, as a bullet. It is left out where no cell remains for the text. */
  readonly first?: Line;
  /** Before each further line. */
  readonly rest?: Line;
  /** `cells` breaks anywhere and keeps every space, for code and output. Default `words`. */
  readonly breaking?: "words" | "cells";
};

/** Wraps text that comes in pieces. Any division into pieces gives the same lines; a piece costs its own length. */
export interface Wrapper {
  /** Takes the next text, which has no newline, and returns the lines that are final. */
  push(spans: readonly Span[]): Line[];
  /** The unfinished last line as it looks now, with its prefix. */
  partial(): Line;
  /** What `end` would return, without ending. */
  preview(): Line[];
  /** The remaining lines; of an empty text one line with its prefix. */
  end(): Line[];
  clone(): Wrapper;
}

/**
 * Breaks the text at spaces, between wide characters and, where a word is longer than the line, between any two
 * characters. The spaces at a break are dropped. A wide character that the width has no room for becomes `…`.
 */
export const wrapSpans = (spans: readonly Span[], options: WrapOptions): Line[] => {
  const wrapper = createWrapper(options);
  return [...wrapper.push(spans), ...wrapper.end()];
};

export const createWrapper = (options: WrapOptions): Wrapper =>
  wrapperFrom({
    width: Math.max(1, options.width),
    byCell: options.breaking === "cells",
    first: usablePrefix(options.first ?? [], Math.max(1, options.width)),
    rest: usablePrefix(options.rest ?? [], Math.max(1, options.width)),
    isFirst: true,
    line: emptyRun(),
    spaces: emptyRun(),
    word: emptyRun(),
    last: "",
    waiting: "",
    roles: undefined,
  });

type Prefix = { readonly line: Line; readonly width: number };
type Run = { readonly spans: Span[]; width: number };

type State = {
  readonly width: number;
  readonly byCell: boolean;
  readonly first: Prefix;
  readonly rest: Prefix;
  isFirst: boolean;
  /** What certainly stands in the current line, the spaces after it, and the word that may still move down. */
  line: Run;
  spaces: Run;
  word: Run;
  /** The character before the waiting one. */
  last: string;
  /** A character that may still get an accent or a modifier. */
  waiting: string;
  roles: readonly Role[] | undefined;
};

// A longer pile of accents is divided, so that each character is looked at a bounded number of times.
const MAX_CHARACTER = 64;
const MAX_PIECE = 4096;
const HALF = /[\ud800-\udbff]$/;

const wrapperFrom = (state: State): Wrapper => {
  const clone = (): Wrapper =>
    wrapperFrom({ ...state, line: copyOf(state.line), spaces: copyOf(state.spaces), word: copyOf(state.word) });
  return {
    push: (spans) => {
      const lines: Line[] = [];
      for (const { text, roles } of spans) {
        if (text !== "" && !sameRoles(roles, state.roles)) {
          settleAll(state, lines);
          state.roles = roles?.length === 0 ? undefined : roles;
        }
        for (let at = 0; at < text.length; at += MAX_PIECE) {
          state.waiting += text.length <= MAX_PIECE ? text : text.slice(at, at + MAX_PIECE);
          settleWaiting(state, lines);
        }
      }
      return lines;
    },
    partial: () => clone().end().at(-1) ?? [],
    preview: () => clone().end(),
    end: () => {
      const lines: Line[] = [];
      settleAll(state, lines);
      settleWord(state);
      breakLine(state, lines);
      return lines;
    },
    clone,
  };
};

/** Places all characters but the last one, which is not known to be complete. */
const settleWaiting = (state: State, lines: Line[]): void => {
  // Half of a surrogate pair belongs to a character that is not here yet.
  const half = HALF.test(state.waiting) ? state.waiting.slice(-1) : "";
  const text = half === "" ? state.waiting : state.waiting.slice(0, -1);
  state.waiting = placeAll(state, text, lines) + half;
};

/** Places all characters but the last, and returns that. */
const placeAll = (state: State, text: string, lines: Line[]): string => {
  let at = 0;
  for (const character of graphemes(text)) {
    if (character.length > MAX_CHARACTER) {
      const end = HALF.test(character.slice(0, MAX_CHARACTER)) ? MAX_CHARACTER - 1 : MAX_CHARACTER;
      place(state, character.slice(0, end), lines);
      return placeAll(state, text.slice(at + end), lines);
    }
    at += character.length;
    if (at === text.length) return character;
    place(state, character, lines);
  }
  return "";
};

const settleAll = (state: State, lines: Line[]): void => {
  for (const character of graphemes(state.waiting)) place(state, character, lines);
  state.waiting = "";
};

const place = (state: State, character: string, lines: Line[]): void => {
  const isSpace = character === " " && !state.byCell;
  if (isSpace || state.byCell || mayBreak(state.last, character)) settleWord(state);
  const before = state.last;
  state.last = character;
  if (isSpace) {
    // More spaces than fit need no room: whatever comes next begins a line.
    if (state.line.width + state.spaces.width < room(state)) add(state.spaces, " ", 1, state.roles);
    return;
  }
  const width = displayWidth(character);
  const atMost = widthAfter(before, character);
  const hasNoRoom = width > state.width || (width === 0 && atMost > state.width);
  const [shown, cells] = hasNoRoom ? ["…", 1] : [character, Math.min(atMost, state.width)];
  if (used(state) + cells > room(state)) moveWordDown(state, lines);
  grow(state, shown, cells, state.roles, lines);
};

/** The word that does not fit goes to the next line, whose prefix may leave it less room. */
const moveWordDown = (state: State, lines: Line[]): void => {
  // Spaces that leave no room for the first word would be a line of nothing.
  if (state.line.width === 0) {
    state.spaces = emptyRun();
    return;
  }
  const { spans } = state.word;
  state.word = emptyRun();
  breakLine(state, lines);
  for (const { text, roles } of spans) {
    let before = "";
    for (const character of graphemes(text)) {
      grow(state, character, Math.min(widthAfter(before, character), state.width), roles, lines);
      before = character;
    }
  }
};

/** One more character of a word; a word that fills a whole line is broken. */
const grow = (state: State, text: string, cells: number, roles: Span["roles"], lines: Line[]): void => {
  if (state.word.width > 0 && used(state) + cells > room(state)) {
    settleWord(state);
    breakLine(state, lines);
  }
  add(state.word, text, cells, roles);
};

const settleWord = ({ line, spaces, word }: State): void => {
  if (word.spans.length === 0) return;
  for (const run of [spaces, word]) {
    for (const { text, roles } of run.spans) add(line, text, 0, roles);
    line.width += run.width;
    run.spans.length = 0;
    run.width = 0;
  }
};

const breakLine = (state: State, lines: Line[]): void => {
  const { line: prefix } = prefixOf(state);
  lines.push(state.line.spans.length === 0 ? withoutTrailingSpaces(prefix) : [...prefix, ...state.line.spans]);
  state.isFirst = false;
  state.line = emptyRun();
  state.spaces = emptyRun();
};

const used = ({ line, spaces, word }: State): number => line.width + spaces.width + word.width;

const room = (state: State): number => state.width - prefixOf(state).width;

const prefixOf = ({ isFirst, first, rest }: State): Prefix => (isFirst ? first : rest);

/** The prefix, unless it leaves no room for a wide character. */
const usablePrefix = (line: Line, width: number): Prefix => {
  const cells = lineWidth(line);
  return cells + Math.min(2, width) > width ? { line: [], width: 0 } : { line, width: cells };
};

/** The line without the spaces at its end. */
export const withoutTrailingSpaces = (line: Line): Line => {
  const end = line.findLastIndex(({ text }) => text.trimEnd() !== "");
  return line.slice(0, end + 1).map((part, at) => (at === end ? { ...part, text: part.text.trimEnd() } : part));
};

const emptyRun = (): Run => ({ spans: [], width: 0 });
const copyOf = ({ spans, width }: Run): Run => ({ spans: [...spans], width });

const add = (run: Run, text: string, width: number, roles: readonly Role[] | undefined): void => {
  const last = run.spans.at(-1);
  if (last !== undefined && sameRoles(last.roles, roles))
    run.spans[run.spans.length - 1] = spanOf(last.text + text, roles);
  else run.spans.push(spanOf(text, roles));
  run.width += width;
};

const spanOf = (text: string, roles: readonly Role[] | undefined): Span =>
  roles === undefined ? { text } : { text, roles };

const sameRoles = (one: readonly Role[] = [], other: readonly Role[] = []): boolean =>
  one === other || (one.length === other.length && one.every((role, at) => role === other[at]));

// Closing punctuation does not begin a line and opening punctuation does not end one.
const CLOSING =
  /^[.,:;!?%)\]}’”»…、。〃々〉》」』】〕〗〙〛゛゜ゝゞ・ーァィゥェォッャュョぁぃぅぇぉっゃゅょ！％），．：；？］｝～]/;
const OPENING = /[([{‘“«〈《「『【〔〖〘〚（［｛]$/;
const NARROW = /^[\x00-\u10ff]/;

/** Whether a line may end between two characters neither of which is a space: where one of them is wide. */
const mayBreak = (before: string, after: string): boolean => {
  if (NARROW.test(before) && NARROW.test(after)) return false;
  if (before === "" || before === " ") return false;
  return (displayWidth(before) > 1 || displayWidth(after) > 1) && !CLOSING.test(after) && !OPENING.test(before);
};
