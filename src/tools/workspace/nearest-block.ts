/** A line of the file beside the line that the source has in its place; null where the file is over. */
export type LinePair = { readonly number: number; readonly file: string | null; readonly source: string };

// Bounds, so that a miss in a huge file stays fast: what is looked at, and what counts as near.
const MAX_SEARCHED = 2_000_000;
const MAX_SOURCE_LINES = 200;
const MAX_COMPARED = 300;
const MAX_LINE_VOTES = 200;
const MAX_LINES_TRIED = 3;
const MIN_SIMILARITY = 0.5;

/** The block of `text` that is most like `source`, line by line, or null where nothing is near. Both with LF. */
export const nearestBlock = (text: string, source: string): LinePair[] | null => {
  const file = text.slice(0, MAX_SEARCHED).replace(/\n$/, "").split("\n");
  const wanted = source.split("\n").slice(0, MAX_SOURCE_LINES);
  while (wanted.length > 1 && wanted[0]?.trim() === "") wanted.shift();
  while (wanted.length > 1 && wanted.at(-1)?.trim() === "") wanted.pop();
  const first = firstLineByVotes(file, wanted) ?? firstLineBySimilarity(file, wanted);
  if (first === null) return null;
  const start = Math.max(0, Math.min(first, file.length - 1));
  return wanted.map((line, index) => ({ number: start + index + 1, file: file[start + index] ?? null, source: line }));
};

/** Every file line that equals a source line but for blanks votes for where the block would begin. */
const firstLineByVotes = (file: readonly string[], wanted: readonly string[]): number | null => {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = squeeze(line);
    if (key.length >= 3) places.set(key, [...(places.get(key) ?? []), index]);
  }
  const votes = new Map<number, number>();
  const spent = new Map<string, number>();
  for (const [index, line] of file.entries()) {
    if (line.length > MAX_COMPARED * 4) continue;
    const key = squeeze(line);
    const found = places.get(key);
    const used = spent.get(key) ?? 0;
    if (!found || used >= MAX_LINE_VOTES) continue;
    spent.set(key, used + 1);
    for (const place of found) votes.set(index - place, (votes.get(index - place) ?? 0) + Math.min(key.length, 40));
  }
  return best(votes);
};

/** By the line of the file that is most like one of the source's longest lines. */
const firstLineBySimilarity = (file: readonly string[], wanted: readonly string[]): number | null => {
  const longest = [...wanted.entries()].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_LINES_TRIED);
  for (const [index, line] of longest) {
    const key = squeeze(line.slice(0, MAX_COMPARED));
    const pairs = bigrams(key);
    const scores = new Map<number, number>();
    for (const [at, other] of file.entries()) {
      const otherKey = squeeze(other.slice(0, MAX_COMPARED));
      const score = similarity(pairs, otherKey);
      // Of two that are alike, the one of the same length.
      if (score >= MIN_SIMILARITY) scores.set(at - index, score - Math.abs(key.length - otherKey.length) / 1e4);
    }
    const first = best(scores);
    if (first !== null) return first;
  }
  return null;
};

const best = (scores: ReadonlyMap<number, number>): number | null => {
  let winner: number | null = null;
  let highest = 0;
  for (const [key, score] of scores) {
    if (score <= highest) continue;
    winner = key;
    highest = score;
  }
  return winner;
};

/** Without what is hard to see: blanks, letter case, characters without width, forms of one character. */
const squeeze = (line: string): string =>
  line
    .normalize("NFKC")
    .replace(/[\s\p{Cf}]+/gu, "")
    .toLowerCase();

const bigrams = (text: string): ReadonlySet<string> => {
  const pairs = new Set<string>();
  for (let index = 0; index < text.length - 1; index += 1) pairs.add(text.slice(index, index + 2));
  return pairs;
};

/** From 0 to 1: how many neighbouring pairs of characters two lines share (Dice). */
const similarity = (pairs: ReadonlySet<string>, line: string): number => {
  const own = bigrams(line);
  if (pairs.size + own.size === 0) return 0;
  let shared = 0;
  for (const pair of own) if (pairs.has(pair)) shared += 1;
  return (2 * shared) / (pairs.size + own.size);
};
