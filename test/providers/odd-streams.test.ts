import { describe, expect, test } from "vitest";
import { createAnthropic } from "../../src/providers/anthropic.ts";
import { createOpenAI } from "../../src/providers/openai.ts";
import { type Answer, modelServer, sse } from "../helpers/model-server.ts";
import { BASH, gather, HELLO, joined, modelOptions, NEVER } from "./model-options.ts";

type Seen = {
  readonly text?: string;
  readonly thinking?: string;
  /** id, name, arguments */
  readonly calls?: readonly (readonly [string, string, string])[];
  readonly cut?: readonly string[];
  readonly usage?: object | null;
  readonly finish?: string;
  readonly blocks?: readonly object[];
  readonly error?: object;
};

/** What one answer comes to, in a form that is short to write; what is empty is left out. */
const see = async (dialect: "openai" | "anthropic", answer: Answer, changes = {}): Promise<Seen> => {
  const { origin } = await modelServer([answer]);
  const provider =
    dialect === "openai"
      ? createOpenAI(modelOptions(`${origin}/v1`, changes))
      : createAnthropic(modelOptions(origin, changes));
  const { chunks, error } = await gather(provider.generateStream({ ...HELLO, tools: [BASH] }, NEVER));
  const [text, thinking] = [joined(chunks, "text.delta"), joined(chunks, "thinking.delta")];
  const shown = { ...(text !== "" && { text }), ...(thinking !== "" && { thinking }) };
  if (error !== undefined) {
    const { kind, retryable } = error as { kind?: unknown; retryable?: unknown };
    return { ...shown, error: kind === undefined ? { bug: String(error) } : { kind, retryable } };
  }
  const last = chunks.at(-1);
  if (last?.type !== "completed") throw new Error("no completed chunk");
  const { message, finishReason, usage, cutCalls } = last.response;
  expect({ text: message.content, thinking: message.thinking?.text ?? "" }).toEqual({ text, thinking });
  return {
    ...shown,
    finish: finishReason,
    ...(message.toolCalls.length > 0 && {
      calls: message.toolCalls.map(({ id, name, arguments: raw }) => [/^call_\w{24}$/.test(id) ? "*" : id, name, raw]),
    }),
    ...(cutCalls && { cut: cutCalls }),
    ...(usage && {
      usage: Object.fromEntries(Object.entries(usage).filter(([, count]) => count > 0)),
    }),
    ...(message.thinking?.blocks && { blocks: message.thinking.blocks as object[] }),
  };
};

const delta = (value: object | null, more: object = {}) => ({ choices: [{ index: 0, delta: value, ...more }] });
const text = (content: string) => delta({ content });
const calls = (...tool_calls: readonly object[]) => delta({ tool_calls });
const call = (index: unknown, id: unknown, name: unknown, args: unknown) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: "function" }),
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});
const finish = (finish_reason: string | null, more: object = {}) => ({
  choices: [{ index: 0, delta: {}, finish_reason }],
  ...more,
});
const LS = '{"command":"ls"}';
const ok = (...events: readonly unknown[]): Answer => ({ chunks: sse(...events, "[DONE]") });

describe("OpenAI: bytes", () => {
  const events = [text("a"), text("b"), finish("stop")];
  const raw = (form: (json: string) => string, last = "[DONE]") =>
    [...events.map((event) => JSON.stringify(event)), last].map(form).join("");

  test.each<[string, Answer, Seen]>([
    ["CRLF", { chunks: [raw((json) => `data: ${json}\r\n\r\n`)] }, { text: "ab", finish: "stop" }],
    ["CR alone", { chunks: [raw((json) => `data: ${json}\r\r`)] }, { text: "ab", finish: "stop" }],
    ["CRLF, a byte a read", { chunks: [...raw((json) => `data: ${json}\r\n\r\n`)] }, { text: "ab", finish: "stop" }],
    ["LF, a byte a read", { chunks: [...raw((json) => `data: ${json}\n\n`)] }, { text: "ab", finish: "stop" }],
    [
      "the JSON of one event over several data lines",
      { chunks: [raw((json) => `data: ${json.replaceAll(",", ",\ndata: ")}\n\n`)] },
      { text: "ab", finish: "stop" },
    ],
    [
      "[DONE] with blanks",
      { chunks: [raw((json) => `data: ${json}\n\n`, "  [DONE]  ")] },
      { text: "ab", finish: "stop" },
    ],
    [
      "fields id, event and retry",
      { chunks: [raw((json) => `id: 1\nevent: message\nretry: 5\ndata: ${json}\n\n`)] },
      { text: "ab", finish: "stop" },
    ],
    [
      "no blank line at the end, and no [DONE]",
      { chunks: [`data: ${JSON.stringify(text("ab"))}\n\ndata: ${JSON.stringify(finish("stop"))}`] },
      { text: "ab", finish: "stop" },
    ],
    ["[DONE] twice", ok(...events, "[DONE]"), { text: "ab", finish: "stop" }],
    [
      "a very long event in many reads",
      (() => {
        const bytes = Buffer.from(sse(text("你".repeat(300_000))).join(""));
        const parts = Array.from({ length: 300 }, (_, i) =>
          bytes.subarray(i * 3001, i === 299 ? undefined : (i + 1) * 3001),
        );
        return { chunks: [...parts.filter((part) => part.length > 0), ...sse(finish("stop"), "[DONE]")] };
      })(),
      { text: "你".repeat(300_000), finish: "stop" },
    ],
    [
      "surrogate halves in two deltas",
      {
        chunks: [
          'data: {"choices":[{"delta":{"content":"a\\ud83c"}}]}\n\n',
          'data: {"choices":[{"delta":{"content":"\\udf0d"}}]}\n\n',
          ...sse(finish("stop")),
        ],
      },
      { text: "a🌍", finish: "stop" },
    ],
    ["U+2028 in a line", ok(text("a\u2028b"), finish("stop")), { text: "a\u2028b", finish: "stop" }],
    [
      "one line end between events",
      { chunks: [`${raw((json) => `data: ${json}\n`)}\n`] },
      { text: "ab", finish: "stop" },
    ],
    ["no [DONE], a byte a read", { chunks: [...sse(...events).join("")] }, { text: "ab", finish: "stop" }],
    ["a cut event, a byte a read", { chunks: [..."data: {"] }, { error: { kind: "network", retryable: true } }],
    ["comments only", { chunks: [": a\n\n", ": b\n\n"] }, { error: { kind: "network", retryable: true } }],
    ["null and lists as events", ok(null, [], 5, '"x"', text("a"), finish("stop")), { text: "a", finish: "stop" }],
    ["an empty answer that is finished", ok(delta({ role: "assistant" }), finish("stop")), { finish: "stop" }],
  ])("%s", async (_, answer, expected) => {
    expect(await see("openai", answer)).toEqual(expected);
  });
});

describe("OpenAI: tool calls", () => {
  test.each<[string, readonly object[], Seen]>([
    [
      "id and name in a later delta than the first",
      [calls(call(0, null, null, "")), calls(call(0, "a", "bash", "")), calls(call(0, undefined, undefined, LS))],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "index 0 for two streamed calls with ids",
      [
        calls(call(0, "a", "bash", "")),
        calls(call(0, undefined, undefined, LS)),
        calls(call(0, "b", "bash", "")),
        calls(call(0, undefined, undefined, '{"command":')),
        calls(call(0, undefined, undefined, '"pwd"}')),
      ],
      {
        calls: [
          ["a", "bash", LS],
          ["b", "bash", '{"command":"pwd"}'],
        ],
      },
    ],
    [
      "index 0 for two streamed calls without ids",
      [
        calls(call(0, undefined, "bash", LS)),
        calls(call(0, undefined, "read_file", "")),
        calls(call(0, undefined, undefined, '{"path":"a"}')),
      ],
      {
        calls: [
          ["*", "bash", LS],
          ["*", "read_file", '{"path":"a"}'],
        ],
      },
    ],
    [
      "two calls with one id",
      [calls(call(0, "a", "bash", LS), call(1, "a", "read_file", '{"path":"a"}'))],
      {
        calls: [
          ["a", "bash", LS],
          ["*", "read_file", '{"path":"a"}'],
        ],
      },
    ],
    [
      "two calls with one id and no index",
      [
        calls(call(undefined, "a", "bash", LS)),
        calls(call(undefined, "a", "read_file", "")),
        calls(call(undefined, "a", undefined, '{"path":"a"}')),
      ],
      {
        calls: [
          ["a", "bash", LS],
          ["*", "read_file", '{"path":"a"}'],
        ],
      },
    ],
    [
      "several calls in one delta, no index, no id",
      [calls(call(undefined, undefined, "bash", LS), call(undefined, undefined, "bash", '{"command":"pwd"}'))],
      {
        calls: [
          ["*", "bash", LS],
          ["*", "bash", '{"command":"pwd"}'],
        ],
      },
    ],
    [
      "same tool, no index, no id, arguments in pieces",
      [
        calls(call(undefined, undefined, "bash", LS)),
        calls(call(undefined, undefined, "bash", '{"command":')),
        calls(call(undefined, undefined, undefined, '"pwd"}')),
      ],
      {
        calls: [
          ["*", "bash", LS],
          ["*", "bash", '{"command":"pwd"}'],
        ],
      },
    ],
    [
      "a name over deltas",
      [calls(call(0, "a", "ba", "")), calls(call(0, undefined, "sh", "")), calls(call(0, undefined, undefined, LS))],
      { calls: [["a", "bash", LS]] },
    ],
    ["arguments null", [calls(call(0, "a", "list_tools", null))], { calls: [["a", "list_tools", "{}"]] }],
    ["arguments as an object", [calls(call(0, "a", "bash", { command: "ls" }))], { calls: [["a", "bash", LS]] }],
    [
      "an empty object that opens, then pieces",
      [
        calls(call(0, "a", "bash", "{}")),
        calls(call(0, undefined, undefined, '{"command":')),
        calls(call(0, undefined, undefined, '"ls"}')),
      ],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "an empty object that opens, name and id repeated",
      [calls(call(0, "a", "bash", {})), calls(call(0, "a", "bash", LS))],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "the whole arguments again at the end",
      [
        calls(call(0, "a", "bash", '{"command":')),
        calls(call(0, undefined, undefined, '"ls"}')),
        calls(call(0, "a", "bash", LS)),
      ],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "the whole arguments again at the end, spaced otherwise",
      [calls(call(0, "a", "bash", '{"command": "ls"}')), calls(call(0, "a", "bash", LS))],
      { calls: [["a", "bash", '{"command": "ls"}']] },
    ],
    [
      "the whole arguments again, spaced otherwise, without a name",
      [calls(call(0, "a", "bash", '{"command": "ls"}')), calls(call(0, undefined, undefined, LS))],
      { calls: [["a", "bash", '{"command": "ls"}']] },
    ],
    [
      "an empty last piece with the name",
      [calls(call(0, "a", "bash", LS)), calls(call(0, "a", "bash", ""))],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "a blank last piece with an empty id and name",
      [calls(call(0, "a", "bash", LS)), calls(call(0, "", "", ""))],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "the legacy function_call",
      [
        delta({ function_call: { name: "bash", arguments: "" } }),
        delta({ function_call: { arguments: '{"command":' } }),
        delta({ function_call: { arguments: '"ls"}' } }),
      ],
      { calls: [["*", "bash", LS]] },
    ],
    ["an entry with nothing in it", [text("hi"), calls({ index: 0 })], { text: "hi", finish: "stop" }],
    [
      "text beside calls",
      [text("I "), calls(call(0, "a", "bash", LS)), text("look")],
      { text: "I look", calls: [["a", "bash", LS]] },
    ],
    [
      "index 1 first",
      [calls(call(1, "b", "bash", LS)), calls(call(0, "a", "read_file", "{}"))],
      {
        calls: [
          ["a", "read_file", "{}"],
          ["b", "bash", LS],
        ],
      },
    ],
    ["tool_calls null", [delta({ tool_calls: null, content: "hi" })], { text: "hi", finish: "stop" }],
    [
      "entries that are null",
      [calls(null as unknown as object, call(0, "a", "bash", LS))],
      { calls: [["a", "bash", LS]] },
    ],
    [
      "function null in a later delta",
      [calls(call(0, "a", "bash", LS)), calls({ index: 0, function: null })],
      { calls: [["a", "bash", LS]] },
    ],
  ])("%s", async (_, events, expected) => {
    for (const reason of ["stop", "tool_calls"]) {
      if (expected.calls === undefined && reason === "tool_calls") continue;
      expect(await see("openai", ok(...events, finish(reason)))).toEqual({ finish: "tool_calls", ...expected });
    }
  });

  test("entries with nothing in them are no calls", async () => {
    const answer = ok(calls({ index: 0, id: "", function: { name: "", arguments: "" } }), finish("tool_calls"));
    expect(await see("openai", answer)).toEqual({ error: { kind: "empty_tool_calls", retryable: true } });
  });
});

describe("OpenAI: fields", () => {
  test.each<[string, readonly object[], Seen]>([
    [
      "content as parts",
      [delta({ content: [{ type: "text", text: "a" }] }), delta({ content: [{ type: "text", text: "b" }] })],
      { text: "ab" },
    ],
    ["reasoning", [delta({ reasoning: "r" }), text("a")], { thinking: "r", text: "a", blocks: [{ reasoning: "r" }] }],
    [
      "both names of reasoning",
      [delta({ reasoning: "r", reasoning_content: "r" }), text("a")],
      { thinking: "r", text: "a", blocks: [{ reasoning_content: "r", reasoning: "r" }] },
    ],
    [
      "reasoning_details alone",
      [delta({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "r" }] }), text("a")],
      { thinking: "r", text: "a", blocks: [{ reasoning_details: [{ type: "reasoning.text", index: 0, text: "r" }] }] },
    ],
    [
      "encrypted details alone",
      [delta({ reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] }), text("a")],
      { text: "a", blocks: [{ reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] }] },
    ],
    ["a refusal", [delta({ refusal: "I can" }), delta({ refusal: "not" })], { text: "I cannot", finish: "refusal" }],
    ["refusal null", [delta({ refusal: null, content: "a" })], { text: "a" }],
    [
      "a second choice",
      [
        { choices: [{ index: 1, delta: { content: "no" } }] },
        {
          choices: [
            { index: 1, delta: { content: "no" } },
            { index: 0, delta: { content: "a" } },
          ],
        },
        { choices: [{ index: 1, delta: {}, finish_reason: "length" }] },
      ],
      { text: "a" },
    ],
    ["choices without an index", [{ choices: [{ delta: { content: "a" } }] }], { text: "a" }],
    [
      "a whole message as the one event",
      [
        {
          object: "chat.completion",
          choices: [{ index: 0, message: { content: "a", tool_calls: [call(undefined, "a", "bash", LS)] } }],
        },
      ],
      { text: "a", calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "a message beside each delta",
      [
        { choices: [{ index: 0, delta: { content: "a" }, message: { content: "a" } }] },
        { choices: [{ index: 0, delta: { content: "b" }, message: { content: "ab" } }] },
      ],
      { text: "ab" },
    ],
    ["error null", [{ ...text("a"), error: null }], { text: "a" }],
    ["a think tag that is not the first content", [text("a <think>b</think>")], { text: "a <think>b</think>" }],
    ["a think tag that is not closed", [text("<think>b")], { thinking: "b" }],
    ["an empty think tag", [text("<think>\n\n</think>\n\na")], { thinking: "\n\n", text: "a" }],
    ["blanks before the content", [text("\n"), text("\n"), text("a")], { text: "\n\na" }],
  ])("%s", async (_, events, expected) => {
    expect(await see("openai", ok(...events, finish("stop")))).toEqual({ finish: "stop", ...expected });
  });

  test.each([
    ["end_turn", "stop"],
    ["eos", "stop"],
    ["eos_token", "stop"],
    ["STOP", "stop"],
    ["stop_sequence", "stop"],
    ["function_call", "tool_calls"],
    ["max_tokens", "length"],
    ["MAX_TOKENS", "length"],
    ["context_length_exceeded", "length"],
    ["model_context_window_exceeded", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["refusal", "refusal"],
    ["something_new", "stop"],
  ])("finish_reason %s is %s", async (reason, expected) => {
    const answer = ok(text("a"), finish(reason));
    expect(await see("openai", answer)).toEqual(
      expected === "tool_calls"
        ? { text: "a", error: { kind: "empty_tool_calls", retryable: true } }
        : { text: "a", finish: expected },
    );
  });

  test.each(["error", "network_error", "abort", "malformed_function_call"])(
    "finish_reason %s is a failure",
    async (reason) => {
      expect(await see("openai", ok(text("a"), finish(reason)))).toEqual({
        text: "a",
        error: { kind: "server", retryable: true },
      });
    },
  );

  test.each([[""], [null]])("finish_reason %j is none", async (reason) => {
    expect(await see("openai", ok(text("a"), finish(reason)))).toEqual({
      text: "a",
      error: { kind: "network", retryable: true },
    });
    expect(await see("openai", ok(delta({ content: "a" }, { finish_reason: reason }), finish("stop")))).toEqual({
      text: "a",
      finish: "stop",
    });
  });

  test.each<[string, readonly object[], object | undefined]>([
    [
      "cumulative in each chunk",
      [
        { ...text("a"), usage: { prompt_tokens: 10, completion_tokens: 1 } },
        { ...finish("stop"), usage: { prompt_tokens: 10, completion_tokens: 5 } },
      ],
      { inputTokens: 10, outputTokens: 5 },
    ],
    [
      "cached tokens in a later chunk only",
      [
        { ...text("a"), usage: { prompt_tokens: 10, completion_tokens: 1 } },
        {
          ...finish("stop"),
          usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } },
        },
      ],
      { cacheReadTokens: 10, outputTokens: 5 },
    ],
    [
      "DeepSeek's cache fields",
      [
        finish("stop", {
          usage: { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 },
        }),
      ],
      { inputTokens: 2, cacheReadTokens: 8, outputTokens: 5 },
    ],
    [
      "details null",
      [
        finish("stop", {
          usage: {
            prompt_tokens: 10,
            completion_tokens: 5,
            prompt_tokens_details: null,
            completion_tokens_details: null,
          },
        }),
      ],
      { inputTokens: 10, outputTokens: 5 },
    ],
    [
      "reasoning tokens",
      [
        finish("stop", {
          usage: { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 4 } },
        }),
      ],
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 4 },
    ],
    ["all zero", [finish("stop", { usage: { prompt_tokens: 0, completion_tokens: 0 } })], undefined],
    [
      "other names",
      [finish("stop", { usage: { input_tokens: 10, output_tokens: 5 } })],
      { inputTokens: 10, outputTokens: 5 },
    ],
    [
      "after the finish, beside choices null",
      [finish("stop"), { choices: null, usage: { prompt_tokens: 10, completion_tokens: 5 } }],
      { inputTokens: 10, outputTokens: 5 },
    ],
  ])("usage: %s", async (_, events, expected) => {
    expect(await see("openai", ok(...events))).toMatchObject({ finish: "stop" });
    expect((await see("openai", ok(...events))).usage).toEqual(expected);
  });

  test.each<[string, Answer, object]>([
    [
      "an error in the choice",
      ok(text("a"), {
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error", error: { code: 429, message: "slow" } }],
      }),
      { kind: "rate_limit", retryable: true },
    ],
    [
      "an error event with words that are no JSON",
      { chunks: [...sse(text("a")), "event: error\ndata: upstream died\n\n"] },
      { kind: "server", retryable: true },
    ],
    [
      "an overflow in words alone",
      ok(text("a"), { error: { message: "This model's maximum context length is 10 tokens" } }),
      { kind: "context_overflow", retryable: false },
    ],
    [
      "an overflow as a bare text",
      ok(text("a"), { error: "prompt is too long: 5 tokens > 3" }),
      { kind: "context_overflow", retryable: false },
    ],
    [
      "a cut event after text",
      { chunks: [...sse(text("a")), 'data: {"choices":[{"del'] },
      { kind: "network", retryable: true },
    ],
    [
      "a reset in the middle of an event",
      { chunks: [...sse(text("a")), 'data: {"choices":[{"del'], end: "reset" },
      { kind: "network", retryable: true },
    ],
    [
      "calls without a finish reason",
      { chunks: [...sse(text("a"), calls(call(0, "a", "bash", LS)))] },
      { kind: "network", retryable: true },
    ],
  ])("%s", async (_, answer, error) => {
    expect(await see("openai", answer)).toEqual({ text: "a", error });
  });
});

const start = {
  type: "message_start",
  message: { id: "m", content: [], usage: { input_tokens: 25, output_tokens: 1 } },
};
const begin = (index: number | undefined, content_block: object) => ({
  type: "content_block_start",
  ...(index !== undefined && { index }),
  content_block,
});
const piece = (index: number | undefined, type: string, value: object) => ({
  type: "content_block_delta",
  ...(index !== undefined && { index }),
  delta: { type, ...value },
});
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string | null, usage: object = { output_tokens: 15 }) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
  { type: "message_stop" },
];
const USED = { inputTokens: 25, outputTokens: 15 };
const say = (index: number, words: string) => [
  begin(index, { type: "text", text: "" }),
  piece(index, "text_delta", { text: words }),
  stop(index),
];
const use = (index: number, id: string, ...parts: readonly string[]) => [
  begin(index, { type: "tool_use", id, name: "bash", input: {} }),
  ...parts.map((partial_json) => piece(index, "input_json_delta", { partial_json })),
  stop(index),
];
const think = (index: number, thinking: string, ...signature: readonly string[]) => [
  begin(index, { type: "thinking", thinking: "", signature: "" }),
  piece(index, "thinking_delta", { thinking }),
  ...signature.map((part) => piece(index, "signature_delta", { signature: part })),
  stop(index),
];
const block = (thinking: string, signature: string) => ({ type: "thinking", thinking, signature });

describe("Anthropic", () => {
  test.each<[string, readonly object[], Seen]>([
    ["several text blocks", [start, ...say(0, "a"), ...say(1, "b"), ...end("end_turn")], { text: "ab" }],
    [
      "interleaved thinking",
      [
        start,
        ...think(0, "t", "s1"),
        ...use(1, "a", LS),
        ...think(2, "u", "s2"),
        ...use(3, "b", LS),
        ...end("tool_use"),
      ],
      {
        thinking: "tu",
        calls: [
          ["a", "bash", LS],
          ["b", "bash", LS],
        ],
        finish: "tool_calls",
        blocks: [block("t", "s1"), block("u", "s2")],
      },
    ],
    [
      "server_tool_use with pieces of input",
      [
        start,
        begin(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
        piece(0, "input_json_delta", { partial_json: '{"query":"x"}' }),
        stop(0),
        begin(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
        stop(1),
        ...say(2, "found"),
        ...end("end_turn"),
      ],
      { text: "found" },
    ],
    [
      "citations",
      [
        start,
        begin(0, { type: "text", text: "", citations: [] }),
        piece(0, "citations_delta", { citation: { type: "x" } }),
        piece(0, "text_delta", { text: "a" }),
        stop(0),
        ...end("end_turn"),
      ],
      { text: "a" },
    ],
    [
      "a signature in pieces",
      [start, ...think(0, "t", "s1", "s2"), ...say(1, "a"), ...end("end_turn")],
      { thinking: "t", text: "a", blocks: [block("t", "s1s2")] },
    ],
    [
      "redacted thinking only",
      [start, begin(0, { type: "redacted_thinking", data: "x" }), stop(0), ...say(1, "a"), ...end("end_turn")],
      { text: "a", blocks: [{ type: "redacted_thinking", data: "x" }] },
    ],
    [
      "a signature without any thinking",
      [
        start,
        begin(0, { type: "thinking", thinking: "", signature: "" }),
        piece(0, "signature_delta", { signature: "s" }),
        stop(0),
        ...say(1, "a"),
        ...end("end_turn"),
      ],
      { text: "a", blocks: [block("", "s")] },
    ],
    ["pause_turn", [start, ...say(0, "a"), ...end("pause_turn")], { text: "a", finish: "pause" }],
    ["stop_sequence", [start, ...say(0, "a"), ...end("stop_sequence")], { text: "a" }],
    [
      "max_tokens inside a tool_use",
      [start, ...use(0, "a", '{"comm'), ...end("max_tokens")],
      { calls: [["a", "bash", '{"comm']], cut: ["a"], finish: "length" },
    ],
    [
      "a window that is full inside a tool_use",
      [start, ...use(0, "a", LS), ...use(1, "b", '{"comm'), ...end("model_context_window_exceeded")],
      {
        calls: [
          ["a", "bash", LS],
          ["b", "bash", '{"comm'],
        ],
        cut: ["b"],
        finish: "tool_calls",
      },
    ],
    [
      "end_turn although a call is there",
      [start, ...use(0, "a", LS), ...end("end_turn")],
      { calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "content_block_stop missing",
      [start, ...use(0, "a", LS).slice(0, -1), ...end("tool_use")],
      { calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "gaps in the indexes",
      [start, ...say(2, "a"), ...use(7, "a", LS), ...end("tool_use")],
      { text: "a", calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "no index at all",
      [
        start,
        begin(undefined, { type: "text", text: "" }),
        piece(undefined, "text_delta", { text: "a" }),
        begin(undefined, { type: "tool_use", id: "a", name: "bash", input: {} }),
        piece(undefined, "input_json_delta", { partial_json: LS }),
        ...end("tool_use"),
      ],
      { text: "a", calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "index 0 for every block",
      [
        start,
        ...think(0, "t", "s"),
        ...say(0, "a"),
        ...use(0, "a", LS),
        ...use(0, "b", '{"command":"pwd"}'),
        ...end("tool_use"),
      ],
      {
        thinking: "t",
        text: "a",
        calls: [
          ["a", "bash", LS],
          ["b", "bash", '{"command":"pwd"}'],
        ],
        finish: "tool_calls",
        blocks: [block("t", "s")],
      },
    ],
    ["ping before message_start", [{ type: "ping" }, start, ...say(0, "a"), ...end("end_turn")], { text: "a" }],
    [
      "a tool without input and without pieces",
      [start, ...use(0, "a"), ...end("tool_use")],
      { calls: [["a", "bash", "{}"]], finish: "tool_calls" },
    ],
    [
      "a tool without input and an empty piece",
      [start, ...use(0, "a", ""), ...end("tool_use")],
      { calls: [["a", "bash", "{}"]], finish: "tool_calls" },
    ],
    [
      "whole input at the start and again in pieces",
      [
        start,
        begin(0, { type: "tool_use", id: "a", name: "bash", input: { command: "ls" } }),
        piece(0, "input_json_delta", { partial_json: LS }),
        ...end("tool_use"),
      ],
      { calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "input null",
      [
        start,
        begin(0, { type: "tool_use", id: "a", name: "bash", input: null }),
        piece(0, "input_json_delta", { partial_json: LS }),
        ...end("tool_use"),
      ],
      { calls: [["a", "bash", LS]], finish: "tool_calls" },
    ],
    [
      "pieces of input without a block",
      [start, piece(0, "input_json_delta", { partial_json: LS }), ...say(1, "a"), ...end("end_turn")],
      { text: "a" },
    ],
    [
      "text without a content_block_start",
      [start, piece(0, "text_delta", { text: "a" }), ...end("end_turn")],
      { text: "a" },
    ],
    [
      "thinking without a content_block_start",
      [start, piece(0, "thinking_delta", { thinking: "t" }), ...say(1, "a"), ...end("end_turn")],
      { thinking: "t", text: "a", blocks: [{ type: "thinking", thinking: "t", signature: "" }] },
    ],
    [
      "a second message_delta",
      [start, ...say(0, "a"), { type: "message_delta", delta: {}, usage: { output_tokens: 3 } }, ...end("end_turn")],
      { text: "a" },
    ],
    [
      "a refusal with details",
      [
        start,
        ...say(0, "no"),
        {
          type: "message_delta",
          delta: { stop_reason: "refusal", stop_details: { type: "refusal", category: "x" } },
          usage: { output_tokens: 15 },
        },
        { type: "message_stop" },
      ],
      { text: "no", finish: "refusal" },
    ],
  ])("%s", async (_, events, expected) => {
    expect(await see("anthropic", { chunks: sse(...events) })).toEqual({ finish: "stop", usage: USED, ...expected });
  });

  test("the type in the data counts, not the event's name", async () => {
    const events = [start, ...say(0, "a"), ...end("end_turn")];
    const chunks = events.map((event) => `event: message\ndata: ${JSON.stringify(event)}\n\n`);
    expect(await see("anthropic", { chunks })).toEqual({ text: "a", finish: "stop", usage: USED });
  });

  test("the answer ends with message_stop, also where the connection stays open", async () => {
    const begun = Date.now();
    const answer: Answer = { chunks: sse(start, ...say(0, "a"), ...end("end_turn")), end: "open" };
    expect(await see("anthropic", answer)).toEqual({ text: "a", finish: "stop", usage: USED });
    expect(Date.now() - begun).toBeLessThan(2500);
  });

  test.each<[string, object, object]>([
    [
      "figures in message_delta only",
      { input_tokens: 9, output_tokens: 15, cache_read_input_tokens: 4 },
      { inputTokens: 9, outputTokens: 15, cacheReadTokens: 4 },
    ],
    [
      "zeros in message_delta",
      { input_tokens: 0, output_tokens: 15, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
      { inputTokens: 25, outputTokens: 15 },
    ],
    [
      "nulls in message_delta",
      { input_tokens: null, output_tokens: 15, cache_read_input_tokens: null },
      { inputTokens: 25, outputTokens: 15 },
    ],
    ["no usage", {}, { inputTokens: 25, outputTokens: 1 }],
  ])("usage: %s", async (_, usage, expected) => {
    expect((await see("anthropic", { chunks: sse(start, ...say(0, "a"), ...end("end_turn", usage)) })).usage).toEqual(
      expected,
    );
  });

  test.each([
    ["api_error", "server", true],
    ["rate_limit_error", "rate_limit", true],
    ["overloaded_error", "overloaded", true],
    ["timeout_error", "timeout", true],
    ["invalid_request_error", "bad_request", false],
    ["authentication_error", "auth", false],
    ["permission_error", "auth", false],
    ["not_found_error", "bad_request", false],
    ["request_too_large", "context_overflow", false],
    ["billing_error", "rate_limit", false],
    ["something_new", "server", true],
  ])("an error event of type %s", async (type, kind, retryable) => {
    const event = { type: "error", error: { type, message: "m" } };
    for (const chunks of [
      sse(start, ...say(0, "a"), event),
      [...sse(start, ...say(0, "a")), `event: error\ndata: ${JSON.stringify(event)}\n\n`],
    ])
      expect(await see("anthropic", { chunks })).toEqual({ text: "a", error: { kind, retryable } });
  });

  test("an error event after the stop reason does no harm; one before any block counts", async () => {
    const event = { type: "error", error: { type: "api_error", message: "m" } };
    expect(await see("anthropic", { chunks: sse(start, ...say(0, "a"), ...end("end_turn"), event) })).toEqual({
      text: "a",
      finish: "stop",
      usage: USED,
    });
    expect(await see("anthropic", { chunks: sse(event) })).toEqual({ error: { kind: "server", retryable: true } });
  });

  test("message_stop without a stop reason is broken", async () => {
    expect(await see("anthropic", { chunks: sse(start, ...say(0, "a"), ...end(null)) })).toEqual({
      text: "a",
      error: { kind: "network", retryable: true },
    });
  });

  test("an OpenAI answer from this address is strange, not empty", async () => {
    expect(await see("anthropic", { chunks: ['{"choices":[]}'] })).toEqual({
      error: { kind: "protocol", retryable: false },
    });
  });
});
