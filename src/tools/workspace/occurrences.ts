export type Span = { readonly start: number; readonly end: number };

/** A span and what is to stand in its place. */
export type Edit = Span & { readonly text: string };

/** What a level works on: all three with LF as the only line ending. */
export type MatchRequest = { readonly text: string; readonly source: string; readonly target: string };

/** Where a level found the source, and how it would replace a match. */
export type Found = { readonly matches: readonly Span[]; readonly edit: (match: Span) => Edit };

/** Counting stops here: a source that matches so often needs no exact figure. */
export const MAX_COUNTED = 10_000;

/** Where `needle` stands in `text`, overlapping places included, at most MAX_COUNTED that satisfy `accepts`. */
export const occurrences = (text: string, needle: string, accepts: (match: Span) => boolean = () => true): Span[] => {
  const matches: Span[] = [];
  for (let start = text.indexOf(needle); start !== -1; start = text.indexOf(needle, start + 1)) {
    const match = { start, end: start + needle.length };
    if (accepts(match)) matches.push(match);
    if (matches.length === MAX_COUNTED) break;
  }
  return matches;
};
