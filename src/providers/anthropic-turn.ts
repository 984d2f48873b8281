import type { FinishReason } from "../schema/event.ts";
import { mergeUsage, NO_USAGE } from "../schema/model.ts";
import { completeAnswer, knownUsage, strangeAnswer } from "./answer.ts";
import type { ErrorContext } from "./classify-error.ts";
import type { Deltas, Turn } from "./model-stream.ts";
import type { ToolCallAccumulator } from "./tool-call-accumulator.ts";
import { countAt, isObject, type JsonObject, listAt, objectAt, textAt } from "./wire.ts";

type Block = { -readonly [Key in keyof JsonObject]: JsonObject[Key] };

/** Reads one answer of the Messages API. Events and deltas of kinds that it does not know are skipped. */
export const createAnthropicTurn = (toolCalls: ToolCallAccumulator, context: ErrorContext): Turn => {
  const thinkingBlocks = new Map<number, Block>();
  const inputs = new Map<number, { readonly whole: unknown; isStreamed: boolean }>();
  let content = "";
  let usage = NO_USAGE;
  let finishReason: FinishReason | undefined;

  const takeText = (text: string, deltas: Deltas): void => {
    content += text;
    deltas.text(text);
  };

  const startBlock = (index: number, block: JsonObject, deltas: Deltas): void => {
    switch (block["type"]) {
      case "text":
        takeText(textAt(block, "text"), deltas);
        break;
      case "thinking":
        deltas.thinking(textAt(block, "thinking"));
        thinkingBlocks.set(index, { ...block });
        break;
      case "redacted_thinking":
        thinkingBlocks.set(index, { ...block });
        break;
      case "tool_use":
        inputs.set(index, { whole: block["input"], isStreamed: false });
        toolCalls.add({ index, id: block["id"], name: block["name"] });
    }
  };

  const takeDelta = (index: number, delta: JsonObject, deltas: Deltas): void => {
    const block = thinkingBlocks.get(index);
    switch (delta["type"]) {
      case "text_delta":
        takeText(textAt(delta, "text"), deltas);
        break;
      case "thinking_delta":
        deltas.thinking(textAt(delta, "thinking"));
        if (block) block["thinking"] = textAt(block, "thinking") + textAt(delta, "thinking");
        break;
      case "signature_delta":
        if (block) block["signature"] = textAt(block, "signature") + textAt(delta, "signature");
        break;
      case "input_json_delta": {
        const input = inputs.get(index);
        if (input && textAt(delta, "partial_json") !== "") input.isStreamed = true;
        toolCalls.add({ index, arguments: delta["partial_json"] });
      }
    }
  };

  // Compatible servers give the whole input at the start and stream nothing.
  const takeWholeInputs = (): void => {
    for (const [index, { whole, isStreamed }] of inputs)
      if (!isStreamed && isObject(whole) && Object.keys(whole).length > 0) toolCalls.add({ index, arguments: whole });
  };

  const takeUsage = (value: JsonObject): void => {
    usage = mergeUsage(usage, {
      inputTokens: countAt(value, "input_tokens"),
      // The figure is cumulative: the last one counts.
      outputTokens: countAt(value, "output_tokens"),
      cacheReadTokens: countAt(value, "cache_read_input_tokens"),
      cacheWriteTokens: countAt(value, "cache_creation_input_tokens"),
      reasoningTokens: countAt(objectAt(value, "output_tokens_details"), "thinking_tokens"),
    });
  };

  const takeStop = (reason: unknown): void => {
    if (typeof reason === "string" && reason !== "") finishReason ??= STOP_REASONS[reason] ?? "stop";
  };

  const takeEvent = (value: unknown, deltas: Deltas): void => {
    if (!isObject(value)) return;
    const index = countAt(value, "index");
    switch (value["type"]) {
      case "message_start":
        takeUsage(objectAt(objectAt(value, "message"), "usage"));
        break;
      case "content_block_start":
        startBlock(index, objectAt(value, "content_block"), deltas);
        break;
      case "content_block_delta":
        takeDelta(index, objectAt(value, "delta"), deltas);
        break;
      case "message_delta":
        takeUsage(objectAt(value, "usage"));
        takeStop(objectAt(value, "delta")["stop_reason"]);
    }
  };

  return {
    event: takeEvent,
    whole: (value, deltas) => {
      if (!isObject(value) || !Array.isArray(value["content"])) throw strangeAnswer(value, context);
      listAt(value, "content").forEach((block, index) => {
        if (isObject(block)) startBlock(index, block, deltas);
      });
      takeUsage(objectAt(value, "usage"));
      takeStop(value["stop_reason"]);
      finishReason ??= "stop";
    },
    isFinished: () => finishReason !== undefined,
    complete: () => {
      takeWholeInputs();
      const blocks = [...thinkingBlocks].toSorted(([a], [b]) => a - b).map(([, block]) => block);
      const text = blocks.map((block) => textAt(block, "thinking")).join("");
      return completeAnswer(
        {
          content,
          thinking: blocks.length > 0 ? { kind: "native", text, blocks } : undefined,
          toolCalls,
          finishReason,
          usage: knownUsage(usage),
        },
        context,
      );
    },
  };
};

const STOP_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  pause_turn: "pause",
};
