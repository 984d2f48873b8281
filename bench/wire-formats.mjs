// Reads requests and writes answers of Chat Completions and of the Messages API.

/**
 * @typedef {{ prompt: string, round: number, results: Map<string, string>, toolNames: string[], stream: boolean }} ModelRequest
 *   `round`: how many answers with tool calls the history holds. `results` by call id.
 */

/** POST path → its format. */
export const WIRE_FORMATS = {
  "/v1/chat/completions": {
    /** @returns {ModelRequest} */
    read: ({ messages, tools = [], stream }) => ({
      prompt: messages
        .filter(({ role }) => role === "user")
        .map(textOf)
        .join("\n"),
      round: messages.filter(({ tool_calls: calls }) => calls?.length > 0).length,
      results: new Map(
        messages.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, textOf(message)]),
      ),
      toolNames: tools.map((tool) => tool.function.name),
      stream: stream === true,
    }),
    /** What a prompt cache can keep: all that grows only at its end. */
    cacheable: ({ tools, messages }) => openEnded(tools, [], messages),
    *text(tokens) {
      yield chatChunk({ role: "assistant", content: "" }, null);
      for (const token of tokens) yield chatChunk({ content: token }, null);
    },
    *calls(calls) {
      yield chatChunk({ role: "assistant", content: null }, null);
      for (const [index, { id, name, arguments: text }] of calls.entries()) {
        yield chatChunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }, null);
        for (const part of halves(text))
          yield chatChunk({ tool_calls: [{ index, function: { arguments: part } }] }, null);
      }
    },
    *end(hasCalls, { input, output }) {
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
      yield chatChunk({}, hasCalls ? "tool_calls" : "stop");
      yield sseData({ ...CHAT_HEAD, choices: [], usage });
      yield "data: [DONE]\n\n";
    },
  },
  "/v1/messages": {
    /** @returns {ModelRequest} */
    read: ({ messages, tools = [], stream }) => {
      const blocks = messages.flatMap(({ role, content }) => blocksOf(content).map((block) => ({ role, ...block })));
      const ofType = (type) => blocks.filter((block) => block.type === type);
      return {
        prompt: ofType("text")
          .filter(({ role }) => role === "user")
          .map(({ text }) => text)
          .join("\n"),
        round: messages.filter(
          ({ role, content }) => role === "assistant" && blocksOf(content).some(({ type }) => type === "tool_use"),
        ).length,
        results: new Map(ofType("tool_result").map((block) => [block.tool_use_id, textOf(block)])),
        toolNames: tools.map(({ name }) => name),
        stream: stream === true,
      };
    },
    // The cache marks move on with the conversation and are no part of the text.
    cacheable: ({ tools, system, messages }) =>
      openEnded(
        tools,
        system,
        messages.map((message) => ({ ...message, content: blocksOf(message.content) })),
      ),
    *text(tokens) {
      yield messageStart();
      yield sseEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
      for (const text of tokens)
        yield sseEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
      yield sseEvent({ type: "content_block_stop", index: 0 });
    },
    *calls(calls) {
      yield messageStart();
      for (const [index, { id, name, arguments: text }] of calls.entries()) {
        yield sseEvent({
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id, name, input: {} },
        });
        for (const part of halves(text))
          yield sseEvent({
            type: "content_block_delta",
            index,
            delta: { type: "input_json_delta", partial_json: part },
          });
        yield sseEvent({ type: "content_block_stop", index });
      }
    },
    *end(hasCalls, { input, output }) {
      const usage = { input_tokens: input, output_tokens: output };
      const delta = { stop_reason: hasCalls ? "tool_use" : "end_turn", stop_sequence: null };
      yield sseEvent({ type: "message_delta", delta, usage });
      yield sseEvent({ type: "message_stop" });
    },
  },
};

const CHAT_HEAD = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1, model: "bench" };

const sseData = (value) => `data: ${JSON.stringify(value)}\n\n`;
const sseEvent = (value) => `event: ${value.type}\n${sseData(value)}`;
const chatChunk = (delta, reason) => sseData({ ...CHAT_HEAD, choices: [{ index: 0, delta, finish_reason: reason }] });

const messageStart = () =>
  sseEvent({
    type: "message_start",
    message: {
      id: "msg_bench",
      type: "message",
      role: "assistant",
      model: "bench",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  });

const halves = (text) => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)];

const blocksOf = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));

const textOf = ({ content }) =>
  blocksOf(content)
    .map(({ text = "" }) => text)
    .join("");

/** The JSON without its closing bracket, so that a longer conversation begins with it. */
const openEnded = (tools, system, messages) =>
  JSON.stringify([tools, system, messages], (key, value) => (key === "cache_control" ? undefined : value)).slice(0, -2);
