import type MiniSearch from "minisearch";
import { questionWords, searchTerms, type Word } from "./words.ts";

/** What can be found. */
export type Findable = {
  readonly title: string;
  /** Beside the title. */
  readonly text: string;
};

export type Found<Item> = {
  readonly item: Item;
  /** Above 0, at most 1: how much of the question's words it has, rare ones counting more. The same for any number of entries. */
  readonly score: number;
};

/** Below this it has too little of the question. */
const MIN_SCORE = 0.25;
const TYPO_QUALITY = 0.65;

/** What answers a question, the best first. Never throws; a question without words finds nothing. */
export const search = async <Item extends Findable>(
  question: string,
  items: readonly Item[],
): Promise<readonly Found<Item>[]> => {
  const words = questionWords(question);
  if (words.length === 0 || items.length === 0) return [];
  const index = await createIndex(items);
  const matches = new Map<string, Matches>();
  const matchesOf = (term: string): Matches => {
    const known = matches.get(term) ?? findTerm(index, term);
    matches.set(term, known);
    return known;
  };
  const weighed = words.map((word) => weigh(word, matchesOf, items.length));
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  const isInTitle = (term: string | null, id: number): boolean =>
    term !== null && matchesOf(term).get(id)?.isInTitle === true;
  const found = items.map((item, id) => {
    const shares = weighed.map(({ weight, qualities }) => weight * (qualities.get(id) ?? 0));
    const inTitle = words.filter((word) => [word.whole, ...word.parts].some((term) => isInTitle(term, id)));
    return { item, score: Math.min(1, sum(shares) / total), inTitle: inTitle.length, id };
  });
  return found
    .filter(({ score }) => score >= MIN_SCORE)
    .sort(
      (a, b) => b.score - a.score || b.inTitle - a.inTitle || a.item.text.length - b.item.text.length || a.id - b.id,
    )
    .map(({ item, score }) => ({ item, score }));
};

type Match = { readonly quality: number; readonly isInTitle: boolean };

/** By entry. */
type Matches = ReadonlyMap<number, Match>;

type Index = MiniSearch<{ readonly id: number; readonly title: string; readonly text: string }>;

const createIndex = async (items: readonly Findable[]): Promise<Index> => {
  // Loaded at the first question: most sessions ask none.
  const { default: Search } = await import("minisearch");
  const index: Index = new Search({
    fields: ["title", "text"],
    tokenize: (text) => [...searchTerms(text)],
    processTerm: (term) => term,
  });
  // In pieces: keys and frames want their turn between them.
  await index.addAllAsync(
    items.map(({ title, text }, id) => ({ id, title, text })),
    { chunkSize: 200 },
  );
  return index;
};

/** The entries that have a term: as it is, as the beginning of a longer one, or where there is neither, with a slip. */
const findTerm = (index: Index, term: string): Matches => {
  const isLatin = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]+$/u.test(term);
  const options = { tokenize: () => [term], processTerm: () => term };
  const found = index.search(term, { ...options, prefix: isLatin && term.length >= 3 });
  const results =
    found.length > 0 || !isLatin || term.length < 5
      ? found
      : index.search(term, { ...options, fuzzy: term.length < 9 ? 1 : 2 });
  const matchOf = (match: Readonly<Record<string, readonly string[]>>): Match => ({
    quality: Object.keys(match).reduce((best, word) => Math.max(best, qualityOf(term, word)), 0),
    isInTitle: Object.values(match).some((fields) => fields.includes("title")),
  });
  return new Map(results.map(({ id, match }) => [id as number, matchOf(match)]));
};

const qualityOf = (term: string, found: string): number =>
  found.startsWith(term) ? TYPO_QUALITY + (1 - TYPO_QUALITY) * (term.length / found.length) : TYPO_QUALITY;

type Weighed = { readonly weight: number; readonly qualities: ReadonlyMap<number, number> };

/** How much a word counts, and how well each entry has it. */
const weigh = (word: Word, matchesOf: (term: string) => Matches, count: number): Weighed => {
  const qualities = new Map<number, number>();
  for (const [id, { quality }] of word.whole === null ? [] : matchesOf(word.whole)) qualities.set(id, quality);
  const shares = new Map<number, number>();
  for (const part of word.parts)
    for (const [id, { quality }] of matchesOf(part))
      shares.set(id, (shares.get(id) ?? 0) + quality / word.parts.length);
  // Half of a word is less than half of what it says.
  for (const [id, share] of shares) qualities.set(id, Math.max(qualities.get(id) ?? 0, share ** 2));
  const rarity = Math.log(1 + count / (Math.max(1, qualities.size) + 1));
  const isOneCharacter = word.whole === null && word.parts.join("").length === 1;
  return { weight: isOneCharacter ? rarity / 2 : rarity, qualities };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
