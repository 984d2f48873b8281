export type Span = { readonly start: number; readonly end: number };

/** A span and what is to stand in its place. */
export type Edit = Span & { readonly text: string };

/** What a level works on: all three with LF as the only line ending. */
export type MatchRequest = { readonly text: string; readonly source: string; readonly target: string };

/** Where a level found the source, and how it would replace a match. */
export type Found = { readonly matches: readonly Span[]; readonly edit: (match: Span) => Edit };

/** Counting stops here: a source that matches so often needs no exact figure. */
export const MAX_COUNTED = 10_000;

/**
 * Where `needle` (not empty) stands in `text`, overlapping places included, at most MAX_COUNTED that satisfy `accepts`.
 * Knuth-Morris-Pratt: the time is linear, where `indexOf` takes minutes for a long block in a file that repeats itself.
 */
export const occurrences = (text: string, needle: string, accepts: (match: Span) => boolean = () => true): Span[] => {
  const borders = bordersOf(needle);
  const matches: Span[] = [];
  let matched = 0;
  for (let index = 0; index < text.length && matches.length < MAX_COUNTED; index += 1) {
    const code = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === code) matched += 1;
    if (matched < needle.length) continue;
    const match = { start: index + 1 - matched, end: index + 1 };
    if (accepts(match)) matches.push(match);
    matched = borders[matched - 1] ?? 0;
  }
  return matches;
};

/** For each prefix of `needle`: the length of the longest shorter prefix that it also ends with. */
const bordersOf = (needle: string): Int32Array => {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let index = 1; index < needle.length; index += 1) {
    const code = needle.charCodeAt(index);
    while (length > 0 && needle.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (needle.charCodeAt(length) === code) length += 1;
    borders[index] = length;
  }
  return borders;
};
