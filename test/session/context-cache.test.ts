import { expect, test } from "vitest";
import { NO_USAGE, type Usage } from "../../src/schema/model.ts";
import { createCacheWatch } from "../../src/session/context-cache.ts";

const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const cached: Partial<Usage> = { inputTokens: 100, cacheReadTokens: 9900 };
const uncached: Partial<Usage> = { inputTokens: 11_000 };

type Step = Partial<Usage> | "begin" | "forget" | "pause" | "other pass";

/** What each answer's figures tell, a second after the other. */
const told = (...steps: readonly Step[]): readonly unknown[] => {
  const watch = createCacheWatch();
  let now = 0;
  let hasTools = true;
  return steps.flatMap((step) => {
    now += 1000;
    if (step === "begin") watch.begin();
    else if (step === "forget") watch.forget();
    else if (step === "pause") now += 5 * 60_000;
    else if (step === "other pass") hasTools = !hasTools;
    else return [watch.answered({ ...NO_USAGE, ...step }, now, { hasTools, prices })];
    return [];
  });
};

test("a prefix that was cached and is read anew is told of, with what that costs", () => {
  expect(told(cached, cached, uncached)).toEqual([undefined, undefined, { tokens: 10_000, costUsd: 0.027 }]);
});

test("what a server has written to its cache must come from there", () => {
  const written = { inputTokens: 10, cacheWriteTokens: 9990 };
  expect(told(written, { ...written, cacheWriteTokens: 10_990 })).toEqual([
    undefined,
    { tokens: 10_000, costUsd: 0.0345 },
  ]);
});

test.each<[string, readonly Step[]]>([
  ["a server without a cache", [uncached, uncached]],
  ["a short prompt", [{ inputTokens: 10, cacheReadTokens: 3000 }, { inputTokens: 3100 }]],
  ["a long pause", [cached, "pause", uncached]],
  ["a compaction or another model", [cached, "forget", uncached]],
  ["the other pass of two-stage thinking", [cached, "other pass", uncached]],
  ["an answer without figures", [cached, {}]],
])("%s tells of nothing", (_, steps) => {
  expect(told(...steps).filter((one) => one !== undefined)).toEqual([]);
});

test("it is told once a run", () => {
  const lost = { tokens: 10_000, costUsd: 0.027 };
  expect(told(cached, uncached, cached, uncached)).toEqual([undefined, lost, undefined, undefined]);
  expect(told(cached, uncached, "begin", cached, uncached)).toEqual([undefined, lost, undefined, lost]);
});
