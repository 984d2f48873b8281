import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createOpenAI } from "../../src/providers/openai.ts";
import type { Message } from "../../src/schema/message.ts";
import { type Answer, modelServer, openAIAnswer, sse } from "../helpers/model-server.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { BASH, gather, HELLO, joined, modelOptions, NEVER } from "./model-options.ts";

const ask = async (answers: readonly Answer[], changes: Parameters<typeof modelOptions>[1] = {}) => {
  const server = await modelServer(answers);
  const provider = createOpenAI(modelOptions(`${server.origin}/v1`, changes));
  return { server, provider };
};

const bodyFor = async (messages: readonly Message[], changes: Parameters<typeof modelOptions>[1] = {}) => {
  const { server, provider } = await ask([openAIAnswer("ok")], changes);
  await provider.generate({ messages }, NEVER);
  return server.requests[0]?.body as { readonly messages: readonly unknown[]; readonly [key: string]: unknown };
};

describe("the request", () => {
  test("goes to /chat/completions with the key, and nothing that was not asked for", async () => {
    const { server, provider } = await ask([openAIAnswer("ok")]);
    await provider.generate(
      { messages: [{ role: "system", content: "be brief" }, ...HELLO.messages], tools: [BASH] },
      NEVER,
    );
    const [request] = server.requests;
    expect([request?.method, request?.url, request?.headers.authorization]).toEqual([
      "POST",
      "/v1/chat/completions",
      "Bearer test-key-0123456789",
    ]);
    expect(request?.body).toEqual({
      model: "m-test",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hello" },
      ],
      tools: [
        {
          type: "function",
          function: { name: "bash", description: "Runs a command.", parameters: BASH.inputSchema },
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("an empty list of tools is left out", async () => {
    const { server, provider } = await ask([openAIAnswer("ok")]);
    await provider.generate({ ...HELLO, tools: [] }, NEVER);
    expect(server.requests[0]?.body).not.toHaveProperty("tools");
  });

  test("observations become tool messages, and neighbours of one role are merged", async () => {
    const { messages } = await bodyFor([
      { role: "user", content: "one" },
      { role: "user", content: "two" },
      {
        role: "assistant",
        content: "",
        toolCalls: [
          { id: "a", name: "bash", arguments: '{"command": "ls"}' },
          { id: "b", name: "no such.tool", arguments: '{"x":' },
        ],
      },
      { role: "user", toolCallId: "a", content: "out", isError: false },
      { role: "user", toolCallId: "b", content: " ", isError: true },
      { role: "user", content: "three" },
      { role: "assistant", content: " ", toolCalls: [] },
      { role: "user", content: "four" },
    ]);
    expect(messages).toEqual([
      { role: "user", content: "one\n\ntwo" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "bash", arguments: '{"command": "ls"}' } },
          { id: "b", type: "function", function: { name: "no_such_tool", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "out" },
      { role: "tool", tool_call_id: "b", content: "(empty)" },
      { role: "user", content: "three\n\nfour" },
    ]);
  });

  test("a two-stage thought and its act are one assistant message", async () => {
    const { messages } = await bodyFor([
      { role: "user", content: "go" },
      { role: "assistant", content: "act", thinking: { kind: "two-stage", text: "think" }, toolCalls: [] },
      { role: "user", content: "more" },
      { role: "assistant", content: "thought for this request", toolCalls: [] },
    ]);
    expect(messages.slice(1)).toEqual([
      { role: "assistant", content: "think\n\nact" },
      { role: "user", content: "more" },
      { role: "assistant", content: "thought for this request" },
    ]);
  });

  test("reasoning goes back unchanged with the tool calls that it led to, and with nothing else", async () => {
    const thinking = { kind: "native", text: "t", blocks: [{ reasoning_content: "t" }] } as const;
    const { messages } = await bodyFor([
      { role: "user", content: "go" },
      { role: "assistant", content: "x", thinking, toolCalls: [{ id: "a", name: "bash", arguments: "{}" }] },
      { role: "user", toolCallId: "a", content: "out", isError: false },
      { role: "assistant", content: "y", thinking, toolCalls: [] },
      { role: "user", content: "next" },
      {
        role: "assistant",
        content: "z",
        thinking: { kind: "native", text: "t", blocks: [{ type: "thinking", thinking: "t", signature: "s" }] },
        toolCalls: [{ id: "b", name: "bash", arguments: "{}" }],
      },
    ]);
    expect(messages.filter((message) => JSON.stringify(message).includes("reasoning"))).toEqual([
      {
        role: "assistant",
        content: "x",
        tool_calls: [{ id: "a", type: "function", function: { name: "bash", arguments: "{}" } }],
        reasoning_content: "t",
      },
    ]);
    expect(JSON.stringify(messages)).not.toContain("signature");
  });

  test("images of a tool follow its message as the person's; without vision they are a line of text", async () => {
    const path = join(tempDir(), "a.png");
    writeFileSync(path, "png");
    const attachments = [{ kind: "image", mediaType: "image/png", path }] as const;
    const messages: readonly Message[] = [
      { role: "user", content: "look", attachments },
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "shot", arguments: "{}" }] },
      { role: "user", toolCallId: "a", content: "taken", isError: false, attachments },
    ];
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,cG5n" } };
    expect((await bodyFor(messages)).messages.filter((_, i) => i !== 1)).toEqual([
      { role: "user", content: [{ type: "text", text: "look" }, image] },
      { role: "tool", tool_call_id: "a", content: "taken" },
      { role: "user", content: [{ type: "text", text: "[images that tool call a returned]" }, image] },
    ]);
    expect((await bodyFor(messages, { vision: false })).messages[0]).toEqual({
      role: "user",
      content: `look\n\n[image ${path}: this model takes no images]`,
    });
  });

  test("an image that is gone does not stop the request", async () => {
    const attachments = [{ kind: "image", mediaType: "image/png", path: "/no/such.png" }] as const;
    expect((await bodyFor([{ role: "user", content: "look", attachments }])).messages).toEqual([
      { role: "user", content: "look\n\n[image /no/such.png cannot be read: ENOENT]" },
    ]);
  });

  test("the output limit has the name that other servers know, and fits into the window", async () => {
    const info = { contextWindow: 4000, maxOutputTokens: null, prices: null };
    const messages: readonly Message[] = [{ role: "user", content: "x".repeat(3000) }];
    expect(await bodyFor(messages, { maxOutputTokens: 500 })).toMatchObject({ max_tokens: 500 });
    expect(await bodyFor(messages, { maxOutputTokens: 9000, info })).toMatchObject({ max_tokens: 2999 });
  });

  test("native thinking asks for effort", async () => {
    expect(await bodyFor(HELLO.messages, { thinking: "native", effort: "high" })).toMatchObject({
      reasoning_effort: "high",
    });
    expect(await bodyFor(HELLO.messages, { thinking: "two-stage", effort: "high" })).not.toHaveProperty(
      "reasoning_effort",
    );
  });

  test("strict tools go only where strict is known, and only those that fit", async () => {
    const { server, provider } = await ask([openAIAnswer("ok")], { quirks: { strict: true } });
    const open = { ...BASH, name: "open", inputSchema: { ...BASH.inputSchema, required: [] } };
    await provider.generate({ ...HELLO, tools: [BASH, open] }, NEVER);
    const body = server.requests[0]?.body as { tools?: unknown } | undefined;
    expect(body?.tools).toEqual([
      {
        type: "function",
        function: {
          name: "bash",
          description: "Runs a command.",
          parameters: { ...BASH.inputSchema, additionalProperties: false },
          strict: true,
        },
      },
      { type: "function", function: { name: "open", description: "Runs a command.", parameters: open.inputSchema } },
    ]);
  });

  test("nothing of the process's environment goes to another server", async () => {
    for (const name of [
      "OPENAI_ADMIN_KEY",
      "OPENAI_ORG_ID",
      "OPENAI_PROJECT_ID",
      "OPENAI_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
    ])
      vi.stubEnv(name, "from-the-environment");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { server, provider } = await ask([openAIAnswer("ok")]);
    await provider.generate(HELLO, NEVER);
    expect(JSON.stringify(server.requests)).not.toContain("from-the-environment");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer test-key-0123456789");
  });

  test("the same history makes the same bytes", async () => {
    const { server, provider } = await ask([openAIAnswer("ok")]);
    await provider.generate({ ...HELLO, tools: [BASH] }, NEVER);
    await provider.generate({ ...HELLO, tools: [BASH] }, NEVER);
    expect(JSON.stringify(server.requests[1]?.body)).toBe(JSON.stringify(server.requests[0]?.body));
  });
});

describe("a parameter that the server refuses", () => {
  const refusal = (error: object): Answer => ({ status: 400, chunks: [JSON.stringify({ error })] });

  test.each<[string, object, Parameters<typeof modelOptions>[1], string]>([
    [
      "stream_options",
      { message: "Unrecognized request argument supplied: stream_options", type: "invalid_request_error", param: null },
      {},
      "stream_options",
    ],
    [
      "max_tokens",
      {
        message: "Unsupported parameter",
        type: "invalid_request_error",
        param: "max_tokens",
        code: "unsupported_parameter",
      },
      { maxOutputTokens: 100 },
      "max_tokens",
    ],
    ["reasoning_effort", { message: "no", param: "reasoning_effort" }, { thinking: "native" }, "reasoning_effort"],
  ])("%s is left out at once and from then on", async (_, error, changes, gone) => {
    const { server, provider } = await ask([refusal(error), openAIAnswer("ok")], changes);
    expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
    await provider.generate(HELLO, NEVER);
    const has = server.requests.map(({ body }) => Object.hasOwn(body as object, gone));
    expect(has).toEqual([true, false, false]);
    if (gone === "max_tokens") expect(server.requests[2]?.body).toMatchObject({ max_completion_tokens: 100 });
  });

  test("is left out once: a server that refuses on is believed", async () => {
    const { server, provider } = await ask([refusal({ message: "stream_options", param: "stream_options" })]);
    await expect(provider.generate(HELLO, NEVER)).rejects.toMatchObject({ kind: "bad_request", status: 400 });
    expect(server.requests.length).toBe(2);
  });
});

describe("the answer", () => {
  const call = { index: 0, id: "a", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } };

  test.each<[string, boolean, object]>([
    [
      "a server without streaming",
      false,
      { choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }] },
    ],
    ["a server that ignores stream: true", true, { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }],
  ])("%s answers in one piece", async (_, stream, body) => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const answer = { headers: { "content-type": "application/json" }, chunks: [JSON.stringify({ ...body, usage })] };
    const { server, provider } = await ask([answer], { stream });
    const { chunks } = await gather(provider.generateStream(HELLO, NEVER));
    expect(chunks).toEqual([
      { type: "text.delta", text: "hi" },
      {
        type: "completed",
        response: {
          message: { role: "assistant", content: "hi", toolCalls: [] },
          finishReason: "stop",
          usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: 60, cacheWriteTokens: 0, reasoningTokens: 5 },
        },
      },
    ]);
    expect(server.requests[0]?.body).toMatchObject({ stream });
  });

  test("an answer in one piece may hold calls, thinking and arguments as an object", async () => {
    const message = {
      content: "<think>hm</think>go",
      tool_calls: [{ id: "a", type: "function", function: { name: "bash", arguments: { command: "ls" } } }],
    };
    const { provider } = await ask([{ chunks: [JSON.stringify({ choices: [{ message, finish_reason: "stop" }] })] }], {
      stream: false,
    });
    expect(await provider.generate(HELLO, NEVER)).toEqual({
      message: {
        role: "assistant",
        content: "go",
        thinking: { kind: "native", text: "hm" },
        toolCalls: [{ id: "a", name: "bash", arguments: '{"command":"ls"}' }],
      },
      finishReason: "tool_calls",
      usage: null,
    });
  });

  test.each<[string, string, object, string, readonly string[] | undefined]>([
    ["length with whole calls runs them", "length", call, "tool_calls", undefined],
    [
      "length with a cut call does not",
      "length",
      { ...call, function: { name: "bash", arguments: '{"comm' } },
      "length",
      ["a"],
    ],
    [
      "length with a call that has not begun its arguments does not",
      "length",
      { ...call, function: { name: "bash", arguments: "" } },
      "length",
      ["a"],
    ],
    [
      "broken arguments that were not cut go on to the registry",
      "tool_calls",
      { ...call, function: { name: "bash", arguments: "{,}" } },
      "tool_calls",
      undefined,
    ],
    ["an unknown reason with calls runs them", "eos", call, "tool_calls", undefined],
  ])("%s", async (_, reason, fragment, finishReason, cutCalls) => {
    const { provider } = await ask([openAIAnswer({ tool_calls: [fragment] }, reason)]);
    const response = await provider.generate(HELLO, NEVER);
    expect([response.finishReason, response.cutCalls]).toEqual([finishReason, cutCalls]);
  });

  test("a whole call before a cut one still runs", async () => {
    const cut = { index: 1, id: "b", function: { name: "write_file", arguments: '{"path":"x' } };
    const { provider } = await ask([openAIAnswer({ tool_calls: [call, cut] }, "length")]);
    expect(await provider.generate(HELLO, NEVER)).toMatchObject({ finishReason: "tool_calls", cutCalls: ["b"] });
  });

  test("usage may come again, in the choice, or as zeros: a zero never counts", async () => {
    const chunks = sse(
      { choices: [{ delta: { content: "x" }, usage: { prompt_tokens: 11, completion_tokens: 1 } }], usage: null },
      { choices: [{ delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 0, completion_tokens: 7 } },
      { choices: [], usage: { prompt_tokens: 11, completion_tokens: 0, prompt_cache_hit_tokens: 4 } },
    );
    const { provider } = await ask([{ chunks }]);
    expect((await provider.generate(HELLO, NEVER)).usage).toEqual({
      inputTokens: 7,
      outputTokens: 7,
      cacheReadTokens: 4,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    });
  });

  test("streamed reasoning details are joined and kept for the next request", async () => {
    const detail = (text: string, more: object = {}) => ({ type: "reasoning.text", index: 0, text, ...more });
    const chunks = sse(
      { choices: [{ delta: { reasoning: "a", reasoning_details: [detail("a")] } }] },
      { choices: [{ delta: { reasoning: "b", reasoning_details: [detail("b", { signature: "s" })] } }] },
      { choices: [{ delta: { content: "x" }, finish_reason: "stop" }] },
    );
    const { provider } = await ask([{ chunks }]);
    expect((await provider.generate(HELLO, NEVER)).message.thinking).toEqual({
      kind: "native",
      text: "ab",
      blocks: [
        { reasoning: "ab", reasoning_details: [{ type: "reasoning.text", index: 0, text: "ab", signature: "s" }] },
      ],
    });
  });

  test("a finish reason without [DONE] and without an end is an answer", async () => {
    const chunks = sse({ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] });
    const { provider } = await ask([{ chunks, end: "open" }], { timeouts: { firstByteMs: 20_000, silenceMs: 100 } });
    expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
  });

  test("[DONE] on a connection that stays open ends the answer at once", async () => {
    const { provider, server } = await ask([{ ...openAIAnswer("ok"), end: "open" }]);
    expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
    await server.cut;
  });

  test.each(["close", "reset"] as const)(
    "a stream that ends (%s) without a finish reason is broken, [DONE] or not",
    async (end) => {
      for (const done of [[], ["data: [DONE]\n\n"]]) {
        const chunks = [...sse({ choices: [{ delta: { content: "par" } }] }), ...done];
        const { provider } = await ask([{ chunks, end }]);
        const { chunks: seen, error } = await gather(provider.generateStream(HELLO, NEVER));
        expect(joined(seen, "text.delta")).toBe("par");
        expect(error).toMatchObject({ kind: "network", retryable: true });
      }
    },
  );

  test("an event that is cut by the end of the stream makes it broken, not wrong", async () => {
    const { provider } = await ask([{ chunks: ['data: {"choices":[{"delta":{"content":"pa'] }]);
    await expect(provider.generate(HELLO, NEVER)).rejects.toMatchObject({ kind: "network", retryable: true });
  });

  test("a connection that breaks after the finish reason does no harm", async () => {
    const chunks = sse({ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] });
    const { provider } = await ask([{ chunks, end: "reset" }]);
    expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
  });

  test.each([{ error: { message: "late", code: 500 } }, "{oops"])(
    "words after the finish reason do no harm (%j)",
    async (event) => {
      const chunks = sse({ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] }, event, "[DONE]");
      const { provider } = await ask([{ chunks }]);
      expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
    },
  );

  test("any cutting of the bytes gives the same turn", async () => {
    const bytes = Buffer.from(
      [
        "\ufeff: hi\r\n\r\n",
        ...sse(
          { choices: [{ delta: { role: "assistant", content: "<think>你" } }] },
          { choices: [{ delta: { content: '好🌍</think>\n\nan\\"s' } }] },
          {
            choices: [
              { delta: { tool_calls: [{ index: 0, id: "a", function: { name: "bash", arguments: '{"command":' } }] } },
            ],
          },
          {
            choices: [
              { delta: { tool_calls: [{ index: 1, id: "b", function: { name: "read_file", arguments: "" } }] } },
            ],
          },
          { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '"é"}' } }] } }] },
          { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
          { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
          "[DONE]",
        ),
      ].join(""),
    );
    const server = await modelServer(({ url }) => {
      const cuts = url.split("cuts=")[1]?.split("/")[0]?.split(",").map(Number) ?? [];
      const points = [0, ...cuts, bytes.length];
      return {
        chunks: points
          .slice(1)
          .map((end, i) => bytes.subarray(points[i], end))
          .filter((part) => part.length > 0),
      };
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 }),
        async (cuts) => {
          const base = `${server.origin}/cuts=${cuts.toSorted((a, b) => a - b).join(",")}/v1`;
          const { chunks } = await gather(createOpenAI(modelOptions(base)).generateStream(HELLO, NEVER));
          expect(joined(chunks, "thinking.delta")).toBe("你好🌍");
          expect(joined(chunks, "text.delta")).toBe('an\\"s');
          expect(chunks.at(-1)).toEqual({
            type: "completed",
            response: {
              message: {
                role: "assistant",
                content: 'an\\"s',
                thinking: { kind: "native", text: "你好🌍" },
                toolCalls: [
                  { id: "a", name: "bash", arguments: '{"command":"é"}' },
                  { id: "b", name: "read_file", arguments: "{}" },
                ],
              },
              finishReason: "tool_calls",
              usage: { inputTokens: 3, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
            },
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a call id that the history holds is not taken again", async () => {
    const { provider } = await ask([openAIAnswer({ tool_calls: [call] }, "tool_calls")]);
    const messages: readonly Message[] = [
      { role: "user", content: "go" },
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "bash", arguments: "{}" }] },
      { role: "user", toolCallId: "a", content: "out", isError: false },
    ];
    const { message } = await provider.generate({ messages }, NEVER);
    expect(message.toolCalls).toEqual([
      { id: expect.stringMatching(/^call_\w{24}$/), name: "bash", arguments: '{"command":"ls"}' },
    ]);
  });
});
