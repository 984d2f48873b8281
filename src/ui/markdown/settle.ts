/**
 * Finds how much of a paragraph is settled: text at whose end no emphasis, code span, link or tag is open. Where it
 * cuts depends on the text alone, not on the pieces in which it came.
 */
export interface Settler {
  push(text: string): Piece[];
  end(): Piece[];
  clone(): Settler;
}

export type Piece =
  /** Ordinary words. */
  | { readonly type: "plain"; readonly text: string }
  /** Inline markdown. `FLANK` in it stands where emphasis in Chinese or Japanese needs a space to be recognised. */
  | { readonly type: "markup"; readonly text: string }
  /** A hard line break. */
  | { readonly type: "break" };

/** A space for the lexer, nothing on the screen; does not occur in the text of a `Source`. */
export const FLANK = "\u2028";

// What stays open for longer was meant literally.
const MAX_OPEN = 500;
// A longer word is cut, if need be even where that changes what it means.
const MAX_WORD = 1000;
const MAX_PIECE = 2000;
// A longer run of one character is several.
const MAX_RUN = 500;
const MARKUP = /[\\`*_[\]<>&~@]|:\/\/|www\./;
const PUNCTUATION = /[\p{P}\p{S}]/u;

type Opener = { readonly mark: string; readonly at: number; readonly length: number };

type State = {
  text: string;
  /** Where the next piece begins, and how far the text has been looked at. */
  start: number;
  at: number;
  /** What is open, outermost first. The last one decides how the text is read. */
  openers: Opener[];
  flanks: number[];
  pieces: Piece[];
};

export const createSettler = (): Settler =>
  settlerFrom({ text: "", start: 0, at: 0, openers: [], flanks: [], pieces: [] });

const settlerFrom = (state: State): Settler => ({
  push: (text) => {
    state.text += text;
    scan(state, false);
    forget(state);
    return taken(state);
  },
  end: () => {
    scan(state, true);
    cut(state, state.text.trimEnd().length, state.text.length);
    return taken(state);
  },
  clone: () => settlerFrom({ ...state, openers: [...state.openers], flanks: [...state.flanks], pieces: [] }),
});

const taken = (state: State): Piece[] => {
  const { pieces } = state;
  state.pieces = [];
  return pieces;
};

const forget = (state: State): void => {
  const { start } = state;
  if (start === 0) return;
  // One character stays: what follows is read in its light.
  const gone = start - 1;
  state.text = state.text.slice(gone);
  state.start = 1;
  state.at -= gone;
  state.openers = state.openers.map((opener) => ({ ...opener, at: opener.at - gone }));
  state.flanks = state.flanks.map((at) => at - gone);
};

/** Looks at the text as far as it is certain what it means. */
const scan = (state: State, isWhole: boolean): void => {
  while (state.at < state.text.length) {
    const oldest = state.openers[0];
    if (oldest !== undefined && state.at - oldest.at > MAX_OPEN) giveUp(state, oldest);
    else if (oldest === undefined && state.at - state.start > MAX_PIECE) cut(state, state.at, state.at);
    else if (!step(state, isWhole)) return;
  }
};

/** One step of the scan; false where more text is needed. */
const step = (state: State, isWhole: boolean): boolean => {
  const { text, at, openers } = state;
  const character = text[at] ?? "";
  const length = runLength(text, at);
  const isCertain = isWhole || at + length < text.length;
  const top = openers.at(-1);
  if (top?.mark === "`") {
    if (character !== "`") state.at += 1;
    else if (!isCertain) return false;
    else {
      if (length === top.length) openers.pop();
      state.at += length;
    }
    return true;
  }
  if (top?.mark === "<") {
    if (character === "<") state.at = top.at + 1;
    else state.at += 1;
    if (character === "<" || character === ">") openers.pop();
    return true;
  }
  if (character === "\\") {
    if (!isWhole && at + 1 === text.length) return false;
    state.at += 2;
    return true;
  }
  if (top?.mark === "(") {
    if (character === "(") openers.push({ mark: "(", at, length: 1 });
    if (character === ")") openers.pop();
    // The last parenthesis ends the link.
    if (character === ")" && openers.at(-1)?.mark === "[") openers.pop();
    state.at += 1;
    return true;
  }
  if (!isCertain && /[\s`*_~\]<]/.test(character)) return false;
  const next = text[at + length] ?? " ";
  switch (character) {
    case " ":
    case "\n":
      return space(state);
    case "`":
      openers.push({ mark: "`", at, length });
      state.at += length;
      return true;
    case "*":
    case "_":
    case "~":
      emphasis(state, character, length, next);
      state.at += length;
      return true;
    case "[": {
      const isImage = text[at - 1] === "!" && at > state.start;
      openers.push({ mark: "[", at: isImage ? at - 1 : at, length: isImage ? 2 : 1 });
      state.at += 1;
      return true;
    }
    case "]":
      closeBracket(state, text[at + 1]);
      return true;
    case "<":
      if (/[A-Za-z/!?]/.test(text[at + 1] ?? "")) openers.push({ mark: "<", at, length: 1 });
      state.at += 1;
      return true;
    default:
      if (openers.length === 0 && mayCut(state, character)) cut(state, at, at);
      state.at += 1;
      return true;
  }
};

/** Length of the run of the same character; of a space, of any space. */
const runLength = (text: string, at: number): number => {
  const character = text[at] ?? "";
  if (!/[\s`*_~]/.test(character)) return 1;
  const belongs = (other: string | undefined): boolean =>
    other === character || (other !== undefined && /\s/.test(other) && /\s/.test(character));
  let length = 1;
  while (length < MAX_RUN && belongs(text[at + length])) length += 1;
  return length;
};

const space = (state: State): boolean => {
  const end = state.at + runLength(state.text, state.at);
  if (state.openers.length === 0) cut(state, state.at, end);
  state.at = end;
  return true;
};

/** Opens or closes by CommonMark's rules for delimiter runs, made to work beside wide characters. */
const emphasis = (state: State, mark: string, length: number, next: string): void => {
  const { text, at, openers } = state;
  const before = at > state.start ? (text[at - 1] ?? " ") : " ";
  const hasOpener = openers.some((opener) => opener.mark === mark);
  const [afterPunctuation, beforePunctuation] = [PUNCTUATION.test(before), PUNCTUATION.test(next)];
  let isLeft = next.trim() !== "" && (!beforePunctuation || afterPunctuation || before.trim() === "");
  let isRight = before.trim() !== "" && (!afterPunctuation || beforePunctuation || next.trim() === "");
  // 是**「这」**的 is not emphasis to CommonMark, which counts on spaces between words.
  if (!isLeft && beforePunctuation && isWide(before) && !hasOpener) {
    state.flanks.push(at);
    [isLeft, isRight] = [true, false];
  } else if (!isRight && afterPunctuation && isWide(next) && hasOpener) {
    state.flanks.push(at + length);
    [isLeft, isRight] = [false, true];
  }
  const isWord = mark === "_" && isLeft && isRight;
  const closes = isRight && (!isWord || beforePunctuation);
  const opens = isLeft && (!isWord || afterPunctuation);
  const left = closes ? closeEmphasis(openers, mark, length) : length;
  if (opens && left > 0) openers.push({ mark, at: at + length - left, length: left });
};

/** Closes what the run can close and returns how much of the run is left. */
const closeEmphasis = (openers: Opener[], mark: string, length: number): number => {
  let left = length;
  while (left > 0) {
    const at = openers.findLastIndex((opener) => opener.mark === mark);
    const opener = openers[at];
    if (opener === undefined) return left;
    openers.length = at;
    if (opener.length > left) openers.push({ ...opener, length: opener.length - left });
    left -= Math.min(left, opener.length);
  }
  return 0;
};

const closeBracket = (state: State, next: string | undefined): void => {
  const at = state.openers.findLastIndex(({ mark }) => mark === "[");
  state.at += 1;
  if (at < 0) return;
  state.openers.length = next === "(" ? at + 1 : at;
  if (next !== "(") return;
  state.openers.push({ mark: "(", at: state.at, length: 1 });
  state.at += 1;
};

/** What was opened stands for itself. The text after it is read again if it was taken for code or a target. */
const giveUp = (state: State, oldest: Opener): void => {
  const end = oldest.at + oldest.length;
  cut(state, oldest.at, oldest.at);
  addPlain(state, state.text.slice(oldest.at, end));
  const hidesText = oldest.mark === "`" || oldest.mark === "<" || state.openers[1]?.mark === "(";
  state.openers = hidesText ? [] : state.openers.slice(1);
  state.start = end;
  if (hidesText) state.at = end;
};

/** Between words without spaces, away from anything that could be markup. */
const mayCut = ({ text, start, at }: State, character: string): boolean => {
  if (at <= start) return false;
  const before = text[at - 1] ?? "";
  if (/[\\`*_~[\]<>!&;()]/.test(before + character)) return false;
  return isWide(before) || isWide(character) || (at - start > MAX_WORD && !/[\udc00-\udfff]/.test(character));
};

/** Ends the piece at `end`; up to `next` there is only space. */
const cut = (state: State, end: number, next: number): void => {
  const { text, start } = state;
  if (end > start) {
    const piece = text.slice(start, end);
    if (MARKUP.test(piece)) state.pieces.push({ type: "markup", text: withFlanks(piece, start, state.flanks) });
    else addPlain(state, piece);
  }
  const spaces = text.slice(Math.max(start, end), next);
  if (spaces !== "" && next < text.length) addSpace(state, spaces, text[end - 1] ?? "", text[next] ?? "");
  state.flanks = state.flanks.filter((at) => at >= next);
  state.start = next;
};

const addSpace = (state: State, spaces: string, before: string, after: string): void => {
  if (!spaces.includes("\n")) addPlain(state, spaces);
  else if (/^ {2,}\n/.test(spaces)) state.pieces.push({ type: "break" });
  else if (!isWide(before) || !isWide(after)) addPlain(state, " ");
};

const addPlain = (state: State, text: string): void => {
  const last = state.pieces.at(-1);
  if (last?.type === "plain") state.pieces[state.pieces.length - 1] = { type: "plain", text: last.text + text };
  else state.pieces.push({ type: "plain", text });
};

const withFlanks = (piece: string, start: number, flanks: readonly number[]): string =>
  flanks
    .filter((at) => at - start > 0 && at - start < piece.length)
    .reduceRight((text, at) => text.slice(0, at - start) + FLANK + text.slice(at - start), piece);

/** Chinese, Japanese and Korean characters and their punctuation: no space stands between them. */
export const isWide = (character: string): boolean => WIDE.test(character);

const WIDE = /^[\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6]/;
