import fastStringWidth from "fast-string-width";

const PRINTABLE_ASCII = /^[ -~]*$/;

/** Terminal cells that a text takes: 2 for wide characters and emoji, 0 for combining marks. */
export const displayWidth = (text: string): number =>
  PRINTABLE_ASCII.test(text) ? text.length : fastStringWidth(text);

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
