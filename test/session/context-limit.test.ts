import { expect, test } from "vitest";
import { compactsAt } from "../../src/session/context-limit.ts";

const at = (contextWindow: number | null, maxOutputTokens: number | null, more = {}) =>
  compactsAt({ contextWindow, maxOutputTokens, prices: null }, { at: 0.8, learned: undefined, isHeld: false, ...more });

test.each([
  ["an unknown window is never full", at(null, 8000), null],
  ["by default at four fifths", at(100_000, null), 80_000],
  ["an answer of the model's limit must fit too", at(200_000, 64_000), 136_000],
  ["but answers take no more than half of the window", at(128_000, 128_000), 64_000],
  ["what the setting says", at(100_000, null, { at: 0.5 }), 50_000],
  ["after an undo the window is used up first", at(100_000, 64_000, { isHeld: true }), 95_000],
  ["a refusal has shown a smaller window", at(100_000, null, { learned: 10_000 }), 8000],
  ["a refusal has shown a window that nobody knew", at(null, null, { learned: 10_000 }), 8000],
])("%s", (_, actual, expected) => {
  expect(actual).toBe(expected);
});
