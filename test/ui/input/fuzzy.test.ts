import fc from "fast-check";
import { expect, test } from "vitest";
import { loadRank, plainRank, type Rank } from "../../../src/ui/input/fuzzy.ts";

const fuzzyRank = await loadRank();
const ranks: [string, Rank][] = [
  ["the plain one", plainRank],
  ["the library's", fuzzyRank],
];

const found = (rank: Rank, query: string, candidates: readonly string[], limit = 10) =>
  rank(query, candidates, limit).items.map(({ index }) => candidates[index]);

test.each(ranks)("%s: an empty query lists all in their order", (_, rank) => {
  const candidates = ["b", "a", "c"];
  expect(found(rank, "", candidates, 2)).toEqual(["b", "a"]);
  expect(rank("  ", candidates, 2).total).toBe(3);
});

test.each(ranks)("%s: case counts when the query has capitals, else not", (_, rank) => {
  const candidates = ["readme.md", "README.md", "src/Readme.ts"];
  expect(found(rank, "readme", candidates).sort()).toEqual([...candidates].sort());
  expect(found(rank, "README", candidates)).toEqual(["README.md"]);
  expect(found(rank, "Readme", candidates)).toEqual(["src/Readme.ts"]);
});

test.each(ranks)("%s: a beginning comes before what has it further on, equals keep their order", (_, rank) => {
  expect(found(rank, "co", ["xco", "cost", "copy"]).slice(-1)).toEqual(["xco"]);
  expect(found(rank, "ab", ["ab", "ab", "ab"])).toHaveLength(3);
  expect(rank("ab", ["ab", "ab", "ab"], 3).items.map(({ index }) => index)).toEqual([0, 1, 2]);
});

test("the letters may be apart, and the best match comes first", () => {
  const candidates = ["ink/build/components/Renderer-old.js", "ink/build/render.js", "lib/x.js"];
  expect(found(fuzzyRank, "inkrend", candidates)).toEqual([candidates[1], candidates[0]]);
});

test("in capitals the letters that are marked have the case of the query", () => {
  const [first] = fuzzyRank("Fo", ["foo/Fxo"], 1).items;
  expect(first?.positions).toEqual([4, 6]);
  expect(fuzzyRank("Fo", ["foo/Fx"], 1).items).toEqual([]);
});

test.each(ranks)("%s: what is marked is in the candidate, and the limit cuts the items only", (_, rank) => {
  const texts = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })), { maxLength: 12 });
  fc.assert(
    fc.property(
      texts,
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.integer({ min: 0, max: 5 }),
      (candidates, query, limit) => {
        const all = rank(query, candidates, 100);
        const some = rank(query, candidates, limit);
        expect(some.total).toBe(all.total);
        expect(all.items).toHaveLength(all.total);
        expect(some.items).toEqual(all.items.slice(0, limit));
        for (const { index, positions } of all.items) {
          const { length } = candidates[index] ?? "";
          expect(positions.filter((position) => position < 0 || position >= length)).toEqual([]);
        }
      },
    ),
  );
});

test("a query that grows finds what it would find alone", () => {
  const parts = ["src", "App", "test", "index.ts", "a-b", "render"];
  const paths = Array.from({ length: 300 }, (_, n) => [n % 6, n % 5, n % 7].map((i) => parts[i] ?? `x${n}`).join("/"));
  for (const query of ["s", "sr", "src", "srcA", "srcAp", "src", "te", "test/in"])
    expect(fuzzyRank(query, paths, 20)).toEqual(fuzzyRank(query, [...paths], 20));
});
