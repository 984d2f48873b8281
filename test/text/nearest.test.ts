import { expect, test } from "vitest";
import { editDistance, nearest } from "../../src/text/nearest.ts";

test.each([
  ["", "", 0],
  ["run", "run", 0],
  ["rnu", "run", 1],
  ["runs", "run", 1],
  ["", "ab", 2],
  ["kitten", "sitting", 3],
])("from %j to %j it is %d edits", (a, b, distance) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([distance, distance]);
});

test("the nearest comes first, letter case aside, and what is far does not come", () => {
  expect(nearest("MAXTURN", ["model", "maxTokens", "maxTurns"])).toEqual(["maxTurns"]);
  expect(nearest("groc", ["grok", "groq", "xai"])).toEqual(["grok", "groq"]);
  expect(nearest("zz", ["xai", "ab"])).toEqual([]);
});
