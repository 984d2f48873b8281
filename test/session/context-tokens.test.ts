import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../src/schema/message.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import { calibrated, createSizes, estimateMessage, estimateText, measure } from "../../src/session/context-tokens.ts";

test.each([
  ["", 0],
  ["abcd", 1],
  ["The quick brown fox jumps", 7],
  ["привет", 3],
  ["上下文已压缩", 6],
  ["コードを読む", 6],
  ["한국어", 3],
  ["ภาษาไทย", 6],
  ["🙂", 2],
  ["fix 修复 bug", 4],
])("%j is estimated by its script", (text, tokens) => {
  expect(estimateText(text)).toBe(tokens);
});

test("a message counts with its calls, its thoughts and its pictures", () => {
  const empty = estimateMessage({ role: "user", content: "" });
  const picture = { kind: "image", mediaType: "image/png", path: "/a.png" } as const;
  expect(estimateMessage({ role: "user", content: "", attachments: [picture] })).toBeGreaterThan(empty + 1000);
  const call = { id: "1", name: "bash", arguments: "x".repeat(400) };
  const answer: Message = { role: "assistant", content: "", toolCalls: [call] };
  expect(estimateMessage(answer)).toBeGreaterThanOrEqual(empty + 100);
  expect(estimateMessage({ ...answer, thinking: { kind: "native", text: "y".repeat(400) } })).toBe(
    estimateMessage(answer) + 100,
  );
});

test("the estimate of a text does not fall when it grows, and parts add up to the whole within a token each", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      const both = estimateText(a + b);
      expect(both).toBeGreaterThanOrEqual(Math.max(estimateText(a), estimateText(b)));
      expect(estimateText(a) + estimateText(b) - both).toBeGreaterThanOrEqual(0);
      expect(estimateText(a) + estimateText(b) - both).toBeLessThanOrEqual(1);
    }),
  );
});

test("a list that grows, is cut and grows again has the sum of its messages", () => {
  const step = fc.oneof(
    fc.string().map((content) => ({ content })),
    fc.nat(5).map((cut) => ({ cut })),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const sizes = createSizes();
      const list: Message[] = [];
      for (const one of steps) {
        if ("content" in one) list.push({ role: "user", content: one.content });
        else list.splice(Math.max(0, list.length - one.cut));
        if (steps.length % 2 === 0 || "content" in one)
          expect(sizes.sum(list)).toBe(list.reduce((sum, message) => sum + estimateMessage(message), 0));
      }
    }),
  );
});

test("a figure of the server's is exact, and what is added since counts at the ratio that it gave", () => {
  const usage = { ...NO_USAGE, inputTokens: 100, cacheReadTokens: 800, cacheWriteTokens: 100, outputTokens: 200 };
  const measured = measure(usage, 800, { keepsReasoning: false });
  expect(measured).toEqual({ exact: 1200, estimated: 800 });
  expect([800, 1000, 600].map((estimated) => calibrated(estimated, measured))).toEqual([1200, 1500, 900]);
  expect(calibrated(800, undefined)).toBe(800);
});

test("reasoning that is not sent again is not in the context", () => {
  const usage = { ...NO_USAGE, inputTokens: 1000, outputTokens: 5000, reasoningTokens: 4900 };
  expect(measure(usage, 1000, { keepsReasoning: false })?.exact).toBe(1100);
  expect(measure(usage, 1000, { keepsReasoning: true })?.exact).toBe(6000);
});

test("no figures measure nothing, and an absurd figure bends the ratio only so far", () => {
  expect(measure(NO_USAGE, 100, { keepsReasoning: false })).toBeUndefined();
  expect(calibrated(200, { exact: 1000, estimated: 100 })).toBe(1200);
  expect(calibrated(0, { exact: 100, estimated: 100_000 })).toBe(0);
});

test("a long list costs only what was added to it", () => {
  let reads = 0;
  const list: Message[] = Array.from({ length: 5000 }, () => ({ role: "user", content: "word" }));
  const watched = new Proxy(list, {
    get: (target, key, receiver) => {
      reads += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  const sizes = createSizes();
  const before = sizes.sum(watched);
  reads = 0;
  list.push({ role: "user", content: "word" });
  expect(sizes.sum(watched)).toBe(before + before / 5000);
  expect(reads).toBeLessThan(20);
});
