import { cleanOutput } from "../../text/clean.ts";

/** A large paste: one character in the text, shown as a label, sent as what was pasted. */
export type Chip = { readonly number: number; readonly lines: number; readonly text: string };

/** The chips of a text by their character. */
export type Chips = ReadonlyMap<string, Chip>;

export type ChipLabel = (chip: Chip) => string;

// The end of private plane 15: beyond the icons that fonts for programmers have there.
const FIRST = 0xfe000;
const COUNT = 8000;

/** A chip's character. */
export const CHIP = /[\u{fe000}-\u{fff3f}]/u;
export const CHIPS = /[\u{fe000}-\u{fff3f}]/gu;

const MAX_LINES = 10;
const MAX_CHARACTERS = 1000;
// A whole text that comes back from history or an editor is there to be edited, as far as that goes smoothly.
const MAX_TEXT = 50_000;

/** Pasted or typed text as the editor keeps it. */
export const cleanInput = (text: string): string =>
  cleanOutput(text.replace(/\r\n?|[\u2028\u2029]/g, "\n")).replace(/\p{Cs}/gu, "\ufffd");

/** `text` is clean; what returns stands in the editor, with a chip in `chips` where it is large. */
export const textWithChip = (text: string, chips: Chips): { readonly text: string; readonly chips: Chips } => {
  const lines = countLines(text);
  return lines > MAX_LINES || text.length > MAX_CHARACTERS ? addChip({ text, lines }, chips) : plain(text, chips);
};

/** The same for a whole text, of which only what is too large to edit becomes a chip. */
export const wholeText = (text: string): { readonly text: string; readonly chips: Chips } =>
  text.length > MAX_TEXT ? addChip({ text, lines: countLines(text) }, new Map()) : plain(text, new Map());

const plain = (text: string, chips: Chips) => ({ text: text.replace(CHIPS, "\ufffd").replaceAll("\t", "    "), chips });

const addChip = (chip: Omit<Chip, "number">, chips: Chips): { readonly text: string; readonly chips: Chips } => {
  const number = Math.max(0, ...Array.from(chips.values(), (other) => other.number)) + 1;
  if (number > COUNT) return plain(chip.text, chips);
  const character = String.fromCodePoint(FIRST + number - 1);
  return { text: character, chips: new Map(chips).set(character, { ...chip, number }) };
};

const countLines = (text: string): number => text.replace(/\n$/, "").split("\n").length;

/** The text with the contents in the places of the chips. */
export const expandChips = (text: string, chips: Chips): string =>
  text.replace(CHIPS, (character) => chips.get(character)?.text ?? "");

/** Text with chips of another time or editor, to be put among `chips`: its chips get numbers of their own. */
export const adoptChips = (
  text: string,
  from: Chips,
  chips: Chips,
): { readonly text: string; readonly chips: Chips } => {
  let all = chips;
  const adopted = text.replace(CHIPS, (character) => {
    const chip = from.get(character);
    if (chip === undefined || chip === all.get(character)) return chip === undefined ? "" : character;
    const added = addChip(chip, all);
    all = added.chips;
    return added.text;
  });
  return { text: adopted, chips: all };
};
