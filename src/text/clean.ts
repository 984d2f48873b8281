/*
 * Text from commands, models and servers, made safe for a terminal and readable for a model.
 * No rule looks past a newline and each character is looked at a bounded number of times, so the time is linear.
 */

// OSC, DCS, SOS, PM, APC and the title of screen, with their terminator. A control character ends the search: what
// follows an unterminated one is ordinary text, and only its introducer goes.
const STRING_SEQUENCE = String.raw`(?:\x1b[\]PX^_k]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)`;
const CSI = String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`;
const SHORT_SEQUENCE = String.raw`\x1b[ -/]{0,2}[0-~]?`;
const SEQUENCES = new RegExp(`${STRING_SEQUENCE}|${CSI}|${SHORT_SEQUENCE}`, "g");

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const CONTROLS_THAT_MOVE_NOTHING = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** The text without control sequences and control characters, except newline and tab. */
export const stripControls = (text: string): string =>
  CONTROL.test(text) ? text.replace(SEQUENCES, "").replace(CONTROLS, "") : text;

/**
 * What a terminal would have shown in the end: `stripControls`, with CRLF as LF, a line that was written again
 * after a carriage return in its last state, and characters that were struck over with a backspace as the last one.
 */
export const cleanOutput = (text: string): string => {
  if (!CONTROL.test(text)) return text;
  const plain = text.replace(SEQUENCES, "").replace(CONTROLS_THAT_MOVE_NOTHING, "").replaceAll("\r\n", "\n");
  return plain.includes("\r") || plain.includes("\b") ? plain.split("\n").map(lastState).join("\n") : plain;
};

const lastState = (line: string): string => {
  const state = line.includes("\r") ? (line.split("\r").findLast((part) => part !== "") ?? "") : line;
  return state.includes("\b") ? overstruck(state) : state;
};

const overstruck = (line: string): string => {
  const cells: string[] = [];
  let column = 0;
  for (const character of line) {
    if (character === "\b") column = Math.max(0, column - 1);
    else cells[column++] = character;
  }
  return cells.join("");
};

/** `cleanOutput` for text that comes in pieces. */
export interface Cleaner {
  /** Takes the next piece and returns what is settled: whole lines, and what is too long to wait for a newline. */
  push(piece: string): string;
  /** The unfinished line as it would be shown now. */
  unfinished(): string;
  /** Settles the unfinished line and returns it. */
  flush(): string;
}

// A longer line is settled in parts; what rewrites it later cannot take those back.
const MAX_WAITING = 65_536;
// A cut never falls into a control sequence that is shorter than this.
const MAX_SEQUENCE = 4096;

/** State of one stream; holds at most one line, and of a long line the last 64 K characters. */
export const createCleaner = (): Cleaner => {
  let waiting = "";
  const settleLongLine = (): string => {
    const lineStart = lastRewrite(waiting);
    if (lineStart > 0) waiting = waiting.slice(lineStart);
    if (waiting.length <= MAX_WAITING) return "";
    const end = safeCut(waiting);
    const settled = cleanOutput(waiting.slice(0, end));
    waiting = waiting.slice(end);
    return settled;
  };
  return {
    push: (piece) => {
      const end = piece.lastIndexOf("\n") + 1;
      const settled = end === 0 ? "" : cleanOutput(waiting + piece.slice(0, end));
      waiting = end === 0 ? waiting + piece : piece.slice(end);
      return waiting.length > MAX_WAITING ? settled + settleLongLine() : settled;
    },
    unfinished: () => cleanOutput(waiting),
    flush: () => {
      const settled = cleanOutput(waiting);
      waiting = "";
      return settled;
    },
  };
};

/** Where the last state of a rewritten line begins: after its last carriage return that is followed by something. */
const lastRewrite = (line: string): number => {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end -= 1;
  return end === 0 ? 0 : line.lastIndexOf("\r", end - 1) + 1;
};

/** An index near the end that splits neither a character, nor a control sequence, nor CRLF. */
const safeCut = (line: string): number => {
  const introducer = line.slice(-MAX_SEQUENCE).search(/[\x1b\x90\x98\x9b\x9d-\x9f][^\x1b\x90\x98\x9b\x9d-\x9f]*$/);
  if (introducer >= 0) return Math.max(0, line.length - MAX_SEQUENCE) + introducer;
  return /[\ud800-\udbff\r]$/.test(line) ? line.length - 1 : line.length;
};

// Emoji and text presentation (U+FE0E, U+FE0F) are ordinary in names; the rest of what nobody can see is not.
// Neither are accents that stand on nothing or pile up: terminals do not agree on how wide they are.
const HIDDEN =
  /^\p{M}+|(?<=\p{M}{8})\p{M}+|(?![\ufe0e\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/**
 * A name, command or question as a person can check it: hidden characters (controls, bidi marks, zero-width and
 * filler characters, tags, lone surrogates) become `\u{…}`. Characters in `keep` ("\n", "\t") stay.
 * The text differs from the original exactly when something was hidden in it.
 */
export const visibleControls = (text: string, keep = ""): string =>
  text.replace(HIDDEN, (hidden) => (keep.includes(hidden) ? hidden : [...hidden].map(codeOf).join("")));

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
