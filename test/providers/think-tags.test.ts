import { expect, test } from "vitest";
import { createThinkTags } from "../../src/providers/think-tags.ts";

const split = (pieces: readonly string[]) => {
  const tags = createThinkTags();
  const parts = [...pieces.map(tags.feed), tags.end()];
  return [parts.map((part) => part.thinking).join(""), parts.map((part) => part.text).join("")];
};

const CASES: readonly [string, string, string, string][] = [
  ["a tag at the very start is thinking", "<think>a <b>c</b></think>\n\nanswer", "a <b>c</b>", "answer"],
  ["blank lines before the tag do not hide it", "\n<think>a</think>b", "a", "b"],
  ["<thinking> is the same", "<thinking>a</think>b</thinking>c", "a</think>b", "c"],
  ["a tag later on is text", "say <think>a</think>", "", "say <think>a</think>"],
  ["another tag is text", "<thin>a</thin>", "", "<thin>a</thin>"],
  ["a tag that never closes is all thinking", "<think>a</thi", "a</thi", ""],
  ["an unfinished tag is text", "<thi", "", "<thi"],
  ["blank text stays", "  \n", "", "  \n"],
  ["a second tag is text", "<think>a</think><think>b</think>", "a", "<think>b</think>"],
];

test.each(CASES)("%s", (_, content, thinking, text) => {
  expect(split([content])).toEqual([thinking, text]);
  expect(split([...content])).toEqual([thinking, text]);
  for (let cut = 1; cut < content.length; cut += 1)
    expect(split([content.slice(0, cut), content.slice(cut)])).toEqual([thinking, text]);
});
