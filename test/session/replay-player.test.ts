import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { createPlayer, type Pace, type Player } from "../../src/session/replay-player.ts";
import { runStarted } from "../helpers/run-started.ts";

const START_MS = Date.parse("2026-01-02T03:04:05.000Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const completed: EngineEventBody = {
  type: "run.completed",
  reason: "completed",
  text: "",
  turns: 1,
  contextMessages: 2,
  usage,
  costUsd: null,
  durationMs: 0,
  permissionDenials: [],
};
const delta: EngineEventBody = { type: "text.delta", text: "a" };

const at = (atMs: number, body: EngineEventBody, seq = 1): EngineEvent => ({
  ...body,
  sessionId: "s",
  seq,
  time: new Date(START_MS + atMs).toISOString(),
});

async function* from(events: readonly EngineEvent[]): AsyncGenerator<EngineEvent> {
  yield* events;
}

/** Plays to the end; the real time at which each event came is kept. */
const play = (events: readonly EngineEvent[], pace: Pace) => {
  const player = createPlayer(from(events), { pace, now: Date.now });
  const times: number[] = [];
  const ended = (async () => {
    for await (const _event of player.events) times.push(Date.now());
  })();
  return { player, times, ended };
};

const passes = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

const RUN = [at(0, runStarted), at(1000, delta), at(1500, delta), at(61_500, delta), at(62_000, completed)];

test.each<[Pace, readonly number[]]>([
  [1, [0, 1000, 1500, 61_500, 62_000]],
  [4, [0, 250, 375, 15_375, 15_500]],
  [0.5, [0, 2000, 3000, 123_000, 124_000]],
  ["max", [0, 0, 0, 0, 0]],
])("at a pace of %s each event comes when its time has come", async (pace, expected) => {
  const { times, ended } = play(RUN, pace);
  await passes(200_000);
  await ended;
  expect(times).toEqual(expected);
});

test("nobody waits long while nothing runs", async () => {
  const hour = 3_600_000;
  const { times, ended } = play([...RUN, at(hour, runStarted), at(hour + 1000, completed)], 1);
  await passes(2 * hour);
  await ended;
  expect(times.slice(-2)).toEqual([64_000, 65_000]);
});

test("nobody waits long for an answer to a question", async () => {
  const question = {
    kind: "permission",
    toolCallId: "c",
    name: "bash",
    arguments: "{}",
    reason: "",
    by: "mode",
  } as const;
  const asked = { type: "permission.requested", toolCallId: "c", question: { ...question, offers: [] } } as const;
  const answered = { type: "permission.resolved", toolCallId: "c", name: "bash", decision: "allow" } as const;
  const { times, ended } = play(
    [
      at(0, runStarted),
      at(10, asked),
      at(99_999, { ...answered, scope: "once", by: "person" }),
      at(109_999, completed),
    ],
    1,
  );
  await passes(200_000);
  await ended;
  expect(times).toEqual([0, 10, 2010, 12_010]);
});

test("a clock that was set back makes nothing wait", async () => {
  const { times, ended } = play([at(5000, runStarted), at(0, delta), at(6000, completed)], 1);
  await passes(10_000);
  await ended;
  expect(times).toEqual([0, 0, 1000]);
});

test("while it is paused nothing comes and its clock stands", async () => {
  const { player, times } = play(RUN, 1);
  await passes(500);
  player.pauseOrGoOn();
  await passes(500_000);
  expect([times, player.now(), player.isPaused]).toEqual([[0], START_MS + 500, true]);
  player.pauseOrGoOn();
  await passes(500);
  expect(times).toEqual([0, 501_000]);
});

test("another pace counts from where it stands", async () => {
  const { player, times } = play(RUN, 1);
  await passes(500);
  player.faster();
  await passes(250);
  expect([player.pace, times]).toEqual([2, [0, 750]]);
  player.slower();
  player.slower();
  expect(player.pace).toBe(0.5);
  await passes(1000);
  expect(times).toEqual([0, 750, 1750]);
});

test("the pace goes up to no waiting at all, and down to a quarter", () => {
  const { player } = play([], 3);
  const paces = (step: () => void): readonly Pace[] =>
    Array.from({ length: 9 }, () => {
      step();
      return player.pace;
    });
  expect(paces(player.faster)).toEqual([4, 8, 16, "max", "max", "max", "max", "max", "max"]);
  expect(paces(player.slower)).toEqual([16, 8, 4, 2, 1, 0.5, 0.25, 0.25, 0.25]);
});

test.each<[string, (player: Player) => void]>([
  ["in the midst of a wait", () => undefined],
  ["while it is paused", (player) => player.pauseOrGoOn()],
])("stopped %s, it ends", async (_name, before) => {
  const { player, times, ended } = play(RUN, 1);
  await passes(500);
  before(player);
  await passes(100);
  player.stop();
  await ended;
  expect(times).toEqual([0]);
});

test("whatever is pressed, all events come, once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(3000), fc.nat(2))), fc.array(fc.nat(5000)), async (keys, gaps) => {
      let atMs = 0;
      const events = gaps.map((gap, index) => {
        atMs += gap;
        return at(atMs, index === 0 ? runStarted : delta, index + 1);
      });
      const player = createPlayer(from(events), { pace: 1, now: Date.now });
      const seen: number[] = [];
      const ended = (async () => {
        for await (const { seq } of player.events) seen.push(seq);
      })();
      for (const [ms, key] of keys) {
        await passes(ms);
        [player.pauseOrGoOn, player.faster, player.slower][key]?.();
      }
      if (player.isPaused) player.pauseOrGoOn();
      await passes(5000 * gaps.length * 5);
      await ended;
      expect(seen).toEqual(events.map(({ seq }) => seq));
    }),
    { numRuns: 40 },
  );
});
