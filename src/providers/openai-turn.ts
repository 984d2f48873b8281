import type { FinishReason } from "../schema/event.ts";
import { mergeUsage, NO_USAGE, type Usage } from "../schema/model.ts";
import { completeAnswer, knownUsage, strangeAnswer } from "./answer.ts";
import { classifyErrorBody, type ErrorContext, providerFailure } from "./classify-error.ts";
import type { Deltas, Turn } from "./model-stream.ts";
import { createThinkTags } from "./think-tags.ts";
import type { ToolCallAccumulator } from "./tool-call-accumulator.ts";
import { countAt, isObject, type JsonObject, listAt, objectAt, textAt } from "./wire.ts";

/** The fields in which compatible servers give reasoning, and want it back with the tool calls that it led to. */
export type Reasoning = {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
};

/** Reads one answer of Chat Completions. */
export const createOpenAITurn = (toolCalls: ToolCallAccumulator, context: ErrorContext): Turn => {
  const tags = createThinkTags();
  const details: JsonObject[] = [];
  let content = "";
  let refusal = "";
  let thought = "";
  let reasoningContent = "";
  let reasoning = "";
  /** As the wire counts: the input with what came from the cache. */
  let usage = NO_USAGE;
  let finishReason: FinishReason | undefined;
  let hasDeltas = false;

  const takeThought = (piece: string, deltas: Deltas): void => {
    thought += piece;
    deltas.thinking(piece);
  };

  const takeContent = (piece: string, deltas: Deltas): void => {
    const split = tags.feed(piece);
    takeSplit(split.thinking, split.text, deltas);
  };

  const takeSplit = (thinking: string, text: string, deltas: Deltas): void => {
    takeThought(thinking, deltas);
    content += text;
    deltas.text(text);
  };

  const takeReasoning = (message: JsonObject, deltas: Deltas): void => {
    const first = textAt(message, "reasoning_content");
    const second = textAt(message, "reasoning");
    reasoningContent += first;
    reasoning += second;
    const pieces = listAt(message, "reasoning_details").filter(isObject);
    for (const piece of pieces) joinDetail(details, piece);
    // Most servers that send one of these send the same text under another name too.
    const third = pieces.map((piece) => textAt(piece, "text") || textAt(piece, "summary")).join("");
    takeThought(first || second || third, deltas);
  };

  /** A delta, or the message of an answer in one piece. */
  const takeMessage = (message: JsonObject, deltas: Deltas): void => {
    takeReasoning(message, deltas);
    const piece = contentText(message["content"], deltas);
    if (piece !== "") takeContent(piece, deltas);
    const refused = textAt(message, "refusal");
    refusal += refused;
    deltas.text(refused);
    const calls = listAt(message, "tool_calls").filter(isObject);
    for (const call of calls) {
      const { name, arguments: text } = objectAt(call, "function");
      toolCalls.add({ index: call["index"], id: call["id"], name, arguments: text });
    }
    // What there was before tool_calls: one call, without an id.
    const legacy = message["function_call"];
    if (calls.length === 0 && isObject(legacy)) toolCalls.add({ name: legacy["name"], arguments: legacy["arguments"] });
  };

  // Mistral gives content as a list of parts, thinking among them.
  const contentText = (value: unknown, deltas: Deltas): string => {
    if (typeof value === "string") return value;
    if (!Array.isArray(value)) return "";
    return value
      .map((part: unknown) => {
        if (textAt(part, "type") !== "thinking") return textAt(part, "text");
        const inner = listAt(part, "thinking")
          .map((piece) => textAt(piece, "text"))
          .join("");
        takeThought(inner, deltas);
        return "";
      })
      .join("");
  };

  const takeFinish = (reason: unknown): void => {
    if (typeof reason !== "string" || reason === "") return;
    const known = FINISH_REASONS[reason.toLowerCase()];
    if (known === "error")
      throw providerFailure("server", context.strings.serverStopped(reason), context, { retryable: true });
    // Some servers finish twice; the first word counts.
    finishReason ??= known ?? "stop";
  };

  const takeUsage = (value: unknown): void => {
    if (isObject(value)) usage = mergeUsage(usage, readUsage(value));
  };

  const take = (value: unknown, key: "delta" | "message", deltas: Deltas): void => {
    const choice = listAt(value, "choices").find(isFirstChoice);
    if (isObject(choice)) {
      hasDeltas ||= isObject(choice["delta"]);
      // A server that only pretends to stream sends the whole message in one event.
      takeMessage(objectAt(choice, hasDeltas ? key : "message"), deltas);
      const { error } = choice;
      if (error && finishReason === undefined) throw classifyErrorBody({ error }, context, false);
      takeFinish(choice["finish_reason"]);
      takeUsage(choice["usage"]);
    }
    if (!isObject(value)) return;
    takeUsage(value["usage"]);
    takeUsage(objectAt(value, "x_groq")["usage"]);
  };

  const replay = (): Reasoning => ({
    ...(reasoningContent !== "" && { reasoning_content: reasoningContent }),
    ...(reasoning !== "" && { reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
  });

  return {
    event: (value, deltas) => take(value, "delta", deltas),
    whole: (value, deltas) => {
      if (listAt(value, "choices").length === 0) throw strangeAnswer(value, context);
      take(value, "message", deltas);
      // An answer in one piece is whole in itself, also where the server leaves the reason out.
      finishReason ??= "stop";
    },
    isFinished: () => finishReason !== undefined,
    // Figures may follow the finish reason.
    isEnded: () => false,
    complete: (deltas) => {
      const rest = tags.end();
      takeSplit(rest.thinking, rest.text, deltas);
      const blocks = Object.keys(replay()).length > 0 ? { blocks: [replay()] } : {};
      return completeAnswer(
        {
          content: content + refusal,
          thinking: thought !== "" || details.length > 0 ? { kind: "native", text: thought, ...blocks } : undefined,
          toolCalls,
          finishReason: refusal !== "" && finishReason === "stop" ? "refusal" : finishReason,
          usage: knownUsage(withoutCached(usage)),
        },
        context,
      );
    },
  };
};

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "tool_calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  context_length_exceeded: "length",
  model_context_window_exceeded: "length",
  content_filter: "content_filter",
  sensitive: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  blocklist: "content_filter",
  prohibited_content: "content_filter",
  spii: "content_filter",
  refusal: "refusal",
  error: "error",
  abort: "error",
  malformed_function_call: "error",
  network_error: "error",
  insufficient_system_resource: "error",
};

// More than one is never asked for, yet some servers give them.
const isFirstChoice = (choice: unknown): boolean => isObject(choice) && !(Number(choice["index"] ?? 0) > 0);

/** The wire's input counts cached tokens too; ours leaves them out. Done at the end: the figures come in any order. */
const withoutCached = (usage: Usage): Usage => ({
  ...usage,
  inputTokens: Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens),
});

const readUsage = (usage: JsonObject): Partial<Usage> => {
  const details = objectAt(usage, "prompt_tokens_details");
  return {
    inputTokens: countAt(usage, "prompt_tokens") || countAt(usage, "input_tokens"),
    outputTokens: countAt(usage, "completion_tokens") || countAt(usage, "output_tokens"),
    cacheReadTokens:
      countAt(details, "cached_tokens") || countAt(usage, "prompt_cache_hit_tokens") || countAt(usage, "cached_tokens"),
    cacheWriteTokens: countAt(details, "cache_write_tokens"),
    reasoningTokens: countAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens"),
  };
};

/** OpenRouter streams each detail in pieces with the same index and type: texts are joined, the rest is kept as it came. */
const joinDetail = (details: JsonObject[], piece: JsonObject): void => {
  const at = details.findIndex(
    (detail) => piece["index"] !== undefined && detail["index"] === piece["index"] && detail["type"] === piece["type"],
  );
  const before = details[at];
  if (!before) {
    details.push(piece);
    return;
  }
  const joined: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(piece)) {
    const isStreamed = (key === "text" || key === "summary" || key === "data") && typeof value === "string";
    if (isStreamed) joined[key] = textAt(before, key) + value;
    else if (value !== null && value !== undefined) joined[key] = value;
  }
  details[at] = joined;
};
