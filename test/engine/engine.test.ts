import { expect, test } from "vitest";
import { type Input, StopError } from "../../src/engine/options.ts";
import { ProviderError } from "../../src/providers/provider.ts";
import type { Answer, Question } from "../../src/schema/ask.ts";
import { isObservation, type Message } from "../../src/schema/message.ts";
import { errorResult, type ToolMiddleware } from "../../src/tools/tool.ts";
import { only, runEngine, tool, zh } from "../helpers/engine.ts";
import { call, scriptedProvider } from "../helpers/scripted-provider.ts";

const echo = tool("echo", (text) => text);
const countUp = (): (() => string) => {
  let count = 0;
  return () => {
    count += 1;
    return String(count);
  };
};
const observations = (history: readonly Message[]) =>
  history.filter(isObservation).map(({ toolCallId, content, isError }) => ({ toolCallId, content, isError }));

test("an answer without tool calls ends the run after one request that offers the tools", async () => {
  const provider = scriptedProvider({ text: "all done", usage: { inputTokens: 10, outputTokens: 2 } });
  const { events, end, history } = await runEngine(provider, { tools: [echo] });

  expect(provider.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([["echo"]]);
  expect(events.map(({ type }) => type)).toEqual([
    "run.started",
    "input.added",
    "turn.started",
    "phase.started",
    "text.delta",
    "text.delta",
    "message.completed",
    "usage.updated",
    "run.completed",
  ]);
  expect({ reason: end.reason, text: end.text, turns: end.turns, contextMessages: end.contextMessages }).toEqual({
    reason: "completed",
    text: "all done",
    turns: 1,
    contextMessages: 3,
  });
  expect(history.map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
});

test("turns count from 1 and the observations stand in the order of the calls, whatever finishes first", async () => {
  const gate = { release: (): void => undefined };
  const opened = new Promise<void>((resolve) => {
    gate.release = resolve;
  });
  const slow = tool("slow", async () => {
    await opened;
    return "slow";
  });
  const fast = tool("fast", () => {
    gate.release();
    return "fast";
  });
  const calls = [call("slow"), call("fast")];
  const { events, history } = await runEngine(scriptedProvider({ calls }, { text: "ok" }), { tools: [slow, fast] });

  expect(only(events, "tool.completed").map(({ name }) => name)).toEqual(["fast", "slow"]);
  expect(observations(history)).toEqual([
    { toolCallId: calls[0]?.id, content: "slow", isError: false },
    { toolCallId: calls[1]?.id, content: "fast", isError: false },
  ]);
  expect(only(events, "turn.started").map(({ turn }) => turn)).toEqual([1, 2]);
  for (const { toolCallId } of only(events, "tool.completed")) {
    const order = events.flatMap((event) =>
      (event.type === "tool.started" && event.call.id === toolCallId) ||
      (event.type === "tool.completed" && event.toolCallId === toolCallId)
        ? [event.type]
        : [],
    );
    expect(order).toEqual(["tool.started", "tool.completed"]);
  }
});

test("one failing call stops none of the others and each id gets exactly one observation", async () => {
  const broken = tool("broken", () => {
    throw new Error("disk full");
  });
  const calls = [
    call("echo", { text: "a" }),
    call("broken"),
    call("nowhere"),
    call("echo", '{"text":'),
    call("echo", "[]"),
  ];
  const { history, end } = await runEngine(scriptedProvider({ calls }, { text: "ok" }), { tools: [echo, broken] });

  const seen = observations(history);
  expect(seen.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ id }) => id));
  expect(seen.map(({ isError }) => isError)).toEqual([false, true, true, true, true]);
  expect(seen[1]?.content).toBe("Error executing broken: disk full");
  expect(seen[2]?.content).toBe("Error: 系统中不存在名为 'nowhere' 的工具。\n可用工具: echo, broken");
  expect(seen[3]?.content).toContain('{"text":');
  expect(end.reason).toBe("completed");
});

test("an empty output becomes the documents' placeholder in the history only", async () => {
  const { history, events } = await runEngine(scriptedProvider({ calls: [call("echo")] }, { text: "ok" }), {
    tools: [echo],
  });
  expect(observations(history)[0]?.content).toBe("[工具执行完成，无输出]");
  expect(only(events, "tool.completed")[0]?.result.output).toBe("");
});

test("the run ends at the turn limit with the documents' sentence and a valid history", async () => {
  const counter = tool("counter", countUp());
  const provider = scriptedProvider({ calls: [call("counter")] });
  const { end, history } = await runEngine(provider, {
    tools: [counter],
    engine: { limits: { maxTurns: 2, toolTimeoutMs: 0, maxConcurrentTools: 0 } },
  });
  expect(end).toMatchObject({ reason: "max_turns", turns: 2, error: { message: "已达最大 Turn 数 (2)，循环终止" } });
  expect(provider.requests.length).toBe(2);
  expect(history.at(-1)).toMatchObject({ role: "user", content: "2" });
});

test("two-stage thinking asks twice a turn, first without tools, and never sends two neighbouring assistant messages", async () => {
  const calls = [call("echo", { text: "x" })];
  const provider = scriptedProvider(
    { text: "I will look", calls: [call("echo")] },
    { text: "looking", calls },
    { text: "I am done" },
    { text: "the answer" },
  );
  const { end, events, history } = await runEngine(provider, { tools: [echo], engine: { thinking: "two-stage" } });

  expect(provider.requests.map(({ tools }) => tools?.length ?? 0)).toEqual([0, 1, 0, 1]);
  for (const { messages } of provider.requests)
    for (const [index, { role }] of messages.entries())
      if (role === "assistant") expect(messages[index + 1]?.role).not.toBe("assistant");
  expect(provider.requests[1]?.messages.some(({ content }) => content === "I will look")).toBe(true);
  expect(only(events, "phase.started").map(({ phase, tools }) => [phase, tools])).toEqual([
    ["thinking", 0],
    ["action", 1],
    ["thinking", 0],
    ["action", 1],
  ]);
  expect(only(events, "message.completed")[0]?.message).toEqual({
    role: "assistant",
    content: "",
    thinking: { kind: "two-stage", text: "I will look" },
    toolCalls: [],
  });
  expect(history[2]).toEqual({
    role: "assistant",
    content: "looking",
    thinking: { kind: "two-stage", text: "I will look" },
    toolCalls: calls,
  });
  expect(end.text).toBe("the answer");
});

test("a run that is cancelled before it starts sends nothing and still ends with run.completed", async () => {
  const provider = scriptedProvider({ text: "never" });
  const { end, events } = await runEngine(provider, { signal: AbortSignal.abort() });
  expect(provider.requests).toEqual([]);
  expect(end).toMatchObject({ reason: "cancelled", error: { kind: "cancelled", message: "context 已取消: 已中断" } });
  expect(events.map(({ type }) => type)).toEqual(["run.started", "input.added", "run.completed"]);
});

test("cancelling in the middle of an answer keeps what was said", async () => {
  const stop = new AbortController();
  const { end, history } = await runEngine(scriptedProvider({ hang: "I was just" }), {
    signal: stop.signal,
    onEvent: ({ type }) => type === "text.delta" && stop.abort(),
  });
  expect(end.reason).toBe("cancelled");
  expect(history.at(-1)).toEqual({ role: "assistant", content: "I was just", toolCalls: [] });
});

test("cancelling in the middle of a batch answers every call, those that had not begun included", async () => {
  const stop = new AbortController();
  const stubborn = tool("stubborn", () => new Promise<string>(() => undefined));
  const calls = [call("stubborn"), call("stubborn"), call("echo", { text: "late" })];
  const { end, history } = await runEngine(scriptedProvider({ calls }), {
    tools: [stubborn, echo],
    signal: stop.signal,
    engine: { limits: { maxTurns: 5, toolTimeoutMs: 60_000, maxConcurrentTools: 1 } },
    onEvent: ({ type }) => type === "tool.started" && stop.abort(),
  });
  expect(end.reason).toBe("cancelled");
  expect(observations(history).map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual(
    calls.map(({ id }) => [id, true]),
  );
});

test("a tool that outlives its limit is answered for and the others go on", async () => {
  const stubborn = tool("stubborn", () => new Promise<string>(() => undefined), { timeoutMs: 50 });
  const calls = [call("stubborn"), call("echo", { text: "fine" })];
  const { history } = await runEngine(scriptedProvider({ calls }, { text: "ok" }), { tools: [stubborn, echo] });
  expect(observations(history).map(({ content, isError }) => [content, isError])).toEqual([
    ["Error executing stubborn: 工具执行超时(0.05s)，已被引擎终止。", true],
    ["fine", false],
  ]);
});

test("maxConcurrentTools bounds how many calls run at once", async () => {
  let running = 0;
  let most = 0;
  const busy = tool("busy", async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return "";
  });
  const calls = Array.from({ length: 9 }, () => call("busy"));
  await runEngine(scriptedProvider({ calls }, { text: "ok" }), {
    tools: [busy],
    engine: { limits: { maxTurns: 5, toolTimeoutMs: 0, maxConcurrentTools: 3 } },
  });
  expect(most).toBe(3);
});

test("a batch with a call that will ask runs one at a time, in order", async () => {
  const order: string[] = [];
  const note = tool("note", async (text) => {
    order.push(`${text} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${text} ends`);
    return "";
  });
  const asking: ToolMiddleware = Object.assign(
    (async (invocation, next) => next(invocation)) satisfies ToolMiddleware,
    {
      asks: ({ args }: { args: unknown }) => JSON.stringify(args).includes("b"),
    },
  );
  const calls = ["a", "b", "c"].map((text) => call("note", { text }));
  await runEngine(scriptedProvider({ calls }, { text: "ok" }), { tools: [note], middlewares: [asking] });
  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

test("calls are run whenever they are complete, whatever the finish reason; a cut one is told so", async () => {
  const calls = [call("echo", { text: "whole" }), call("echo", '{"text":"cu')];
  const cutCalls = [calls[1]?.id ?? ""];
  const { history } = await runEngine(scriptedProvider({ calls, cutCalls, finishReason: "length" }, { text: "ok" }), {
    tools: [echo],
  });
  expect(observations(history).map(({ content, isError }) => [content, isError])).toEqual([
    ["whole", false],
    [zh.engine.callCut, true],
  ]);
});

test("tool calls that were announced and not given are asked for once more, then the run fails", async () => {
  const error = new ProviderError("no calls", { kind: "empty_tool_calls", retryable: true });
  const recovered = await runEngine(scriptedProvider({ error, text: "I will" }, { text: "fine" }));
  expect(recovered.end).toMatchObject({ reason: "completed", text: "fine" });
  expect(only(recovered.events, "provider.retrying")).toMatchObject([{ attempt: 2, maxAttempts: 2, discard: true }]);

  const provider = scriptedProvider({ error });
  const lost = await runEngine(provider);
  expect(provider.requests.length).toBe(2);
  expect(lost.end).toMatchObject({ reason: "error", error: { kind: "empty_tool_calls" } });
});

test("a failed provider ends the run with its kind, message and hint", async () => {
  const error = new ProviderError("401 from scripted", { kind: "auth", hint: "set KEY" });
  const { end, history } = await runEngine(scriptedProvider({ error }));
  expect(end).toMatchObject({
    reason: "error",
    error: { kind: "auth", message: "401 from scripted", hint: "set KEY" },
  });
  expect(history.map(({ role }) => role)).toEqual(["system", "user"]);
});

test.each([
  ["content_filter", "回答被内容过滤器截断。"],
  ["refusal", "模型拒绝回答。"],
] as const)("an answer that ends with %s is no success", async (finishReason, message) => {
  const { end } = await runEngine(scriptedProvider({ text: "Par", finishReason }));
  expect(end).toMatchObject({ reason: "error", text: "Par", error: { kind: "content_filter", message } });
});

test("an answer cut at the output limit completes with a warning", async () => {
  const { end, events } = await runEngine(scriptedProvider({ text: "half", finishReason: "length" }));
  expect(end).toMatchObject({ reason: "completed", text: "half" });
  expect(only(events, "notice")).toMatchObject([{ level: "warning", text: "回答在输出长度上限处被截断。" }]);
});

test("a paused turn goes on", async () => {
  const { end } = await runEngine(scriptedProvider({ text: "wait", finishReason: "pause" }, { text: "there" }));
  expect(end).toMatchObject({ reason: "completed", text: "there", turns: 2 });
});

test("the same call with the same result brings a reminder at the third time and ends a headless run at the fifth", async () => {
  const { end, events } = await runEngine(scriptedProvider({ calls: [call("echo", { text: "same" })] }), {
    tools: [echo],
  });
  expect(end).toMatchObject({ reason: "repeated_call", turns: 5, error: { message: zh.engine.repeatedCall(5) } });
  expect(only(events, "input.added").map(({ source }) => source)).toEqual(["person", "reminder"]);
});

test("a call whose results differ is never a repeated one, nor is one with other arguments", async () => {
  const poll = tool("poll", countUp());
  const polling = await runEngine(scriptedProvider({ calls: [call("poll")] }), {
    tools: [poll],
    engine: { limits: { maxTurns: 9, toolTimeoutMs: 0, maxConcurrentTools: 0 } },
  });
  expect(polling.end.reason).toBe("max_turns");
});

test("where a person can answer, a repeated call is a question, and going on starts the count again", async () => {
  const questions: Question[] = [];
  const answers: Answer[] = [{ choice: "continue" }, { choice: "stop" }];
  const { end } = await runEngine(scriptedProvider({ calls: [call("echo", { text: "same" })] }), {
    tools: [echo],
    engine: {
      ask: async (question) => {
        questions.push(question);
        return answers[questions.length - 1] ?? { dismissed: true };
      },
    },
  });
  expect(questions.map(({ kind }) => kind)).toEqual(["choice", "choice"]);
  expect(end).toMatchObject({ reason: "repeated_call", turns: 10 });
});

test("what the person has queued joins after the observations as one message", async () => {
  const queue: Input[] = [{ content: "also this\n\nand that", source: "queue" }];
  const { history } = await runEngine(scriptedProvider({ calls: [call("echo", { text: "x" })] }, { text: "ok" }), {
    tools: [echo],
    run: { takeQueued: () => queue.pop() },
  });
  expect(history.slice(3)).toEqual([
    { role: "user", toolCallId: expect.any(String), content: "x", isError: false },
    { role: "user", content: "also this\n\nand that" },
    { role: "assistant", content: "ok", toolCalls: [] },
  ]);
});

test("what is queued while a cancelled run ends is left for the next one", async () => {
  const queue: Input[] = [{ content: "go on", source: "queue" }];
  const controller = new AbortController();
  const { end } = await runEngine(scriptedProvider({ calls: [call("stop", {})] }, { text: "never" }), {
    tools: [
      tool("stop", async () => {
        controller.abort();
        return "stopped";
      }),
    ],
    run: { takeQueued: () => queue.pop() },
    signal: controller.signal,
  });
  expect(end.reason).toBe("cancelled");
  expect(queue).toHaveLength(1);
});

test("a stopping check sends the model back to work, and ends the run when it gives up", async () => {
  const corrected = await runEngine(scriptedProvider({ text: "bad" }, { text: "good" }), {
    run: { stopping: async (text) => (text === "bad" ? { content: "try again", source: "reminder" } : undefined) },
  });
  expect(corrected.end).toMatchObject({ reason: "completed", text: "good", turns: 2 });

  const lost = await runEngine(scriptedProvider({ text: "bad" }), {
    run: {
      stopping: async () => {
        throw new StopError("still bad");
      },
    },
  });
  expect(lost.end).toMatchObject({ reason: "error", error: { kind: "protocol", message: "still bad" } });
});

test("usage and cost add up, and unknown prices stay unknown", async () => {
  const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 50 };
  const prices = { input: 10, output: 100, cacheRead: 1, cacheWrite: 12 };
  const replies = [
    { calls: [call("echo", { text: "x" })], usage },
    { text: "ok", usage },
  ] as const;
  const known = await runEngine(scriptedProvider(...replies), {
    tools: [echo],
    engine: { info: { contextWindow: 1000, maxOutputTokens: null, prices } },
  });
  expect(only(known.events, "usage.updated").at(-1)).toMatchObject({
    total: { inputTokens: 200, outputTokens: 20, cacheReadTokens: 100 },
    contextTokens: 160,
    contextWindow: 1000,
  });
  expect(known.end.costUsd).toBeCloseTo(2 * (100 * 10 + 10 * 100 + 50 * 1) * 1e-6, 12);

  const unknown = await runEngine(scriptedProvider(...replies), { tools: [echo] });
  expect(unknown.end.costUsd).toBe(null);
});

test.each([
  ["maxTokens", { maxTokens: 50 }, "已达到 Token 预算 (50)，循环终止"],
  ["maxCostUsd", { maxCostUsd: 0.0001 }, "已达费用上限 ($0.0001)，循环终止"],
] as const)("%s ends the run before the next request", async (_name, limit, message) => {
  const provider = scriptedProvider({ calls: [call("echo", { text: "x" })], usage: { inputTokens: 60 } });
  const { end } = await runEngine(provider, {
    tools: [echo],
    engine: {
      info: {
        contextWindow: null,
        maxOutputTokens: null,
        prices: { input: 10, output: 10, cacheRead: 1, cacheWrite: 1 },
      },
      limits: { maxTurns: 50, toolTimeoutMs: 0, maxConcurrentTools: 0, ...limit },
    },
  });
  expect(end).toMatchObject({ reason: "budget", error: { message } });
  expect(provider.requests.length).toBe(1);
});

test("maxTimeMs ends a run that is waiting for the model", async () => {
  const { end } = await runEngine(scriptedProvider({ hang: "let me think" }), {
    engine: { limits: { maxTurns: 5, toolTimeoutMs: 0, maxConcurrentTools: 0, maxTimeMs: 20 } },
  });
  expect(end).toMatchObject({ reason: "budget", error: { message: "已达运行超时上限 (0.02s)，循环终止" } });
});

const refuse =
  (by: "mode" | "rule"): ToolMiddleware =>
  async ({ call: refused, context }, next) => {
    if (!refused.arguments.includes("no")) return next({ call: refused, tool: echo, args: { text: "yes" }, context });
    const { id: toolCallId, name } = refused;
    context.emit({
      type: "permission.resolved",
      toolCallId,
      name,
      decision: "reject",
      scope: "once",
      by,
      rule: "no no",
    });
    return errorResult(refused, "denied by policy: no no");
  };

test("a run whose last word was a refusal for want of a person is blocked, and lists it", async () => {
  const refused = call("echo", { text: "no" });
  const blocked = await runEngine(
    scriptedProvider({ calls: [call("echo", { text: "yes" }), refused] }, { text: "sorry" }),
    {
      tools: [echo],
      middlewares: [refuse("mode")],
    },
  );
  expect(blocked.end).toMatchObject({
    reason: "blocked",
    text: "sorry",
    permissionDenials: [{ toolCallId: refused.id, name: "echo", reason: "denied by policy: no no" }],
  });

  const recovered = await runEngine(
    scriptedProvider(
      { calls: [call("echo", { text: "no" })] },
      { calls: [call("echo", { text: "yes" })] },
      { text: "ok" },
    ),
    { tools: [echo], middlewares: [refuse("mode")] },
  );
  expect(recovered.end.reason).toBe("completed");

  const byRule = await runEngine(scriptedProvider({ calls: [call("echo", { text: "no" })] }, { text: "ok" }), {
    tools: [echo],
    middlewares: [refuse("rule")],
  });
  expect(byRule.end).toMatchObject({ reason: "completed", permissionDenials: [{ name: "echo" }] });
});

test("the values of known keys are hidden in events and history alike", async () => {
  const leak = tool("leak", (_text, { emit, call: { id: toolCallId } }) => {
    emit({ type: "tool.progress", toolCallId, text: "hunter2 so far" });
    return { output: "key=hunter2", data: { type: "json", value: { deep: ["hunter2"] } } };
  });
  const { events, history } = await runEngine(scriptedProvider({ calls: [call("leak")] }, { text: "ok" }), {
    tools: [leak],
    engine: { mask: (text) => text.replaceAll("hunter2", "[masked KEY]") },
  });
  expect(JSON.stringify([events, history])).not.toContain("hunter2");
  expect(only(events, "tool.completed")[0]?.result).toEqual({
    output: "key=[masked KEY]",
    isError: false,
    data: { type: "json", value: { deep: ["[masked KEY]"] } },
  });
});

test("the preview of a question hides them too, and the call's arguments stay as the model wrote them", async () => {
  const question = {
    kind: "permission",
    toolCallId: "a",
    name: "echo",
    arguments: '{"text":"hunter2"}',
    preview: { type: "json", value: ["hunter2"] },
    reason: "",
    by: "mode",
    offers: [],
  } as const;
  const asks = tool("echo", (_text, { emit }) => {
    emit({ type: "permission.requested", toolCallId: "a", question });
    return "";
  });
  const { events } = await runEngine(scriptedProvider({ calls: [call("echo")] }, { text: "ok" }), {
    tools: [asks],
    engine: { mask: (text) => text.replaceAll("hunter2", "[masked KEY]") },
  });
  expect(only(events, "permission.requested").map((event) => event.question)).toEqual([
    { ...question, preview: { type: "json", value: ["[masked KEY]"] } },
  ]);
});

test("a bug ends the run with run.completed and comes out of the stream", async () => {
  const bug = new TypeError("x is not a function");
  const types: string[] = [];
  await expect(
    runEngine(scriptedProvider({ text: "hi" }), {
      run: {
        stopping: async () => {
          throw bug;
        },
      },
      onEvent: ({ type }) => types.push(type),
    }),
  ).rejects.toBe(bug);
  expect(types.at(-1)).toBe("run.completed");
});

test("the time that a call waits for a person is not the tool's", async () => {
  let clock = 0;
  const asking: ToolMiddleware = async (invocation, next) => {
    const { id: toolCallId, name } = invocation.call;
    const question = {
      kind: "permission",
      toolCallId,
      name,
      arguments: "{}",
      reason: "",
      by: "mode",
      offers: [],
    } as const;
    invocation.context.emit({ type: "permission.requested", toolCallId, question });
    clock += 5000;
    invocation.context.emit({
      type: "permission.resolved",
      toolCallId,
      name,
      decision: "allow",
      scope: "once",
      by: "person",
    });
    return next(invocation);
  };
  const { events } = await runEngine(scriptedProvider({ calls: [call("work", {})] }, { text: "ok" }), {
    tools: [
      tool("work", async () => {
        clock += 20;
        return "done";
      }),
    ],
    middlewares: [asking],
    engine: { now: () => clock },
  });
  expect(only(events, "tool.completed").map(({ durationMs }) => durationMs)).toEqual([20]);
});
