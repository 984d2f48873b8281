import type { SnapshotKey } from "fuzzysort";

/** A candidate that matches: its place in the list, 0 to 1 for how well, and the matched characters (UTF-16 indexes). */
export type Ranked = { readonly index: number; readonly score: number; readonly positions: readonly number[] };

/** The best first; `total` counts those beyond the limit too. */
export type Ranking = { readonly items: readonly Ranked[]; readonly total: number };

/**
 * The candidates that match the query, best first, equally good ones in their own order; an empty query matches all.
 * Letter case counts when the query has capitals.
 */
export type Rank = (query: string, candidates: readonly string[], limit: number) => Ranking;

/** `Rank` without the library: beginnings, then what has the query anywhere. */
export const plainRank: Rank = (query, candidates, limit) => {
  if (query.trim() === "") return inOrder(candidates, limit);
  const fold = hasCapitals(query) ? (text: string) => text : (text: string) => text.toLowerCase();
  const found = candidates
    .map((candidate, index) => ({ index, at: fold(candidate).indexOf(query) }))
    .filter(({ at }) => at >= 0)
    .map(({ index, at }) => ({ index, score: at === 0 ? 1 : 0.5, positions: range(at, query.length) }))
    .sort(byScore);
  return { items: found.slice(0, limit), total: found.length };
};

/**
 * Loads the library and returns the real `Rank`. What it prepares for a list of candidates is kept as long as the
 * list: pass the same array at each key. The first search in a list of 20,000 takes about 0.2 s, later ones few ms.
 */
export const loadRank = async (): Promise<Rank> => {
  const { go, snapshot } = await import("fuzzysort");
  const snapshots = new WeakMap<readonly string[], SnapshotKey<Candidate>>();
  const prepared = (candidates: readonly string[]): SnapshotKey<Candidate> => {
    const known = snapshots.get(candidates);
    if (known !== undefined) return known;
    const made = snapshot(
      candidates.map((text, index) => ({ text, index })),
      { key: "text" },
    );
    snapshots.set(candidates, made);
    return made;
  };
  return (query, candidates, limit) => {
    if (query.trim() === "") return inOrder(candidates, limit);
    const matchCase = hasCapitals(query);
    const found = go(query, prepared(candidates), {
      // Of equally good ones the library keeps any; with room to spare those that we cut off are the last in order.
      limit: Math.max(limit, MIN_FOUND),
      threshold: 0,
      ...(matchCase && { scoreFn: ({ score, target }) => (casePositions(query, target) === undefined ? 0 : score) }),
    });
    const items = found
      .map(({ obj, score, indexes, target }) => ({
        index: obj.index,
        score,
        positions: matchCase ? exactPositions(query, target, indexes) : indexes,
      }))
      .sort(byScore)
      .slice(0, limit);
    return { items, total: found.total };
  };
};

type Candidate = { readonly text: string; readonly index: number };

const MIN_FOUND = 200;

const inOrder = (candidates: readonly string[], limit: number): Ranking => ({
  items: candidates.slice(0, limit).map((_, index) => ({ index, score: 1, positions: [] })),
  total: candidates.length,
});

const byScore = (a: Ranked, b: Ranked): number => b.score - a.score || a.index - b.index;

const hasCapitals = (query: string): boolean => query !== query.toLowerCase();

const range = (start: number, length: number): number[] => Array.from({ length }, (_, index) => start + index);

/** Where the query's characters stand in the target in their own case and order, word by word; undefined where not. */
const casePositions = (query: string, target: string): number[] | undefined => {
  const positions: number[] = [];
  for (const word of query.split(/\s+/)) {
    let from = 0;
    for (let index = 0; index < word.length; index += 1) {
      const at = target.indexOf(word.charAt(index), from);
      if (at < 0) return undefined;
      positions.push(at);
      from = at + 1;
    }
  }
  return positions;
};

/** The library's positions, which are the better ones, unless it ignored the case there. */
const exactPositions = (query: string, target: string, indexes: readonly number[]): readonly number[] => {
  const matched = indexes.map((index) => target.charAt(index)).join("");
  return matched === query.replace(/\s+/g, "") ? indexes : (casePositions(query, target) ?? indexes);
};
