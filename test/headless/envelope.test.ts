import { expect, test } from "vitest";
import { createEnvelope, type EnvelopeOptions } from "../../src/headless/envelope.ts";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/model.ts";

const TIMES = { started: "2026-01-02T03:04:05.000Z", answered: "2026-01-02T03:04:05.250Z" };

const at = (body: EngineEventBody, time = TIMES.started): EngineEvent => ({ ...body, sessionId: "s", seq: 7, time });

const started = at({
  type: "run.started",
  workDir: "/work",
  provider: "openai",
  model: "m",
  thinking: "off",
  maxTurns: 50,
  toolTimeoutMs: 60_000,
  maxConcurrentTools: 0,
  permissionMode: "yolo",
  sandbox: "off",
  logFile: null,
});

const answer = (body: Partial<EngineEventBody<"message.completed">>): EngineEvent =>
  at(
    {
      type: "message.completed",
      message: { role: "assistant", content: "Hi.", toolCalls: [] },
      finishReason: "stop",
      usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 2, cacheReadTokens: 5, cacheWriteTokens: 4 },
      ...body,
    },
    TIMES.answered,
  );

const end = (body: Partial<EngineEventBody<"run.completed">>): EngineEvent =>
  at({
    type: "run.completed",
    reason: "completed",
    text: "Hi.",
    turns: 1,
    contextMessages: 3,
    usage: NO_USAGE,
    costUsd: null,
    durationMs: 300,
    permissionDenials: [],
    ...body,
  });

/** What the events become, without the random ids. */
const envelope = (events: readonly EngineEvent[], options: Partial<EnvelopeOptions> = {}) => {
  const convert = createEnvelope({ version: "1.2.3", tools: ["bash"], ...options });
  return events.flatMap(convert).map(({ uuid: _, ...message }) => message);
};

const BASE = { session_id: "s" };

test("a run's start is the init message", () => {
  expect(envelope([started])).toEqual([
    {
      type: "system",
      subtype: "init",
      ...BASE,
      cwd: "/work",
      model: "m",
      permissionMode: "bypassPermissions",
      tools: ["bash"],
      mcp_servers: [],
      slash_commands: [],
      skills: [],
      agents: [],
      plugins: [],
      apiKeySource: "user",
      harness9_version: "1.2.3",
    },
  ]);
});

test("a message has its thinking, its text and its calls as blocks; arguments that are no JSON stay text", () => {
  const message = {
    role: "assistant",
    content: "Look:",
    thinking: { kind: "native", text: "Hm." },
    toolCalls: [
      { id: "c1", name: "bash", arguments: '{"command":"ls"}' },
      { id: "c2", name: "bash", arguments: '{"command":' },
    ],
  } as const;
  const [, sent] = envelope([started, answer({ message, finishReason: "tool_calls" })]);
  expect(sent).toEqual({
    type: "assistant",
    ...BASE,
    parent_tool_use_id: null,
    message: {
      id: "msg_7",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Look:" },
        { type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } },
        { type: "tool_use", id: "c2", name: "bash", input: '{"command":' },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 5, cache_creation_input_tokens: 4 },
    },
  });
});

test("a tool's result is a user message, with what a UI may draw beside it", () => {
  const data = { type: "json", value: 1 } as const;
  const done = at({
    type: "tool.completed",
    toolCallId: "c1",
    name: "bash",
    result: { output: "hi", isError: false, data },
    durationMs: 5,
  });
  expect(envelope([done])).toEqual([
    {
      type: "user",
      ...BASE,
      parent_tool_use_id: null,
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c1", content: "hi", is_error: false }],
      },
      tool_use_result: data,
    },
  ]);
});

test("an event of a child session names the call that started it", () => {
  const child = { ...answer({}), sessionId: "child", parentToolCallId: "c9" };
  expect(envelope([child])).toEqual([
    expect.objectContaining({ type: "assistant", session_id: "child", parent_tool_use_id: "c9" }),
  ]);
});

test("the prompt is the caller's own and is left out; what joins later is sent, a reminder as synthetic", () => {
  const inputs = (["person", "stdin", "queue", "reminder", "hook"] as const).map((source) =>
    at({ type: "input.added", content: source, source }),
  );
  expect(envelope(inputs).map((sent) => [sent["message"], sent["isSynthetic"]])).toEqual([
    [{ role: "user", content: "queue" }, false],
    [{ role: "user", content: "reminder" }, true],
    [{ role: "user", content: "hook" }, true],
  ]);
});

test("retries and compaction are system messages; deltas, progress and notices are none", () => {
  const tokens = { tokens: 10, messages: 2 };
  const error = { kind: "overloaded", status: 529, message: "Busy" } as const;
  const sent = envelope([
    at({ type: "provider.retrying", attempt: 2, maxAttempts: 5, delayMs: 800, error, discard: false }),
    at({
      type: "provider.retrying",
      attempt: 2,
      maxAttempts: 5,
      delayMs: 1,
      error: { kind: "network", message: "Gone" },
      discard: true,
    }),
    at({ type: "context.compacted", before: tokens, after: tokens }),
    at({ type: "text.delta", text: "x" }),
    at({ type: "thinking.delta", text: "x" }),
    at({ type: "tool.progress", toolCallId: "c1", text: "x" }),
    at({ type: "notice", level: "info", text: "x" }),
  ]);
  const retry = { type: "system", subtype: "api_retry", ...BASE, attempt: 2, max_retries: 5 };
  expect(sent).toEqual([
    { ...retry, retry_delay_ms: 800, error_status: 529, error: "Busy" },
    { ...retry, retry_delay_ms: 1, error_status: null, error: "Gone" },
    { type: "system", subtype: "compact_boundary", ...BASE, compact_metadata: { trigger: "auto", pre_tokens: 10 } },
  ]);
});

test("the result sums the run up, and counts the time that the model took", () => {
  const usage = { ...NO_USAGE, inputTokens: 30, outputTokens: 20 };
  const sent = envelope([
    started,
    at({ type: "phase.started", phase: "action", tools: 4 }),
    answer({}),
    at({ type: "usage.updated", usage, total: usage, costUsd: 0.5, contextTokens: 50, contextWindow: 1000 }),
    end({ usage, costUsd: 0.5 }),
  ]);
  expect(sent.at(-1)).toEqual({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Hi.",
    ...BASE,
    duration_ms: 300,
    duration_api_ms: 250,
    num_turns: 1,
    stop_reason: "end_turn",
    total_cost_usd: 0.5,
    usage: { input_tokens: 30, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    modelUsage: {
      m: {
        inputTokens: 30,
        outputTokens: 20,
        cacheReadInputTokens: 0,
        cacheCreationInputTokens: 0,
        costUSD: 0.5,
        contextWindow: 1000,
      },
    },
    permission_denials: [],
  });
});

test.each([
  [{ reason: "max_turns" }, "error_max_turns"],
  [{ reason: "budget" }, "error_max_budget_usd"],
  [{ reason: "cancelled" }, "error_during_execution"],
  [{ reason: "blocked" }, "error_during_execution"],
  [{ reason: "repeated_call" }, "error_during_execution"],
  [{ reason: "error", error: { kind: "protocol", message: "x" } }, "error_during_execution"],
] as const)("%o is %s", (body, subtype) => {
  expect(envelope([end(body)])).toEqual([expect.objectContaining({ subtype, is_error: true })]);
});

test("a failed run gives its error with the hint, or else its reason, and an answer where there was one", () => {
  const error = { kind: "auth", message: "No key.", hint: "Set one." } as const;
  const [failed, blocked] = envelope([end({ reason: "error", text: "", error }), end({ reason: "blocked" })]);
  expect(failed).toMatchObject({ errors: ["No key. Set one."] });
  expect(failed).not.toHaveProperty("result");
  expect(blocked).toMatchObject({ errors: ["blocked"], result: "Hi." });
});

test("a refused call is told with the arguments that it had, those of an unknown call as null", () => {
  const toolCalls = [{ id: "c1", name: "bash", arguments: '{"command":"rm -rf /"}' }];
  const permissionDenials = [
    { toolCallId: "c1", name: "bash", reason: "guard" },
    { toolCallId: "c2", name: "bash", reason: "guard" },
  ];
  const sent = envelope([
    answer({ message: { role: "assistant", content: "", toolCalls } }),
    end({ reason: "blocked", permissionDenials }),
  ]);
  expect(sent.at(-1)?.["permission_denials"]).toEqual([
    { tool_name: "bash", tool_use_id: "c1", tool_input: { command: "rm -rf /" } },
    { tool_name: "bash", tool_use_id: "c2", tool_input: null },
  ]);
});

test("a checked answer is given as a value; corrections that came to nothing have their own subtype", () => {
  const structuredOutput = (text: string): unknown => JSON.parse(text);
  const error = { kind: "protocol", message: "no" } as const;
  const [good, bad] = envelope([end({ text: '{"a":1}' }), end({ reason: "error", text: "x", error })], {
    structuredOutput,
  });
  expect(good).toMatchObject({ subtype: "success", structured_output: { a: 1 } });
  expect(bad).toMatchObject({ subtype: "error_max_structured_output_retries" });
  expect(bad).not.toHaveProperty("structured_output");
});
