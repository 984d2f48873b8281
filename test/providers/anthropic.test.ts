import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createAnthropic } from "../../src/providers/anthropic.ts";
import type { AssistantMessage, Message, Thinking } from "../../src/schema/message.ts";
import { type Answer, anthropicAnswer, modelServer, sse } from "../helpers/model-server.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { BASH, gather, HELLO, joined, modelOptions, NEVER } from "./model-options.ts";

const ask = async (answers: readonly Answer[], changes: Parameters<typeof modelOptions>[1] = {}, path = "") => {
  const server = await modelServer(answers);
  return { server, provider: createAnthropic(modelOptions(server.origin + path, changes)) };
};

const bodyFor = async (messages: readonly Message[], changes: Parameters<typeof modelOptions>[1] = {}) => {
  const { server, provider } = await ask([anthropicAnswer("ok")], changes);
  await provider.generate({ messages }, NEVER);
  return server.requests[0]?.body as { readonly messages: readonly unknown[]; readonly [key: string]: unknown };
};

const cache_control = { type: "ephemeral" };

describe("the request", () => {
  test.each(["", "/", "/v1", "/v1/messages"])("goes to /v1/messages for a base URL that ends with %j", async (path) => {
    const { server, provider } = await ask([anthropicAnswer("ok")], {}, path);
    await provider.generate(HELLO, NEVER);
    const [request] = server.requests;
    expect([
      request?.method,
      request?.url,
      request?.headers["x-api-key"],
      request?.headers["anthropic-version"],
    ]).toEqual(["POST", "/v1/messages", "test-key-0123456789", "2023-06-01"]);
  });

  test("has the system prompt apart, and breakpoints on the last tool, the system prompt and the last two user messages", async () => {
    const { server, provider } = await ask([anthropicAnswer("ok")]);
    const tools = [BASH, { ...BASH, name: "other" }];
    const messages: readonly Message[] = [
      { role: "system", content: "one" },
      { role: "user", content: "go" },
      { role: "assistant", content: "", toolCalls: [{ id: "a:0", name: "bash", arguments: '{"command":"ls"}' }] },
      { role: "user", toolCallId: "a:0", content: "out", isError: true },
      { role: "user", content: "and" },
      { role: "assistant", content: "well", toolCalls: [] },
      { role: "user", content: "more" },
    ];
    await provider.generate({ messages, tools }, NEVER);
    const tool = { name: "bash", description: "Runs a command.", input_schema: BASH.inputSchema };
    expect(server.requests[0]?.body).toEqual({
      model: "m-test",
      max_tokens: 8192,
      system: [{ type: "text", text: "one", cache_control }],
      tools: [tool, { ...tool, name: "other", cache_control }],
      messages: [
        { role: "user", content: [{ type: "text", text: "go" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "a_0", name: "bash", input: { command: "ls" } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a_0", content: "out", is_error: true },
            { type: "text", text: "and", cache_control },
          ],
        },
        { role: "assistant", content: [{ type: "text", text: "well" }] },
        { role: "user", content: [{ type: "text", text: "more", cache_control }] },
      ],
      stream: true,
    });
  });

  test("results come first in a user message, whatever came between them", async () => {
    const { messages } = await bodyFor([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: " ",
        toolCalls: [
          { id: "a", name: "bash", arguments: '{"x":' },
          { id: "b", name: "bash", arguments: "[1]" },
        ],
      },
      { role: "user", toolCallId: "a", content: "", isError: true },
      { role: "user", content: "wait" },
      { role: "user", toolCallId: "b", content: "2", isError: false },
    ]);
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "bash", input: {} },
          { type: "tool_use", id: "b", name: "bash", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "(empty)", is_error: true },
          { type: "tool_result", tool_use_id: "b", content: "2", is_error: false },
          { type: "text", text: "wait", cache_control },
        ],
      },
    ]);
  });

  test("thinking blocks go back unchanged, in order, before text and calls; other vendors' do not", async () => {
    const blocks = [
      { type: "thinking", thinking: "t", signature: "s" },
      { type: "redacted_thinking", data: "d" },
    ];
    const { messages } = await bodyFor([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "x",
        thinking: { kind: "native", text: "t", blocks: [...blocks, { reasoning_content: "no" }] },
        toolCalls: [{ id: "a", name: "bash", arguments: "{}" }],
      },
      { role: "user", toolCallId: "a", content: "out", isError: false },
    ]);
    expect(messages[1]).toEqual({
      role: "assistant",
      content: [...blocks, { type: "text", text: "x" }, { type: "tool_use", id: "a", name: "bash", input: {} }],
    });
  });

  test("a two-stage thought and its act are one message; a thought to act on ends the request as the user's", async () => {
    const { messages } = await bodyFor([
      { role: "user", content: "go" },
      { role: "assistant", content: "act", thinking: { kind: "two-stage", text: "think" }, toolCalls: [] },
      { role: "user", content: "more" },
      { role: "assistant", content: "a plan", toolCalls: [] },
    ]);
    expect(messages.slice(1)).toEqual([
      { role: "assistant", content: [{ type: "text", text: "think\n\nact" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "more" },
          { type: "text", text: "[Your thoughts just now: act on them]\na plan", cache_control },
        ],
      },
    ]);
  });

  test("images are blocks, also in a result", async () => {
    const path = join(tempDir(), "a.png");
    writeFileSync(path, "png");
    const attachments = [{ kind: "image", mediaType: "image/png", path }] as const;
    const { messages } = await bodyFor([
      { role: "user", content: "", attachments },
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "shot", arguments: "{}" }] },
      { role: "user", toolCallId: "a", content: "taken", isError: false, attachments },
    ]);
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "cG5n" } };
    expect([messages[0], messages[2]]).toEqual([
      { role: "user", content: [{ ...image, cache_control }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [{ type: "text", text: "taken" }, image],
            is_error: false,
            cache_control,
          },
        ],
      },
    ]);
  });

  test.each<[string, Parameters<typeof modelOptions>[1], object]>([
    [
      "an older model gets a budget",
      { thinking: "native", effort: "low" },
      { thinking: { type: "enabled", budget_tokens: 2048 } },
    ],
    [
      "the budget stays below max_tokens",
      { thinking: "native", effort: "high", maxOutputTokens: 3000 },
      { max_tokens: 3000, thinking: { type: "enabled", budget_tokens: 1500 } },
    ],
    [
      "a newer model chooses by effort",
      { thinking: "native", effort: "high", model: "claude-opus-4-8" },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "high" } },
    ],
    [
      "max_tokens comes from the model's table and fits into the window",
      { info: { contextWindow: 20_000, maxOutputTokens: 64_000, prices: null } },
      { max_tokens: 19_997 },
    ],
  ])("%s", async (_, changes, expected) => {
    expect(await bodyFor(HELLO.messages, changes)).toMatchObject(expected);
  });

  test("a max_tokens too small for any budget goes without thinking", async () => {
    expect(await bodyFor(HELLO.messages, { thinking: "native", maxOutputTokens: 1024 })).not.toHaveProperty("thinking");
  });

  test("a model that refuses one way of thinking is asked the other way, from then on", async () => {
    const error = { type: "invalid_request_error", message: "thinking.type.enabled is not supported for this model" };
    const refusal = { status: 400, chunks: [JSON.stringify({ type: "error", error })] };
    const { server, provider } = await ask([refusal, anthropicAnswer("ok")], { thinking: "native" });
    await provider.generate(HELLO, NEVER);
    await provider.generate(HELLO, NEVER);
    const types = server.requests.map(({ body }) => (body as { thinking: { type: string } }).thinking.type);
    expect(types).toEqual(["enabled", "adaptive", "adaptive"]);
  });

  test("no warning about a model reaches the terminal", async () => {
    const written = [vi.spyOn(console, "warn"), vi.spyOn(console, "error"), vi.spyOn(console, "log")];
    await bodyFor(HELLO.messages, { model: "claude-opus-4-0", thinking: "native" });
    await bodyFor(HELLO.messages, {
      model: "claude-opus-4-6",
      thinking: "native",
      quirks: { thinkingStyle: "budget" },
    });
    expect(written.flatMap((spy) => spy.mock.calls)).toEqual([]);
    vi.restoreAllMocks();
  });
});

describe("the answer", () => {
  test("a server without streaming answers in one piece", async () => {
    const body = {
      type: "message",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "go" },
        { type: "tool_use", id: "a", name: "bash", input: { command: "ls" } },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 5, cache_creation_input_tokens: 6 },
    };
    const { server, provider } = await ask([{ chunks: [JSON.stringify(body)] }], { stream: false });
    expect(await provider.generate(HELLO, NEVER)).toEqual({
      message: {
        role: "assistant",
        content: "go",
        thinking: { kind: "native", text: "hm", blocks: [body.content[0]] },
        toolCalls: [{ id: "a", name: "bash", arguments: '{"command":"ls"}' }],
      },
      finishReason: "tool_calls",
      usage: { inputTokens: 3, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 6, reasoningTokens: 0 },
    });
    expect(server.requests[0]?.body).toMatchObject({ stream: false });
  });

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["pause_turn", "pause"],
    ["something_new", "stop"],
  ])("stop_reason %s is %s", async (reason, expected) => {
    const { provider } = await ask([anthropicAnswer("ok", reason)]);
    expect((await provider.generate(HELLO, NEVER)).finishReason).toBe(expected);
  });

  test("tool_use without a call is the engine's to ask for again", async () => {
    const { provider } = await ask([anthropicAnswer("ok", "tool_use")]);
    await expect(provider.generate(HELLO, NEVER)).rejects.toMatchObject({ kind: "empty_tool_calls", retryable: true });
  });

  test("a call that max_tokens cut is named, with what came of its arguments", async () => {
    const chunks = sse(
      { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "a", name: "write_file", input: {} },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"path":"x","content":"y' },
      },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    );
    const { provider } = await ask([{ chunks }]);
    expect(await provider.generate(HELLO, NEVER)).toMatchObject({
      message: { toolCalls: [{ id: "a", name: "write_file", arguments: '{"path":"x","content":"y' }] },
      finishReason: "length",
      cutCalls: ["a"],
    });
  });

  test.each(["close", "reset"] as const)("a stream that ends (%s) before the stop reason is broken", async (end) => {
    const chunks = (anthropicAnswer("par").chunks ?? []).slice(0, 3);
    const { provider } = await ask([{ chunks, end }]);
    const { chunks: seen, error } = await gather(provider.generateStream(HELLO, NEVER));
    expect(joined(seen, "text.delta")).toBe("par");
    expect(error).toMatchObject({ kind: "network", retryable: true });
  });

  test("message_stop may be missing", async () => {
    const chunks = (anthropicAnswer("ok").chunks ?? []).slice(0, -1);
    const { provider } = await ask([{ chunks }]);
    expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
  });
});

describe("thinking that is not the first of an answer", () => {
  const first = { type: "thinking", thinking: "t", signature: "s1" };
  const second = { type: "thinking", thinking: "u", signature: "s2" };
  const call = { type: "tool_use", id: "a", name: "bash", input: { command: "ls" } };
  const answer: Answer = {
    chunks: [
      JSON.stringify({
        content: [first, { type: "text", text: "so" }, { type: "text", text: "\n" }, second, call],
        stop_reason: "tool_use",
      }),
    ],
  };
  const refusal: Answer = {
    status: 400,
    chunks: [
      JSON.stringify({
        error: {
          type: "invalid_request_error",
          message:
            "messages.1.content.2: `thinking` or `redacted_thinking` blocks in the latest message cannot be modified.",
        },
      }),
    ],
  };

  const without = ({ layout: _layout, ...thinking }: Thinking): Thinking => thinking;

  /** The assistant's message in each request after the first. */
  const replayed = async (
    answers: readonly Answer[],
    keep: (message: AssistantMessage) => Message = (message) => message,
    changes: Parameters<typeof modelOptions>[1] = {},
  ) => {
    const { server, provider } = await ask([answer, ...answers], { thinking: "native", ...changes });
    const { message } = await provider.generate(HELLO, NEVER);
    const observation: Message = { role: "user", toolCallId: "a", content: "out", isError: false };
    const history = [...HELLO.messages, keep(message), observation];
    await provider.generate({ messages: history, tools: [BASH] }, NEVER);
    await provider.generate({ messages: history, tools: [BASH] }, NEVER);
    return server.requests
      .slice(1)
      .map(({ body }) => body as { messages: { content: unknown }[]; thinking?: unknown })
      .map(({ messages, thinking }) => ({ content: messages[1]?.content, isThinking: thinking !== undefined }));
  };

  test("goes back where it was", async () => {
    const content = [first, { type: "text", text: "so" }, second, call];
    const expected = { content, isThinking: true };
    expect(await replayed([anthropicAnswer("ok")])).toEqual([expected, expected]);
  });

  test("goes back where it was after the message was written down and read again", async () => {
    const content = [first, { type: "text", text: "so" }, second, call];
    const expected = { content, isThinking: true };
    const reread = (message: AssistantMessage) => JSON.parse(JSON.stringify(message)) as AssistantMessage;
    expect(await replayed([anthropicAnswer("ok")], reread)).toEqual([expected, expected]);
  });

  test.each<[string, (message: AssistantMessage) => AssistantMessage, string]>([
    [
      "is not known",
      ({ thinking, ...message }) => ({ ...message, ...(thinking && { thinking: without(thinking) }) }),
      "so\n",
    ],
    ["is another message's", (message) => ({ ...message, content: "so what" }), "so what"],
  ])("goes first where its place %s", async (_, keep, text) => {
    const content = [first, second, { type: "text", text }, call];
    const expected = { content, isThinking: true };
    expect(await replayed([anthropicAnswer("ok")], keep)).toEqual([expected, expected]);
  });

  test.each<[string, Parameters<typeof modelOptions>[1], boolean]>([
    ["a model with a budget goes on without thinking", {}, false],
    ["a newer model thinks on", { model: "claude-opus-4-8" }, true],
  ])("is left out for good where the API refuses it: %s", async (_, changes, isThinking) => {
    const copy = (message: AssistantMessage) => structuredClone(message);
    const [refused, ...others] = await replayed([refusal, anthropicAnswer("ok")], copy, changes);
    expect(refused?.content).toContainEqual(first);
    const expected = { content: [{ type: "text", text: "so\n" }, call], isThinking };
    expect(others).toEqual([expected, expected]);
  });

  test("a refusal that goes on is believed", async () => {
    const copy = (message: AssistantMessage) => structuredClone(message);
    await expect(replayed([refusal], copy)).rejects.toMatchObject({ kind: "bad_request", status: 400 });
  });
});

test("a server that wants tools with a history of calls gets their names, to call none", async () => {
  const message = "Requests which include `tool_use` or `tool_result` blocks must define tools";
  const refusal = { status: 400, chunks: [JSON.stringify({ error: { type: "invalid_request_error", message } })] };
  const { server, provider } = await ask([refusal, anthropicAnswer("ok")]);
  const messages: readonly Message[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: "", toolCalls: [{ id: "a", name: "bash", arguments: "{}" }] },
    { role: "user", toolCallId: "a", content: "out", isError: false },
  ];
  await provider.generate({ messages }, NEVER);
  await provider.generate({ messages }, NEVER);
  await provider.generate(HELLO, NEVER);
  const tools = server.requests.map(({ body }) => {
    const { tools, tool_choice } = body as { tools?: unknown; tool_choice?: unknown };
    return [tools, tool_choice];
  });
  const declared = [[{ name: "bash", input_schema: { type: "object" } }], { type: "none" }];
  const none = [undefined, undefined];
  expect(tools).toEqual([none, declared, declared, none]);
});

test("each turn's request begins with the bytes of the one before, and has at most four breakpoints", async () => {
  const { server, provider } = await ask([anthropicAnswer("ok")]);
  const history: Message[] = [
    { role: "system", content: "be brief" },
    { role: "user", content: "go" },
  ];
  for (let turn = 0; turn < 5; turn += 1) {
    await provider.generate({ messages: history, tools: [BASH] }, NEVER);
    const id = `a${turn}`;
    history.push({ role: "assistant", content: "x", toolCalls: [{ id, name: "bash", arguments: "{}" }] });
    history.push({ role: "user", toolCallId: id, content: `out ${turn}`, isError: false });
  }
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  for (const body of bodies) expect(body.split("cache_control").length - 1).toBeLessThanOrEqual(4);
  const plain = server.requests.map(({ body }) => {
    const { tools, system, messages } = body as { tools: unknown; system: unknown; messages: unknown[] };
    return JSON.stringify([tools, system, messages]).replaceAll(`,"cache_control":{"type":"ephemeral"}`, "");
  });
  plain.slice(1).forEach((text, i) => {
    expect(text.startsWith(plain[i]?.slice(0, -2) ?? "?")).toBe(true);
  });
  // The breakpoint that one request wrote is among those of the next.
  const marked = server.requests.map(({ body }) => {
    const { messages } = body as { messages: { content: object[] }[] };
    return messages.flatMap(({ content }, i) => (content.some((block) => "cache_control" in block) ? [i] : []));
  });
  expect(marked).toEqual([[0], [0, 2], [2, 4], [4, 6], [6, 8]]);
});

test("a call that max_tokens cut before its input began does not run", async () => {
  const chunks = sse(
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "bash", input: {} } },
    { type: "message_delta", delta: { stop_reason: "max_tokens" } },
  );
  const { provider } = await ask([{ chunks }]);
  expect(await provider.generate(HELLO, NEVER)).toMatchObject({ finishReason: "length", cutCalls: ["a"] });
});
