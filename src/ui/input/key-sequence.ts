import { ALT, CTRL, controlKey, type KeyInput, keyInput, SHIFT, type TerminalReply } from "./key-input.ts";
import { functionalKey, KEYPAD_TEXT, LETTER_KEYS, NUMBER_KEYS } from "./key-tables.ts";

/** One whole sequence: how many characters it takes, and what it says; much says nothing to us. */
export type Sequence =
  | { readonly type: "input"; readonly length: number; readonly input: KeyInput }
  | { readonly type: "paste-start"; readonly length: number }
  | { readonly type: "nothing"; readonly length: number };

type Meaning =
  | { readonly type: "input"; readonly input: KeyInput }
  | { readonly type: "paste-start" }
  | { readonly type: "nothing" };

const NOTHING: Meaning = { type: "nothing" };
const OTHER_REPLY: Meaning = { type: "input", input: { type: "reply", reply: { kind: "other" } } };
const key = (name: string, modifiers = 0): Meaning => ({ type: "input", input: keyInput(name, modifiers) });
const text = (characters: string): Meaning => ({ type: "input", input: { type: "text", text: characters } });

// The 8-bit twins of ESC and a character.
const C1_INTRODUCERS: Readonly<Record<string, string>> = {
  "\x8f": "O",
  "\x90": "P",
  "\x98": "X",
  "\x9b": "[",
  "\x9d": "]",
  "\x9e": "^",
  "\x9f": "_",
};

/** Reads the sequence that begins at `at` with ESC or a C1 control; undefined while its end has not come. */
export const readSequence = (input: string, at: number): Sequence | undefined => {
  if (input[at] !== "\x1b") {
    const introducer = C1_INTRODUCERS[input.charAt(at)];
    return introducer === undefined ? { type: "nothing", length: 1 } : readBody(input, introducer, at, at + 1);
  }
  const introducer = input[at + 1];
  if (introducer === undefined) return undefined;
  if (introducer === "\x1b") return readAfterEscape(input, at);
  return readBody(input, introducer, at, at + 2);
};

/** ESC ESC and a key's sequence is that key with Alt in some terminals; else the first ESC is the key Escape. */
const readAfterEscape = (input: string, at: number): Sequence | undefined => {
  const pressed: Sequence = { type: "input", length: 1, input: keyInput("escape") };
  const next = input[at + 2];
  if (next === undefined) return undefined;
  if (next !== "[" && next !== "O") return pressed;
  const sequence = readSequence(input, at + 1);
  if (sequence === undefined) return undefined;
  if (sequence.type !== "input" || sequence.input.type !== "key") return pressed;
  const chord = sequence.input.chord.replace(/^(ctrl\+)?(alt\+)?/, "$1alt+");
  return { ...sequence, length: sequence.length + 1, input: { type: "key", chord } };
};

const readBody = (input: string, introducer: string, start: number, body: number): Sequence | undefined => {
  switch (introducer) {
    case "[":
      return readCsi(input, start, body);
    case "O":
      return readSs3(input, start, body);
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      return readString(input, introducer, start, body);
    default:
      return altKey(input, start);
  }
};

const altKey = (input: string, start: number): Sequence => {
  const character = String.fromCodePoint(input.codePointAt(start + 1) ?? 0);
  // What follows would be a sequence of its own.
  if (/[\x80-\x9f]/.test(character)) return { type: "input", length: 1, input: keyInput("escape") };
  const isControl = /[\x00-\x1f\x7f]/.test(character);
  const pressed = isControl ? controlKey(character, ALT) : keyInput(character, ALT);
  return { type: "input", length: 1 + character.length, input: pressed };
};

// Longer ones are broken: they end there, so that a reader never waits for ever.
const CSI = /([0-?]{0,256})([ -/]{0,16})([@-~]?)/y;

const readCsi = (input: string, start: number, body: number): Sequence | undefined => {
  const done = (end: number, meaning: Meaning): Sequence => ({ ...meaning, length: end - start });
  const [whole, parameters, between, final] = matchAt(CSI, input, body);
  const end = body + whole.length;
  // rxvt ends Shift with a character that opens an ending everywhere else.
  if (/^\d{1,2}$/.test(parameters) && between.startsWith("$"))
    return done(body + parameters.length + 1, numberKey(Number(parameters), SHIFT));
  if (final === "") return end < input.length ? done(end, NOTHING) : undefined;
  if (parameters === "" && between === "") {
    if (final === "[") return end < input.length ? done(...linuxFunctionKey(input, end)) : undefined;
    // The old mouse report: three bytes for button and place.
    if (final === "M") return input.length >= end + 3 ? done(end + 3, NOTHING) : undefined;
  }
  return done(end, csiMeaning(parameters, between, final));
};

const linuxFunctionKey = (input: string, at: number): [number, Meaning] => {
  const number = "ABCDE".indexOf(input.charAt(at)) + 1;
  return number > 0 ? [at + 1, key(`f${number}`)] : [at, NOTHING];
};

const csiMeaning = (parameters: string, between: string, final: string): Meaning => {
  if (parameters.startsWith("<")) return NOTHING;
  const isReply =
    (/^[=>?]/.test(parameters) && /[cnuyRSx]/.test(final)) ||
    (between === "$" && final === "y") ||
    // Where the cursor is. Modified F3 looks the same in some terminals; it does nothing here.
    (/^\d+;\d+$/.test(parameters) && final === "R") ||
    (parameters !== "" && /[cntx]/.test(final));
  if (isReply) return OTHER_REPLY;
  if (/^[=>?]/.test(parameters) || between !== "") return NOTHING;
  return pressedKey(parameters, final);
};

const pressedKey = (parameters: string, final: string): Meaning => {
  const fields = parameters.split(";").map((field) => field.split(":").map(Number));
  const number = fields[0]?.[0] ?? 0;
  const [given = 1, event = 1] = fields[1] ?? [];
  if (event === 3) return NOTHING; // a key that was let go
  const bits = Math.max(0, given - 1);
  if (final === "u") return printableKey({ code: number, alternates: fields[0] ?? [], bits, typed: fields[2] ?? [] });
  if (final === "~" && number === 27 && fields[2] !== undefined) return otherKey(fields[2][0] ?? 0, bits);
  if (final === "~" && number === 200 && bits === 0) return { type: "paste-start" };
  if (final === "~") return numberKey(number, legacyModifiers(bits));
  // rxvt: Ctrl, and Ctrl with Shift.
  if (final === "^") return numberKey(number, CTRL);
  if (final === "@") return numberKey(number, CTRL | SHIFT);
  if (final === "Z") return key("tab", legacyModifiers(bits) | SHIFT);
  if (/[a-d]/.test(final)) return letterKey(final.toUpperCase(), SHIFT);
  return letterKey(final, legacyModifiers(bits));
};

// The bits for Super and Meta: some terminals send one of them for Alt.
const legacyModifiers = (bits: number): number => (bits & 7) | (bits & (8 | 32) ? ALT : 0);

const letterKey = (letter: string, modifiers: number): Meaning => {
  const name = LETTER_KEYS[letter];
  return name === undefined ? NOTHING : key(name, modifiers);
};

const numberKey = (number: number, modifiers: number): Meaning => {
  const name = NUMBER_KEYS[number];
  return name === undefined ? NOTHING : key(name, modifiers);
};

/** xterm's modifyOtherKeys: the code is what the layout made of the key, Shift included. */
const otherKey = (code: number, bits: number): Meaning => {
  const isSymbol = code > 32 && code < 127 && !/[a-z]/i.test(String.fromCharCode(code));
  return printableKey({ code, alternates: [], bits: isSymbol ? bits & ~SHIFT : bits, typed: [] });
};

type Printable = {
  readonly code: number;
  /** The code, the code with Shift, the code of the same key on a Latin layout. */
  readonly alternates: readonly number[];
  readonly bits: number;
  readonly typed: readonly number[];
};

const printableKey = ({ code, alternates: [, shifted = 0, latin = 0], bits, typed }: Printable): Meaning => {
  if (bits & (8 | 16)) return NOTHING; // Super and Hyper belong to the desktop
  const modifiers = (bits & 7) | (bits & 32 ? ALT : 0);
  const written = modifiers & (CTRL | ALT) ? "" : typed.map(fromCode).join("");
  if (written !== "") return text(written);
  if (code === 127 || (code > 0 && code < 32))
    return { type: "input", input: controlKey(String.fromCharCode(code), modifiers) };
  const name = functionalKey(code);
  if (name !== undefined) return key(name, modifiers);
  const keypad = KEYPAD_TEXT[code];
  if (keypad === undefined && isPrivateUse(code)) return NOTHING; // modifier keys, media keys
  const character = keypad ?? fromCode(code);
  if (character === "") return NOTHING;
  if (modifiers & (CTRL | ALT)) {
    if (latin > 32 && code > 126) return key(fromCode(latin), modifiers);
    const isSymbol = shifted > 32 && shifted < 127 && !/[a-z]/i.test(fromCode(shifted));
    return modifiers & SHIFT && isSymbol
      ? key(fromCode(shifted), modifiers & ~SHIFT)
      : key(lowerCase(character), modifiers);
  }
  if (!(modifiers & SHIFT)) return text(character);
  return text(fromCode(shifted) || character.toUpperCase());
};

const isPrivateUse = (code: number): boolean => code >= 0xe000 && code <= 0xf8ff;

/** "" for what is no printable character. */
const fromCode = (code: number): string => {
  const isPrintable =
    (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0xd800) || (code > 0xdfff && code <= 0x10ffff);
  return isPrintable ? String.fromCodePoint(code) : "";
};

const lowerCase = (character: string): string => (/^[A-Z]$/.test(character) ? character.toLowerCase() : character);

const SS3 = /([0-9;]{0,16})([ -~]?)/y;
// Application keypad: `j` is `*` … `y` is 9.
const KEYPAD = "*+,-./0123456789";

const readSs3 = (input: string, start: number, body: number): Sequence | undefined => {
  const done = (end: number, meaning: Meaning): Sequence => ({ ...meaning, length: end - start });
  const [whole, parameters, final] = matchAt(SS3, input, body);
  const end = body + whole.length;
  if (final === "") return end < input.length ? done(end, NOTHING) : undefined;
  const bits = Math.max(0, Number(parameters.split(";").at(-1) || 1) - 1);
  if (final === "M") return done(end, key("enter", legacyModifiers(bits)));
  if (final === "X") return done(end, text("="));
  if (/[a-d]/.test(final)) return done(end, letterKey(final.toUpperCase(), CTRL));
  if (/[j-y]/.test(final)) return done(end, text(KEYPAD.charAt(final.charCodeAt(0) - 106)));
  return done(end, letterKey(final, legacyModifiers(bits)));
};

const MAX_STRING = 4096;
const STRING = /([^\x00-\x1f\x7f-\x9f]*)(\x07|\x9c|\x1b\\)?/y;

const readString = (input: string, introducer: string, start: number, body: number): Sequence | undefined => {
  const [whole, content, terminator] = matchAt(STRING, input.slice(0, body + MAX_STRING), body);
  const end = body + whole.length;
  if (terminator !== "")
    return { type: "input", length: end - start, input: { type: "reply", reply: stringReply(introducer, content) } };
  const mayEnd = end === input.length || (input[end] === "\x1b" && end + 1 === input.length);
  return mayEnd && content.length < MAX_STRING ? undefined : { type: "nothing", length: end - start };
};

const BACKGROUND =
  /^11;(?:rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})|#([\da-f]{2})([\da-f]{2})([\da-f]{2})$)/i;

const stringReply = (introducer: string, content: string): TerminalReply => {
  const match = introducer === "]" ? BACKGROUND.exec(content) : null;
  const [red, green, blue] = (match ?? []).slice(1).filter((hex) => hex !== undefined);
  if (red === undefined || green === undefined || blue === undefined) return { kind: "other" };
  return { kind: "background", red: toByte(red), green: toByte(green), blue: toByte(blue) };
};

// One to four digits, each a fraction of the largest number with so many.
const toByte = (hex: string): number => Math.round((Number.parseInt(hex, 16) / (16 ** hex.length - 1)) * 255);

const matchAt = (pattern: RegExp, input: string, at: number): readonly [string, string, string, string] => {
  pattern.lastIndex = at;
  const [whole = "", first = "", second = "", third = ""] = pattern.exec(input) ?? [];
  return [whole, first, second, third];
};
