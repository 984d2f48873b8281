import fc from "fast-check";
import { expect, test } from "vitest";
import { type Budget, createBudget } from "../../src/engine/budget.ts";
import type { Answer, Question } from "../../src/schema/ask.ts";
import { NO_USAGE, type Usage } from "../../src/schema/model.ts";
import { loadStrings } from "../../src/text/strings.ts";

const { engine: strings } = await loadStrings("en");
const PRICES = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };
const { signal } = new AbortController();

/** Costs a dollar each with `PRICES`. */
const tokens = (inputTokens: number): Usage => ({ ...NO_USAGE, inputTokens });

const answering = (...choices: readonly (string | Answer)[]) => {
  const asked: Question[] = [];
  const waiting = [...choices];
  const ask = async (question: Question): Promise<Answer> => {
    asked.push(question);
    const next = waiting.shift() ?? { dismissed: true };
    return typeof next === "string" ? { choice: next } : next;
  };
  return { ask, asked };
};

const extend = (budget: Budget, ask: (question: Question) => Promise<Answer>) => budget.extend(ask, signal, strings);

test("each limit counts what came before it; most of it used is said once", () => {
  const budget = createBudget({ maxCostUsd: 10, maxTokens: 100 }, { usage: tokens(5), costUsd: 2.5 });
  expect(budget.states()).toEqual([
    { kind: "tokens", limit: 100, spent: 5 },
    { kind: "cost", limit: 10, spent: 2.5 },
  ]);
  budget.add(tokens(5), PRICES, "server");
  expect([budget.warnings(strings), budget.exhausted(strings)]).toEqual([[], undefined]);
  budget.add(tokens(1), PRICES, "server");
  expect(budget.warnings(strings)).toEqual(["85% of the budget is used: $8.5 of $10"]);
  expect(budget.warnings(strings)).toEqual([]);
  budget.add(tokens(2), PRICES, "server");
  expect(budget.exhausted(strings)).toBe("reached the cost limit ($10), stopped");
});

test("tokens of every kind count, and what has no price adds nothing to the cost", () => {
  const budget = createBudget({ maxCostUsd: 1, maxTokens: 10 });
  budget.add(
    { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, reasoningTokens: 2 },
    null,
    "server",
  );
  expect(budget.states()).toEqual([
    { kind: "tokens", limit: 10, spent: 10 },
    { kind: "cost", limit: 1, spent: 0 },
  ]);
  expect(budget.exhausted(strings)).toBe("reached the token budget (10), stopped");
});

test("a person goes on with as much again, with a bit more, or not", async () => {
  const budget = createBudget({ maxCostUsd: 4 }, { usage: NO_USAGE, costUsd: 9 });
  const { ask, asked } = answering("stop", "again", "bit");
  await extend(budget, ask);
  expect(asked).toEqual([
    {
      kind: "choice",
      title: "The budget is used up: $9 of $4. Go on?",
      options: [
        { id: "again", label: "go on with another $4" },
        { id: "bit", label: "go on with another $1" },
        { id: "stop", label: "stop" },
      ],
    },
  ]);
  expect(budget.states()).toEqual([{ kind: "cost", limit: 4, spent: 9 }]);
  // From what is spent on: one answer is enough, however much that is.
  await extend(budget, ask);
  expect(budget.states()).toEqual([{ kind: "cost", limit: 13, spent: 9 }]);
  await extend(budget, ask);
  expect(asked.length).toBe(2);
  budget.add(tokens(4), PRICES, "server");
  await extend(budget, ask);
  expect(budget.states()).toEqual([{ kind: "cost", limit: 14, spent: 13 }]);
});

test("two limits are two questions, and a no to either ends it", async () => {
  const budget = createBudget({ maxCostUsd: 1, maxTokens: 1 }, { usage: tokens(1), costUsd: 1 });
  const { ask, asked } = answering("again", { dismissed: true });
  await extend(budget, ask);
  expect(asked.map((question) => "title" in question && question.title)).toEqual([
    "The budget is used up: 1 tokens of 1 tokens. Go on?",
    "The budget is used up: $1 of $1. Go on?",
  ]);
  expect(budget.exhausted(strings)).toBe("reached the cost limit ($1), stopped");
});

test("without limits nothing is asked, warned of or used up", async () => {
  const budget = createBudget({});
  budget.add(tokens(1e9), PRICES, "server");
  await extend(budget, () => Promise.reject(new Error("asked")));
  budget.add(tokens(1), PRICES, "estimate");
  expect([budget.exhausted(strings), budget.warnings(strings), budget.states()]).toEqual([undefined, [], []]);
});

test("that estimates count is said once", () => {
  const budget = createBudget({ maxTokens: 10 });
  budget.add(tokens(1), null, "estimate");
  expect(budget.warnings(strings)).toEqual(["the server gives no token figures: the budget counts an estimate"]);
  budget.add(tokens(7), null, "estimate");
  expect(budget.warnings(strings)).toEqual(["80% of the budget is used: 8 tokens of 10 tokens"]);
});

test("whatever is spent in whatever pieces, one warning comes for a limit, and it is used up exactly at it", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 30 }), fc.integer({ min: 1, max: 500 }), (pieces, maxTokens) => {
      const budget = createBudget({ maxTokens });
      let spent = 0;
      let warned = 0;
      for (const piece of pieces) {
        budget.add(tokens(piece), null, "server");
        spent += piece;
        warned += budget.warnings(strings).length;
        expect(budget.exhausted(strings) !== undefined).toBe(spent >= maxTokens);
        expect(warned).toBe(spent >= 0.8 * maxTokens ? 1 : 0);
      }
    }),
  );
});
