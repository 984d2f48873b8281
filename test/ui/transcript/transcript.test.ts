import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../../src/schema/event.ts";
import { NO_USAGE, type Usage } from "../../../src/schema/model.ts";
import {
  type Block,
  NEW_TRANSCRIPT,
  reduce,
  sessionUsage,
  type Transcript,
} from "../../../src/ui/transcript/transcript.ts";
import { runStarted as started } from "../../helpers/run-started.ts";

const START_MS = Date.parse("2026-01-01T00:00:00.000Z");

/** Each event 100 ms after the one before. */
const play = (bodies: readonly EngineEventBody[], before: Transcript = NEW_TRANSCRIPT) => {
  const blocks: Block[] = [];
  let transcript = before;
  bodies.forEach((body, index) => {
    const time = new Date(START_MS + 100 * index).toISOString();
    const change = reduce(transcript, { ...body, sessionId: "s", seq: index + 1, time } as EngineEvent);
    transcript = change.transcript;
    blocks.push(...change.blocks);
  });
  return { transcript, blocks };
};

const person: EngineEventBody = { type: "input.added", content: "hi", source: "person" };
const turn = (number: number): EngineEventBody => ({ type: "turn.started", turn: number, contextMessages: 1 });
const phase = (name: "thinking" | "action"): EngineEventBody => ({ type: "phase.started", phase: name, tools: 0 });
const text = (delta: string): EngineEventBody => ({ type: "text.delta", text: delta });
const thought = (delta: string): EngineEventBody => ({ type: "thinking.delta", text: delta });
const message: EngineEventBody = {
  type: "message.completed",
  message: { role: "assistant", content: "", toolCalls: [] },
  finishReason: "stop",
  usage: NO_USAGE,
};
const call = (id: string, name = "bash", argumentsText = "{}"): EngineEventBody => ({
  type: "tool.started",
  call: { id, name, arguments: argumentsText },
  display: name,
});
const result = (id: string, output = "ok", name = "bash"): EngineEventBody => ({
  type: "tool.completed",
  toolCallId: id,
  name,
  result: { output, isError: false },
  durationMs: 5,
});
const retry = (discard: boolean): EngineEventBody => ({
  type: "provider.retrying",
  attempt: 2,
  maxAttempts: 5,
  delayMs: 8000,
  error: { kind: "overloaded", status: 529, message: "overloaded" },
  discard,
});
const used = (inputTokens: number): Usage => ({ ...NO_USAGE, inputTokens, outputTokens: 1 });
const usage = (inputTokens: number, costUsd: number | null, turns = 1): EngineEventBody => ({
  type: "usage.updated",
  turn: turns,
  usage: used(inputTokens),
  total: used(inputTokens),
  costUsd,
  contextTokens: inputTokens + 1,
  contextWindow: 1000,
});
const ended = (
  change: Partial<Omit<Extract<EngineEventBody, { type: "run.completed" }>, "type">> = {},
): EngineEventBody => ({
  type: "run.completed",
  reason: "completed",
  text: "",
  turns: 1,
  contextMessages: 2,
  usage: used(10),
  costUsd: 0.5,
  durationMs: 700,
  permissionDenials: [],
  ...change,
});

const step = (number: number, argumentsText = "{}", output = "ok", name = "bash"): Block => ({
  type: "step",
  step: { number, name, arguments: argumentsText, result: { output, isError: false }, durationMs: 5 },
});
const END: Block = { type: "end", reason: "completed", error: undefined, durationMs: 700, denials: [] };

const BLOCKS: readonly (readonly [string, readonly EngineEventBody[], readonly Block[]])[] = [
  [
    "a turn with an answer",
    [started, person, turn(1), phase("action"), text("Hel"), text("lo"), message, ended()],
    [{ type: "text", delta: "Hel" }, { type: "text", delta: "lo" }, { type: "text.end", isDiscarded: false }, END],
  ],
  [
    "steps in the order in which they end",
    [
      started,
      turn(1),
      call("a", "bash", '{"command":"a"}'),
      call("b", "bash", '{"command":"b"}'),
      result("b"),
      result("a"),
    ],
    [step(1, '{"command":"b"}'), step(2, '{"command":"a"}')],
  ],
  [
    "a thought of the first stage, then the answer",
    [started, turn(1), phase("thinking"), text("I sh"), text("ould"), message, phase("action"), text("Done"), message],
    [
      { type: "thought", text: "I should", durationMs: 200 },
      { type: "text", delta: "Done" },
      { type: "text.end", isDiscarded: false },
    ],
  ],
  [
    "native thinking ends where the answer begins",
    [started, turn(1), phase("action"), thought("hm"), thought("m"), text("So"), message],
    [
      { type: "thought", text: "hmm", durationMs: 200 },
      { type: "text", delta: "So" },
      { type: "text.end", isDiscarded: false },
    ],
  ],
  [
    "native thinking before a call without text",
    [started, turn(1), thought("hm"), message, call("a"), result("a")],
    [{ type: "thought", text: "hm", durationMs: 100 }, step(1)],
  ],
  [
    "an answer that a retry throws away, and the one that replaces it",
    [started, turn(1), text("wrong"), retry(true), text("right"), message],
    [
      { type: "text", delta: "wrong" },
      { type: "text.end", isDiscarded: true },
      { type: "text", delta: "right" },
      { type: "text.end", isDiscarded: false },
    ],
  ],
  ["a thought that a retry throws away is not told", [started, turn(1), thought("hm"), retry(true), message], []],
  [
    "an answer that goes on after a retry",
    [started, turn(1), text("a"), retry(false), text("b"), message],
    [
      { type: "text", delta: "a" },
      { type: "text", delta: "b" },
      { type: "text.end", isDiscarded: false },
    ],
  ],
  [
    "a call that was cut and never started",
    [started, turn(1), message, result("cut", "cut off", "write_file")],
    [step(1, "", "cut off", "write_file")],
  ],
  [
    "a run that is stopped in the middle of its answer and of a call",
    [started, turn(1), text("I was"), call("a"), result("a", "cancelled"), ended({ reason: "cancelled" })],
    [
      { type: "text", delta: "I was" },
      step(1, "{}", "cancelled"),
      { type: "text.end", isDiscarded: false },
      { ...END, reason: "cancelled" } as Block,
    ],
  ],
  [
    "queued input is the person's, other input is a notice, and the person's own stands there already",
    [
      started,
      person,
      { type: "input.added", content: "also", source: "queue" },
      { type: "input.added", content: "piped", source: "stdin" },
      { type: "input.added", content: "a hook says", source: "hook" },
      { type: "input.added", content: "remember", source: "reminder" },
    ],
    [
      { type: "person", text: "also" },
      { type: "notice", level: "info", text: "a hook says" },
      { type: "notice", level: "info", text: "remember" },
    ],
  ],
  [
    "a notice",
    [{ type: "notice", level: "warning", text: "careful" }],
    [{ type: "notice", level: "warning", text: "careful" }],
  ],
  ...(["max_turns", "budget", "repeated_call", "error", "cancelled", "blocked"] as const).map(
    (reason) =>
      [
        `the end by ${reason}`,
        [
          started,
          ended({
            reason,
            error: { kind: "internal", message: "m", hint: "h" },
            permissionDenials: [{ toolCallId: "a", name: "bash", reason: "r" }],
          }),
        ],
        [
          {
            type: "end",
            reason,
            error: { kind: "internal", message: "m", hint: "h" },
            durationMs: 700,
            denials: ["bash"],
          },
        ],
      ] as const,
  ),
  ["what is not shown", [{ type: "observations.added", count: 1, contextMessages: 2 }], []],
];

describe("what events finish", () => {
  test.each(BLOCKS)("%s", (_name, events, blocks) => {
    expect(play(events).blocks).toEqual(blocks);
  });
});

describe("what can still change", () => {
  test.each([
    ["a run that waits for the model", [started, turn(1)], { type: "waiting", sinceMs: START_MS + 100 }],
    [
      "thinking, since its first word",
      [started, turn(1), thought("a"), thought("b")],
      { type: "thinking", sinceMs: START_MS + 200 },
    ],
    [
      "thinking in the first stage",
      [started, turn(1), phase("thinking"), text("a")],
      { type: "thinking", sinceMs: START_MS + 300 },
    ],
    ["answering", [started, turn(1), text("a"), text("b")], { type: "answering", sinceMs: START_MS + 200 }],
    ["acting", [started, turn(1), message, call("a")], { type: "acting", sinceMs: START_MS + 300 }],
    [
      "a retry, until its time",
      [started, turn(1), retry(true)],
      {
        type: "retrying",
        sinceMs: START_MS + 200,
        untilMs: START_MS + 8200,
        attempt: 2,
        maxAttempts: 5,
        reason: "overloaded",
      },
    ],
    [
      "waiting again behind an answer",
      [started, turn(1), text("a"), message],
      { type: "waiting", sinceMs: START_MS + 300 },
    ],
  ])("%s", (_name, events, activity) => {
    expect(play(events as EngineEventBody[]).transcript.run?.activity).toEqual(activity);
  });

  test("a step runs with its newest output, is asked about, and goes", () => {
    const running = [started, turn(1), call("a"), call("b")];
    const live = { name: "bash", arguments: "{}", isAsked: false };
    const a = { ...live, id: "a", startedMs: START_MS + 200 };
    const b = { ...live, id: "b", startedMs: START_MS + 300 };
    const progress: EngineEventBody = { type: "tool.progress", toolCallId: "b", text: "50%" };
    const asked: EngineEventBody = {
      type: "permission.requested",
      toolCallId: "a",
      question: {
        kind: "permission",
        toolCallId: "a",
        name: "bash",
        arguments: "{}",
        reason: "",
        by: "mode",
        offers: [],
      },
    };
    const resolved: EngineEventBody = {
      type: "permission.resolved",
      toolCallId: "a",
      name: "bash",
      decision: "allow",
      scope: "once",
      by: "person",
    };
    const steps = (events: readonly EngineEventBody[]) => play(events).transcript.steps;
    expect(steps(running)).toEqual([a, b]);
    expect(steps([...running, progress])).toEqual([a, { ...b, progress: "50%" }]);
    expect(steps([...running, asked])).toEqual([{ ...a, isAsked: true }, b]);
    expect(steps([...running, asked, resolved])).toEqual([a, b]);
    expect(steps([...running, result("a")])).toEqual([b]);
    expect(steps([...running, ended({ reason: "cancelled" })])).toEqual([]);
  });

  test("a call that was refused is finished as that", () => {
    const refused: EngineEventBody = {
      type: "permission.resolved",
      toolCallId: "a",
      name: "bash",
      decision: "reject",
      scope: "once",
      by: "person",
    };
    const { blocks } = play([started, turn(1), call("a"), refused, result("a", "no")]);
    expect(blocks).toMatchObject([{ type: "step", step: { decision: "refused" } }]);
  });

  test("the last thought and the last twenty steps are kept, no more", () => {
    const many = Array.from({ length: 25 }, (_, index) => [call(`${index}`), result(`${index}`)]).flat();
    const { transcript } = play([started, turn(1), thought("first"), message, thought("second"), message, ...many]);
    expect(transcript.lastThought).toBe("second");
    expect(transcript.recent.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 6));
  });
});

describe("the figures", () => {
  const NOTHING = { usage: NO_USAGE, costUsd: 0, runs: 0, turns: 0, contextTokens: 0 };

  test.each([
    ["of nothing", [], NOTHING],
    [
      "while a run goes on",
      [started, turn(1), usage(10, 0.1), usage(30, 0.2, 2)],
      {
        usage: used(30),
        costUsd: 0.2,
        runs: 1,
        turns: 2,
        contextTokens: 31,
      },
    ],
    [
      "of a run that has ended",
      [started, usage(10, 0.1), ended({ usage: used(12), costUsd: 0.3, turns: 2 })],
      {
        usage: used(12),
        costUsd: 0.3,
        runs: 1,
        turns: 2,
        contextTokens: 11,
      },
    ],
    [
      "of two runs",
      [started, usage(10, 0.5), ended(), started, usage(20, 0.25), ended({ usage: used(20), costUsd: 0.25, turns: 3 })],
      { usage: { ...NO_USAGE, inputTokens: 30, outputTokens: 2 }, costUsd: 0.75, runs: 2, turns: 4, contextTokens: 21 },
    ],
    [
      "of two runs, one of unknown cost",
      [started, ended({ costUsd: null }), started, ended({ costUsd: 0.25 })],
      { usage: { ...NO_USAGE, inputTokens: 20, outputTokens: 2 }, costUsd: null, runs: 2, turns: 2, contextTokens: 0 },
    ],
    [
      "of a run whose next one has only begun",
      [started, usage(10, 0.5), ended(), started],
      {
        usage: used(10),
        costUsd: 0.5,
        runs: 1,
        turns: 1,
        contextTokens: 11,
      },
    ],
  ])("%s", (_name, events, figures) => {
    expect(sessionUsage(play(events as EngineEventBody[]).transcript)).toEqual(figures);
  });
});

describe("whatever order events come in", () => {
  const id = fc.constantFrom("a", "b", "c");
  const event: fc.Arbitrary<EngineEventBody> = fc.oneof(
    fc.constantFrom(started, person, turn(1), turn(2), message, usage(5, null), usage(7, 1), retry(true), retry(false)),
    fc.constantFrom(phase("thinking"), phase("action"), ended(), ended({ reason: "cancelled" })),
    fc.string().map(text),
    fc.string().map(thought),
    id.map((one) => call(one)),
    id.map((one) => result(one)),
    id.map((toolCallId): EngineEventBody => ({ type: "tool.progress", toolCallId, text: "x" })),
    fc.string().map((content): EngineEventBody => ({ type: "input.added", content, source: "queue" })),
  );

  test("each result is one step, text keeps its order, and every answer that began ends before the run does", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const all = [...events, ended()];
        const { transcript, blocks } = play(all);
        expect(blocks.filter(({ type }) => type === "step")).toHaveLength(
          all.filter(({ type }) => type === "tool.completed").length,
        );
        expect(transcript).toMatchObject({ run: null, steps: [], isAnswering: false, thought: null, phase: "action" });
        let isThinking = false;
        const said: string[] = [];
        for (const one of all) {
          if (one.type === "phase.started") isThinking = one.phase === "thinking";
          if (one.type === "run.completed") isThinking = false;
          if (one.type === "text.delta" && !isThinking) said.push(one.text);
        }
        expect(blocks.flatMap((block) => (block.type === "text" ? [block.delta] : []))).toEqual(said);
        const open = blocks.findLastIndex(({ type }) => type === "text");
        if (open >= 0) expect(blocks.slice(open).some(({ type }) => type === "text.end")).toBe(true);
      }),
    );
  });
});
