/** The text with LF for every CRLF. A lone CR is an ordinary character. */
export const normalizeEndings = (text: string): string =>
  text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;

/** Where `offset` of `normalizeEndings(text)` is in `text`. A CRLF is never split. */
export const originalOffset = (text: string, offset: number): number => {
  let pairs = 0;
  for (let at = text.indexOf("\r\n"); at !== -1 && at - pairs < offset; at = text.indexOf("\r\n", at + 2)) pairs += 1;
  return offset + pairs;
};

/** The line ending nearest to a region: of its last line, else of the line before; null in a text of one line. */
export const endingNear = (text: string, start: number, end: number): string | null => {
  const after = text.indexOf("\n", end);
  const at = after === -1 ? text.slice(0, start).lastIndexOf("\n") : after;
  if (at === -1) return null;
  return text[at - 1] === "\r" ? "\r\n" : "\n";
};

/**
 * `replacement` (LF only) with the line endings of the region that it replaces: lines that stay keep their own,
 * changed lines have that of the line in their place, new ones that of their neighbour.
 */
export const withEndingsOf = (region: string, replacement: string, neighbour: string): string => {
  const endings = region.match(/\r?\n/g) ?? [];
  const last = endings.at(-1) ?? neighbour;
  if (endings.every((ending) => ending === last)) return replacement.replaceAll("\n", last);

  const before = region.split(/\r?\n/);
  const after = replacement.split("\n");
  const head = commonPrefix(before, after);
  const tail = commonSuffix(before, after, head);
  const endingAfter = (index: number): string => {
    const fromEnd = after.length - 1 - index;
    if (index >= head && fromEnd <= tail) return endings.at(-fromEnd) ?? last;
    return endings[index] ?? last;
  };
  return after.map((line, index) => (index === after.length - 1 ? line : line + endingAfter(index))).join("");
};

/** How many items are the same from the start. */
export const commonPrefix = <T>(a: readonly T[], b: readonly T[]): number => {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
};

/** How many items are the same from the end, not counting the first `taken`. */
export const commonSuffix = <T>(a: readonly T[], b: readonly T[], taken: number): number => {
  let length = 0;
  while (length < Math.min(a.length, b.length) - taken && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
};
