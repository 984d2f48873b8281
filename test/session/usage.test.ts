import fc from "fast-check";
import { expect, test } from "vitest";
import type { EngineEventBody } from "../../src/schema/event.ts";
import { addUsage, NO_USAGE, type Usage } from "../../src/schema/model.ts";
import type { JournalEntry } from "../../src/session/journal.ts";
import { createUsageReader, type UsageRecord } from "../../src/session/usage.ts";
import { runStarted } from "../helpers/run-started.ts";

const tokens = (inputTokens: number, outputTokens = 0): Usage => ({ ...NO_USAGE, inputTokens, outputTokens });

/** A session's lines, numbered from 1. */
const journal = (bodies: readonly EngineEventBody[], sessionId = "a"): readonly JournalEntry[] =>
  bodies.map(
    (body, index) => ({ ...body, sessionId, seq: index + 1, time: "2026-01-02T03:04:05.000Z" }) as JournalEntry,
  );

const started = (model = "m", provider = "p"): EngineEventBody => ({
  ...(runStarted as EngineEventBody<"run.started">),
  provider,
  model,
  workDir: "/w",
});

const turn = (count: number): EngineEventBody => ({ type: "turn.started", turn: count, contextMessages: 1 });

const used = (usage: Usage, total: Usage, costUsd: number | null): EngineEventBody => ({
  type: "usage.updated",
  usage,
  total,
  costUsd,
  contextTokens: 1,
  contextWindow: null,
});

const ended = (usage: Usage, costUsd: number | null, turns = 1): EngineEventBody => ({
  type: "run.completed",
  reason: "completed",
  text: "",
  turns,
  contextMessages: 1,
  usage,
  costUsd,
  durationMs: 1,
  permissionDenials: [],
});

const readAll = (...files: readonly (readonly JournalEntry[])[]): readonly UsageRecord[] => {
  const reader = createUsageReader();
  return files.flatMap((file) => {
    const read = reader.open();
    return file.flatMap((entry) => read(entry) ?? []);
  });
};

const summed = (records: readonly UsageRecord[]) => ({
  requests: records.reduce((sum, { requests }) => sum + requests, 0),
  turns: records.reduce((sum, { turns }) => sum + turns, 0),
  usage: records.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
  costUsd: records.every(({ costUsd }) => costUsd !== null)
    ? records.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)
    : null,
});

const TWO_RUNS = [
  started("m1"),
  turn(1),
  used(tokens(10, 1), tokens(10, 1), 1),
  turn(2),
  used(tokens(20, 2), tokens(30, 3), 3),
  ended(tokens(30, 3), 3, 2),
  started("m2"),
  turn(1),
  used(tokens(5, 5), tokens(5, 5), null),
  ended(tokens(5, 5), null),
];

test("each request counts with the model of its run, and its own share of the run's cost", () => {
  const place = { time: "2026-01-02T03:04:05.000Z", workDir: "/w", provider: "p" };
  const ofTurn = { turns: 1, requests: 0, usage: NO_USAGE, costUsd: 0 };
  expect(readAll(journal(TWO_RUNS))).toEqual([
    { ...place, model: "m1", ...ofTurn },
    { ...place, model: "m1", turns: 0, requests: 1, usage: tokens(10, 1), costUsd: 1 },
    { ...place, model: "m1", ...ofTurn },
    { ...place, model: "m1", turns: 0, requests: 1, usage: tokens(20, 2), costUsd: 2 },
    { ...place, model: "m2", ...ofTurn },
    { ...place, model: "m2", turns: 0, requests: 1, usage: tokens(5, 5), costUsd: null },
  ]);
});

test("a fork's copied lines count once, whichever file comes first, also where the other is gone", () => {
  const original = journal(TWO_RUNS);
  const own = journal([...TWO_RUNS.slice(0, 6), started("m1"), turn(1), used(tokens(7), tokens(7), 7)], "fork");
  const fork = [...original.slice(0, 6), ...own.slice(6)];
  const both = { requests: 4, turns: 4, usage: tokens(42, 8), costUsd: null };
  expect(summed(readAll(original, fork))).toEqual(both);
  expect(summed(readAll(fork, original))).toEqual(both);
  expect(summed(readAll(fork))).toEqual({ requests: 3, turns: 3, usage: tokens(37, 3), costUsd: 10 });
});

test("a child session counts for itself, with its own model", () => {
  const parent = journal([started("big"), turn(1), used(tokens(10), tokens(10), 1)]);
  const child = journal([started("small"), turn(1), used(tokens(3), tokens(3), 0.5)], "child").map((entry) => ({
    ...entry,
    parentToolCallId: "c1",
  })) as readonly JournalEntry[];
  const records = readAll([...parent, ...child]);
  expect(records.map(({ model, requests, usage, costUsd }) => [model, requests, usage.inputTokens, costUsd])).toEqual([
    ["big", 0, 0, 0],
    ["big", 1, 10, 1],
    ["small", 0, 0, 0],
    ["small", 1, 3, 0.5],
  ]);
});

test.each([
  ["the line of a request", 2],
  ["the last request", 4],
  ["the end of the run", 5],
])("where %s is lost, the sums stay what the run has used", (_what, index) => {
  const lines = journal(TWO_RUNS.slice(0, 6)).filter((_, at) => at !== index);
  expect(summed(readAll(lines))).toMatchObject({ usage: tokens(30, 3), costUsd: 3 });
});

test("a run whose start is lost counts by itself, with the model before it", () => {
  const lines = journal(TWO_RUNS).filter((_, at) => at !== 6);
  expect(summed(readAll(lines))).toMatchObject({ usage: tokens(35, 8), costUsd: null });
});

test("a request without figures has no known cost; the demonstration costs nothing", () => {
  const silent = journal([started(), turn(1), used(NO_USAGE, NO_USAGE, 0), ended(NO_USAGE, 0)]);
  expect(summed(readAll(silent))).toEqual({ requests: 1, turns: 1, usage: NO_USAGE, costUsd: null });
  const offline = journal([started("demo", "offline"), turn(1), used(NO_USAGE, NO_USAGE, null), ended(NO_USAGE, null)]);
  expect(summed(readAll(offline))).toEqual({ requests: 1, turns: 1, usage: NO_USAGE, costUsd: 0 });
});

test("requests between runs count beside them, whatever the runs have used", () => {
  const lines = journal([
    ...TWO_RUNS.slice(0, 6),
    used(tokens(50, 5), tokens(50, 5), 5),
    used(tokens(1, 1), tokens(51, 6), 6),
    started("m1"),
    turn(1),
    used(tokens(60, 6), tokens(60, 6), 7),
  ]);
  expect(summed(readAll(lines))).toEqual({ requests: 5, turns: 3, usage: tokens(141, 15), costUsd: 16 });
});

test("a run that failed before its first answer has used nothing", () => {
  expect(summed(readAll(journal([started(), turn(1), ended(NO_USAGE, null)])))).toEqual({
    requests: 0,
    turns: 1,
    usage: NO_USAGE,
    costUsd: 0,
  });
});

test("however a session is copied, forked and ordered, each of its requests counts once", () => {
  const requests = fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 99 }), isNewRun: fc.boolean() }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(requests, fc.array(fc.nat(60), { maxLength: 4 }), fc.boolean(), (made, cuts, isReversed) => {
      let total = 0;
      const bodies = made.flatMap((one, index): readonly EngineEventBody[] => {
        const isStart = index === 0 || one.isNewRun;
        total = one.tokens + (isStart ? 0 : total);
        return [...(isStart ? [started()] : []), used(tokens(one.tokens), tokens(total), total)];
      });
      const whole = journal(bodies);
      const files = [whole, ...cuts.map((cut) => whole.slice(0, cut))];
      const all = summed(readAll(...(isReversed ? files.toReversed() : files)));
      const sum = made.reduce((all, one) => all + one.tokens, 0);
      expect([all.requests, all.usage.inputTokens, all.costUsd]).toEqual([made.length, sum, sum]);
    }),
  );
});

test("requests between two runs count each once, whether their sums go on or begin anew", () => {
  const goesOn = [used(tokens(3), tokens(3), 1), used(tokens(4), tokens(7), 2)];
  const anew = [used(tokens(5), tokens(5), 1), used(tokens(4), tokens(9), 2)];
  const records = readAll(journal([...TWO_RUNS.slice(0, 6), ...goesOn, ...anew, ...TWO_RUNS.slice(6)]));
  expect(summed(records)).toMatchObject({ requests: 7, usage: tokens(30 + 7 + 9 + 5, 3 + 5) });
});

test.each([
  ["a cost that nobody could have paid", [1e308, 1e308]],
  ["a sum that shrinks", [5, 3]],
])("of a damaged journal %s is unknown, and the others are as they were", (_, [first = 0, second = 0]) => {
  const records = readAll(
    journal([
      started(),
      used(tokens(1), tokens(1), first),
      used(tokens(1), tokens(2), second),
      ended(tokens(2), second),
    ]),
    journal([started(), used(tokens(1), tokens(1), 2), ended(tokens(1), 2)], "b"),
  );
  const costs = records.map(({ costUsd }) => costUsd);
  expect(costs).toEqual([first < 10 ? first : null, first < 10 ? null : 0, 2]);
});
