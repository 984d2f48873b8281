import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../../src/schema/event.ts";
import { NO_USAGE } from "../../../src/schema/model.ts";
import { en } from "../../../src/text/en.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { plainText, span } from "../../../src/ui/line.ts";
import { createMarkdown } from "../../../src/ui/markdown/stream-markdown.ts";
import { createPaper } from "../../../src/ui/transcript/paper.ts";
import { NEW_TRANSCRIPT } from "../../../src/ui/transcript/transcript.ts";
import { createScribe } from "../../../src/ui/view/scribe.ts";
import { createStore, emptyState } from "../../../src/ui/view/view-state.ts";
import { runStarted as started } from "../../helpers/run-started.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const open = () => {
  const store = createStore(emptyState(0));
  const printed: string[] = [];
  let frames = 0;
  store.subscribe(() => {
    frames += 1;
  });
  const scribe = createScribe({
    store,
    paper: createPaper({
      width: () => 40,
      glyphs: UNICODE_GLYPHS,
      strings: en,
      createMarkdown: (width) => createMarkdown({ width, glyphs: UNICODE_GLYPHS }),
      showsThinking: () => false,
    }),
    print: (lines) => printed.push(...lines.map((line) => plainText(line).trimEnd())),
    now: () => Date.now(),
  });
  let seq = 0;
  const take = (...bodies: readonly EngineEventBody[]): void => {
    for (const body of bodies)
      scribe.take({ ...body, sessionId: "s", seq: ++seq, time: new Date(Date.now()).toISOString() } as EngineEvent);
  };
  const live = (): readonly string[] => store.get().liveText.map((line) => plainText(line).trimEnd());
  return { store, scribe, take, printed, live, frames: () => frames };
};

const text = (delta: string): EngineEventBody => ({ type: "text.delta", text: delta });
const ended: EngineEventBody = {
  type: "run.completed",
  reason: "completed",
  text: "",
  turns: 1,
  contextMessages: 2,
  usage: NO_USAGE,
  costUsd: 0,
  durationMs: 700,
  permissionDenials: [],
};

describe("the scribe", () => {
  test("makes many deltas one frame, and prints what they finish once", () => {
    const { take, printed, live, frames } = open();
    take(started);
    vi.advanceTimersByTime(0);
    const before = frames();
    for (let index = 0; index < 100; index++) take(text(`w${index} `));
    expect(frames()).toBe(before);
    vi.advanceTimersByTime(66);
    // The frame, and no tick of the clock yet.
    expect(frames()).toBe(before + 1);
    expect([...printed, ...live()].join(" ").match(/w\d+/g)).toHaveLength(100);
    take(
      {
        type: "message.completed",
        message: { role: "assistant", content: "", toolCalls: [] },
        finishReason: "stop",
        usage: NO_USAGE,
      },
      ended,
    );
    vi.advanceTimersByTime(66);
    expect(live()).toEqual([]);
    expect(printed.join(" ").match(/w\d+/g)).toEqual(Array.from({ length: 100 }, (_, index) => `w${index}`));
  });

  test("moves the clock four times a second while something runs, and not at all when idle", () => {
    const { store, take, frames } = open();
    take(started);
    vi.advanceTimersByTime(0);
    const before = frames();
    vi.advanceTimersByTime(1000);
    expect(frames() - before).toBe(4);
    expect(store.get()).toMatchObject({ tick: 4, nowMs: Date.now() });
    take(ended);
    vi.advanceTimersByTime(66);
    const idle = frames();
    vi.advanceTimersByTime(60_000);
    expect(frames()).toBe(idle);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("shows its own blocks and lines at once, behind what waits", () => {
    const { scribe, take, printed } = open();
    take({ type: "notice", level: "info", text: "first" });
    scribe.add({ type: "person", text: "go" });
    expect(printed).toEqual(["! first", "", "› go"]);
    take({ type: "notice", level: "info", text: "second" });
    scribe.say([[span("  said")]]);
    expect(printed.slice(3)).toEqual(["", "! second", "", "  said"]);
  });

  test("begins anew with no figures, without forgetting what waits to be printed", () => {
    const { scribe, store, take, printed } = open();
    take({ ...ended, costUsd: 0.5 }, started, { type: "notice", level: "info", text: "waits" });
    scribe.restart();
    expect(printed).toEqual(["! waits"]);
    expect(store.get().transcript).toEqual(NEW_TRANSCRIPT);
  });
});
