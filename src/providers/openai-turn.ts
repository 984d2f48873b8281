import type { FinishReason } from "../schema/event.ts";
import { mergeUsage, NO_USAGE, type Usage } from "../schema/model.ts";
import { completeAnswer, knownUsage, strangeAnswer } from "./answer.ts";
import { type ErrorContext, providerFailure } from "./classify-error.ts";
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
  let tagged = "";
  let reasoningContent = "";
  let reasoning = "";
  let usage = NO_USAGE;
  let finishReason: FinishReason | undefined;

  const takeContent = (piece: string, deltas: Deltas): void => {
    const split = tags.feed(piece);
    takeSplit(split.thinking, split.text, deltas);
  };

  const takeSplit = (thinking: string, text: string, deltas: Deltas): void => {
    tagged += thinking;
    content += text;
    deltas.thinking(thinking);
    deltas.text(text);
  };

  const takeReasoning = (message: JsonObject, deltas: Deltas): void => {
    const first = textAt(message, "reasoning_content");
    const second = textAt(message, "reasoning");
    reasoningContent += first;
    reasoning += second;
    // Some servers send the same text under both names.
    deltas.thinking(first || second);
    for (const detail of listAt(message, "reasoning_details")) if (isObject(detail)) joinDetail(details, detail);
  };

  /** A delta, or the message of an answer in one piece. */
  const takeMessage = (message: JsonObject, deltas: Deltas): void => {
    takeReasoning(message, deltas);
    const piece = contentText(message["content"], deltas);
    if (piece !== "") takeContent(piece, deltas);
    const refused = textAt(message, "refusal");
    refusal += refused;
    deltas.text(refused);
    for (const call of listAt(message, "tool_calls")) {
      if (!isObject(call)) continue;
      const { name, arguments: text } = objectAt(call, "function");
      toolCalls.add({ index: call["index"], id: call["id"], name, arguments: text });
    }
  };

  // Mistral gives content as a list of parts, thinking among them.
  const contentText = (value: unknown, deltas: Deltas): string => {
    if (typeof value === "string") return value;
    if (!Array.isArray(value)) return "";
    return value
      .map((part: unknown) => {
        if (textAt(part, "type") !== "thinking") return textAt(part, "text");
        const thought = listAt(part, "thinking")
          .map((inner) => textAt(inner, "text"))
          .join("");
        tagged += thought;
        deltas.thinking(thought);
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
    const choice = listAt(value, "choices")[0];
    takeMessage(objectAt(choice, key), deltas);
    if (isObject(choice)) {
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
    complete: (deltas) => {
      const rest = tags.end();
      takeSplit(rest.thinking, rest.text, deltas);
      const text = (reasoningContent || reasoning) + tagged;
      const blocks = Object.keys(replay()).length > 0 ? { blocks: [replay()] } : {};
      return completeAnswer(
        {
          content: content + refusal,
          thinking: text !== "" || details.length > 0 ? { kind: "native", text, ...blocks } : undefined,
          toolCalls,
          finishReason: refusal !== "" && finishReason === "stop" ? "refusal" : finishReason,
          usage: knownUsage(usage),
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
  content_filter: "content_filter",
  sensitive: "content_filter",
  safety: "content_filter",
  refusal: "refusal",
  error: "error",
  network_error: "error",
  insufficient_system_resource: "error",
};

/** `prompt_tokens` counts cached tokens too; ours leaves them out. */
const readUsage = (usage: JsonObject): Partial<Usage> => {
  const details = objectAt(usage, "prompt_tokens_details");
  const cacheReadTokens =
    countAt(details, "cached_tokens") || countAt(usage, "prompt_cache_hit_tokens") || countAt(usage, "cached_tokens");
  const cacheWriteTokens = countAt(details, "cache_write_tokens");
  return {
    inputTokens: Math.max(0, countAt(usage, "prompt_tokens") - cacheReadTokens - cacheWriteTokens),
    outputTokens: countAt(usage, "completion_tokens"),
    cacheReadTokens,
    cacheWriteTokens,
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
