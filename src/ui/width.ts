import fastStringWidth from "fast-string-width";

const PRINTABLE_ASCII = /^[ -~]*$/;

/** Terminal cells that a text takes: 2 for wide characters and emoji, 0 for combining marks. */
export const displayWidth = (text: string): number =>
  PRINTABLE_ASCII.test(text) ? text.length : fastStringWidth(text);

/**
 * The most cells that a terminal gives to a character behind another, "" where a row or a style begins. Terminals disagree
 * on emoji that are joined of several, and on marks with no character to stand on; a flood of either must not make a
 * terminal wrap a row of ours, whose rest would then stand in the first column.
 */
export const widthAfter = (before: string, character: string): number => {
  const width = displayWidth(character);
  if (width === 0) return displayWidth(before) === 0 ? [...character].length : 0;
  if (character.length < 3) return width;
  return Math.max(
    width,
    [...character].reduce((sum, part) => sum + displayWidth(part), 0),
  );
};

/** The characters as a person counts them: an emoji with its modifiers, a letter with its accents. */
export const graphemes = (text: string): string[] =>
  PRINTABLE_ASCII.test(text) ? [...text] : Array.from(segmenter().segment(text), ({ segment }) => segment);

// Making one takes a millisecond; it holds no state of any text.
let shared: Intl.Segmenter | undefined;
const segmenter = (): Intl.Segmenter => {
  shared ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return shared;
};

/** The longest beginning of the text that fits `cells`; a character is never split. */
export const cutToWidth = (text: string, cells: number): string => {
  if (PRINTABLE_ASCII.test(text)) return text.slice(0, Math.max(0, cells));
  let width = 0;
  let kept = "";
  for (const character of graphemes(text)) {
    width += displayWidth(character);
    if (width > cells) break;
    kept += character;
  }
  return kept;
};
