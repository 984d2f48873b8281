import { CHIP } from "./editor-chips.ts";
import { boundaryAt, boundaryBefore, lineEnd, lineStart } from "./editor-clusters.ts";

type Word = { readonly start: number; readonly end: number };

const WORDS = new RegExp(String.raw`${CHIP.source}|[\p{L}\p{N}\p{M}_]+(?:['’]\p{L}+)*`, "gu");
// Scripts that put no space between words.
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Where the word begins that `at` is in or after; 0 if there is none. A chip is a word. */
export const wordBefore = (text: string, at: number): number => {
  for (let end = at; ; ) {
    const start = lineStart(text, end);
    const word = words(text.slice(start, end)).at(-1);
    if (word !== undefined) return startOfCharacter(text, start + word.start);
    if (start === 0) return 0;
    end = start - 1;
  }
};

/** Where the word ends that `at` is in or before; the end of the text if there is none. */
export const wordAfter = (text: string, at: number): number => {
  for (let start = at; ; ) {
    const end = lineEnd(text, start);
    const word = words(text.slice(start, end))[0];
    if (word !== undefined) return boundaryAt(text, start + word.end);
    if (end === text.length) return end;
    start = end + 1;
  }
};

/** Like `wordBefore`, for words as a shell has them: all that is no white space. */
export const shellWordBefore = (text: string, at: number): number => {
  const end = text.slice(0, at).trimEnd().length;
  for (let start = end; ; start--)
    if (start === 0 || /\s/.test(text.charAt(start - 1))) return startOfCharacter(text, start);
};

// A mark at the beginning of a word may belong to a character before it that is none of the word's.
const startOfCharacter = (text: string, at: number): number => {
  const boundary = boundaryAt(text, at);
  return boundary === at ? at : boundaryBefore(text, boundary);
};

const words = (line: string): Word[] =>
  Array.from(line.matchAll(WORDS), ({ 0: word, index }) => ({ word, index })).flatMap(({ word, index }) =>
    UNSPACED.test(word) ? unspacedWords(word, index) : [{ start: index, end: index + word.length }],
  );

const unspacedWords = (text: string, offset: number): Word[] =>
  Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment, index }) => ({ start: offset + index, end: offset + index + segment.length }));
