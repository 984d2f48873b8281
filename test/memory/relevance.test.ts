import { expect, test } from "vitest";
import { matchTypeLabel, relevanceLevel } from "../../src/memory/relevance.ts";
import { en } from "../../src/text/en.ts";
import { zh } from "../../src/text/zh.ts";

test.each([
  [Number.POSITIVE_INFINITY, "高相关"],
  [1.5, "高相关"],
  [1, "高相关"],
  [0.8, "高相关"],
  [0.7999999, "中相关"],
  [0.6, "中相关"],
  [0.5999999, "低相关"],
  [0.4, "低相关"],
  [0.3999999, "弱相关"],
  [0, "弱相关"],
  [-1, "弱相关"],
  [Number.NEGATIVE_INFINITY, "弱相关"],
  [Number.NaN, "弱相关"],
])("a score of %d is %s", (score, level) => {
  expect(relevanceLevel(score, zh.memory)).toBe(level);
});

test.each([
  [0, "向量匹配"],
  [1, "关键词匹配"],
  [2, "未知类型 (2)"],
  [-1, "未知类型 (-1)"],
  [0.5, "未知类型 (0.5)"],
  [Number.NaN, "未知类型 (NaN)"],
])("the match type %d is %s", (type, label) => {
  expect(matchTypeLabel(type, zh.memory)).toBe(label);
});

test("both speak English too", () => {
  expect([relevanceLevel(0.8, en.memory), matchTypeLabel(1, en.memory), matchTypeLabel(7, en.memory)]).toEqual([
    "high",
    "keywords",
    "unknown type (7)",
  ]);
});
