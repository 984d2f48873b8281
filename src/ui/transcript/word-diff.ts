export type Part = { readonly text: string; readonly isChanged: boolean };

export type ChangedPair = { readonly before: readonly Part[]; readonly after: readonly Part[] };

const WORDS = /[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu;
// Below this share of common text two lines are two lines, and marks on most of them would only be noise.
const MIN_COMMON = 0.4;
// Longer middles count as changed as a whole; the table of the comparison has this many cells at most.
const MAX_CELLS = 40_000;

/** What changed between two lines, word by word; undefined where they do not resemble each other. */
export const wordDiff = (before: string, after: string): ChangedPair | undefined => {
  const a = before.match(WORDS) ?? [];
  const b = after.match(WORDS) ?? [];
  const common = commonWords(a, b);
  const kept = a.filter((_, index) => common.before.has(index));
  const share = (2 * letters(kept)) / Math.max(1, letters(a) + letters(b));
  if (share < MIN_COMMON) return undefined;
  return { before: parts(a, common.before), after: parts(b, common.after) };
};

/** How much of two lines is made of the same words, 0 to 1, whatever their order: quick, to choose what to compare. */
export const resemblance = (before: string, after: string): number => {
  const a = before.match(WORDS) ?? [];
  const b = after.match(WORDS) ?? [];
  const counts = new Map<string, number>();
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1);
  const shared = b.filter((word) => {
    const left = counts.get(word) ?? 0;
    counts.set(word, left - 1);
    return left > 0;
  });
  return (2 * letters(shared)) / Math.max(1, letters(a) + letters(b));
};

/** Length without blanks: indentation makes no two lines alike. */
const letters = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.trim().length, 0);

type Common = { readonly before: ReadonlySet<number>; readonly after: ReadonlySet<number> };

/** The places of the words that both lines have in the same order. */
const commonWords = (a: readonly string[], b: readonly string[]): Common => {
  const before = new Set<number>();
  const after = new Set<number>();
  const keep = (i: number, j: number): void => {
    before.add(i);
    after.add(j);
  };
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    keep(start, start);
    start += 1;
  }
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    end += 1;
    keep(a.length - end, b.length - end);
  }
  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);
  if (middleA.length * middleB.length <= MAX_CELLS)
    for (const [i, j] of longestCommon(middleA, middleB)) keep(start + i, start + j);
  return { before, after };
};

/** Pairs of places of a longest common subsequence. */
const longestCommon = (a: readonly string[], b: readonly string[]): (readonly [number, number])[] => {
  const columns = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * columns);
  const at = (i: number, j: number): number => lengths[i * columns + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * columns + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
};

/** Neighbours of one kind together; a blank between two changed words is changed with them. */
const parts = (words: readonly string[], kept: ReadonlySet<number>): Part[] => {
  const isChanged = (index: number): boolean => index >= 0 && index < words.length && !kept.has(index);
  const joined: { text: string; isChanged: boolean }[] = [];
  words.forEach((text, index) => {
    const isBridge = text.trim() === "" && isChanged(index - 1) && isChanged(index + 1);
    const changed = isBridge || isChanged(index);
    const last = joined.at(-1);
    if (last?.isChanged === changed) last.text += text;
    else joined.push({ text, isChanged: changed });
  });
  return joined;
};
