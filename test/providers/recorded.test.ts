import { describe, expect, test } from "vitest";
import { ProviderError } from "../../src/providers/provider.ts";
import { createRecorded } from "../../src/providers/recorded.ts";
import { createRequestFold, type RecordedRequest } from "../../src/providers/recorded-requests.ts";
import { withRetry } from "../../src/providers/retry.ts";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import { runEngine, type TestRunOptions, tool, zh } from "../helpers/engine.ts";
import { call, type Reply, type ScriptedProvider, scriptedProvider } from "../helpers/scripted-provider.ts";

const requestsOf = (bodies: readonly EngineEventBody[]): readonly RecordedRequest[] => {
  const fold = createRequestFold();
  for (const [index, body] of bodies.entries())
    fold.add({ ...body, sessionId: "s", seq: index + 1, time: "2026-01-02T03:04:05.000Z" } as EngineEvent);
  return fold.requests();
};

const usage = { inputTokens: 10, outputTokens: 5 };

/** Servers that know nothing better send no figures at all. */
const scripted = (...replies: readonly Reply[]): ScriptedProvider =>
  scriptedProvider(...replies.map((reply) => ("hang" in reply || "error" in reply ? reply : { usage, ...reply })));

const recorded = (requests: readonly RecordedRequest[], departures: number[] = []): ScriptedProvider => ({
  ...createRecorded({
    name: "scripted",
    model: "script-1",
    requests,
    onDeparture: (request) => departures.push(request),
    strings: zh.replay,
  }),
  requests: [],
});

/** Without what depends on how fast it went. */
const timeless = (events: readonly EngineEventBody[]): readonly unknown[] =>
  events.map((event) => ("durationMs" in event ? { ...event, durationMs: 0 } : event));

const echo = tool("echo", (text) => `said ${text}`);
const fails = tool("fails", () => {
  throw new Error("no luck");
});
const empty = tool("empty", () => "");
const refused = new ProviderError("401 no such key", { kind: "auth", status: 401, hint: "log in" });
const overloaded = new ProviderError("529 later", { kind: "overloaded", status: 529, retryable: true });

const SESSIONS: Readonly<Record<string, { readonly replies: readonly Reply[]; readonly options?: TestRunOptions }>> = {
  "an answer": { replies: [{ text: "Hello to you." }] },
  "an answer without figures": { replies: [{ text: "Hello.", usage: null }] },
  "several calls, one of which fails": {
    replies: [
      { text: "I look.", calls: [call("echo", { text: "a" }), call("fails"), call("empty"), call("nobody")] },
      { text: "Done." },
    ],
  },
  "the same call again and again, with a reminder": {
    replies: [1, 2, 3].map(() => ({ calls: [call("echo", { text: "a" })] })),
    options: { engine: { limits: { maxTurns: 4, toolTimeoutMs: 1000, maxConcurrentTools: 0 } } },
  },
  "calls that the output limit cut off": {
    replies: [
      { calls: [{ ...call("echo"), id: "cut-1" }], cutCalls: ["cut-1"], finishReason: "length" },
      { text: "Done." },
    ],
  },
  "two-stage thinking": {
    replies: [{ text: "I think." }, { calls: [call("echo", { text: "b" })] }, { text: "Again." }, { text: "Done." }],
    options: { engine: { thinking: "two-stage" } },
  },
  "an empty list of calls, asked for again": {
    replies: [
      { error: new ProviderError("nothing", { kind: "empty_tool_calls", retryable: true }) },
      { text: "Done." },
    ],
  },
  "an answer that was cut": { replies: [{ text: "Once upon", finishReason: "length" }] },
  "a refusal": { replies: [{ text: "No.", finishReason: "refusal" }] },
  "a failure after some text": { replies: [{ text: "Wait", error: refused }] },
};

describe("a recorded model", () => {
  test.each(Object.entries(SESSIONS))("makes the same events again: %s", async (_name, { replies, options }) => {
    const tools = [echo, fails, empty];
    const first = await runEngine(scripted(...replies), { tools, ...options });
    const departures: number[] = [];
    const again = await runEngine(recorded(requestsOf(first.events), departures), { tools, ...options });
    expect(timeless(again.events)).toEqual(timeless(first.events));
    expect(again.history).toEqual(first.history);
    expect(departures).toEqual([]);
  });

  test("fails and is asked again as it was, without the waiting", async () => {
    const retries = { attempts: 3, baseMs: 5, capMs: 5, maxRetryAfterMs: 5, strings: zh.provider, random: () => 0 };
    const model = scripted({ text: "Half", error: overloaded }, { text: "Whole." });
    const first = await runEngine({ ...withRetry(model, retries), requests: [] });
    expect(first.events.map(({ type }) => type)).toContain("provider.retrying");
    const again = await runEngine(recorded(requestsOf(first.events)));
    expect(timeless(again.events)).toEqual(timeless(first.events));
  });

  test("answers from a journal as well, which has no deltas", async () => {
    const replies: readonly Reply[] = [
      { text: "I look.", calls: [call("echo", { text: "a" })] },
      { text: "Done. Yes." },
    ];
    const first = await runEngine(scripted(...replies), { tools: [echo] });
    const journaled = first.events.filter(({ type }) => type !== "text.delta" && type !== "thinking.delta");
    const again = await runEngine(recorded(requestsOf(journaled)), { tools: [echo] });
    expect(again.history).toEqual(first.history);
    expect(again.events.flatMap((event) => (event.type === "text.delta" ? [event.text] : []))).toEqual([
      "I look.",
      "Done. Yes.",
    ]);
  });

  test("says once where the run departs from the recording", async () => {
    const calls = () => [call("echo", { text: "a" })];
    const first = await runEngine(scripted({ calls: calls() }, { calls: calls() }, { text: "Done." }), {
      tools: [echo],
    });
    const departures: number[] = [];
    const other = tool("echo", () => "something else");
    await runEngine(recorded(requestsOf(first.events), departures), { tools: [other] });
    expect(departures).toEqual([2]);
  });

  test("ends the run where the recording has no more", async () => {
    const first = await runEngine(scripted({ text: "Done." }));
    const model = recorded(requestsOf(first.events));
    await runEngine(model);
    const { end } = await runEngine(model);
    expect(end.error).toEqual({ kind: "protocol", message: zh.replay.answersEnd });
  });

  test("stops in the middle of an answer as the recording does", async () => {
    const first = await runEngine(scripted({ text: "Hello to you." }));
    const cut = first.events.slice(
      0,
      first.events.findLastIndex(({ type }) => type === "text.delta"),
    );
    const { events, end } = await runEngine(recorded(requestsOf(cut)));
    expect(events.flatMap((event) => (event.type === "text.delta" ? [event.text] : []))).toEqual(["Hello ", "to "]);
    expect(end.error).toEqual({ kind: "protocol", message: zh.replay.answersStop });
  });

  test("a call whose run was cancelled before it began was not cut off", async () => {
    const stop = new AbortController();
    const waits = tool("waits", () => {
      stop.abort();
      return "late";
    });
    const reply = { calls: [call("waits"), call("waits"), call("waits")] };
    const engine = { limits: { maxTurns: 5, toolTimeoutMs: 1000, maxConcurrentTools: 1 } };
    const first = await runEngine(scripted(reply), { tools: [waits], signal: stop.signal, engine });
    expect(first.end.reason).toBe("cancelled");
    const [request] = requestsOf(first.events);
    expect(request?.end).toEqual({
      type: "completed",
      response: {
        message: { role: "assistant", content: "", toolCalls: reply.calls },
        finishReason: "tool_calls",
        usage: { ...NO_USAGE, ...usage },
      },
    });
  });

  test("ends at once when it is cancelled", async () => {
    const first = await runEngine(scripted({ text: "one two three four" }));
    const stop = new AbortController();
    const { end } = await runEngine(recorded(requestsOf(first.events)), {
      signal: stop.signal,
      onEvent: ({ type }) => type === "text.delta" && stop.abort(),
    });
    expect([end.reason, end.error?.kind]).toEqual(["cancelled", "cancelled"]);
  });
});
