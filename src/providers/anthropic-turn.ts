import type { FinishReason } from "../schema/event.ts";
import type { Thinking } from "../schema/message.ts";
import { mergeUsage, NO_USAGE } from "../schema/model.ts";
import { completeAnswer, knownUsage, strangeAnswer } from "./answer.ts";
import type { ErrorContext } from "./classify-error.ts";
import type { Deltas, Turn } from "./model-stream.ts";
import type { ToolCallAccumulator } from "./tool-call-accumulator.ts";
import { countAt, isObject, type JsonObject, listAt, objectAt, textAt } from "./wire.ts";

type Block = { -readonly [Key in keyof JsonObject]: JsonObject[Key] };

/** One block of the answer, as its start gave it and its deltas completed it. */
type Part = { readonly index: number; readonly block: Block; isStreamed: boolean };

/** Reads one answer of the Messages API. Events and deltas of kinds that it does not know are skipped. */
export const createAnthropicTurn = (toolCalls: ToolCallAccumulator, context: ErrorContext): Turn => {
  const parts: Part[] = [];
  let content = "";
  let usage = NO_USAGE;
  let finishReason: FinishReason | undefined;
  let isEnded = false;

  const addPart = (index: number, block: JsonObject): Part => {
    const part = { index, block: { ...block }, isStreamed: false };
    parts.push(part);
    return part;
  };

  // Some servers give every block the same index: the latest is meant. Some leave the start of a block out.
  const partAt = (index: number, type: string, empty: JsonObject): Part => {
    const part = parts.findLast((one) => one.index === index);
    return part?.block["type"] === type ? part : addPart(index, empty);
  };

  const takeText = (text: string, deltas: Deltas): void => {
    content += text;
    deltas.text(text);
  };

  const startBlock = (index: number, block: JsonObject, deltas: Deltas): void => {
    addPart(index, block);
    switch (block["type"]) {
      case "text":
        takeText(textAt(block, "text"), deltas);
        break;
      case "thinking":
        deltas.thinking(textAt(block, "thinking"));
        break;
      case "tool_use":
        toolCalls.add({ index, id: block["id"], name: block["name"] });
    }
  };

  const takeDelta = (index: number, delta: JsonObject, deltas: Deltas): void => {
    switch (delta["type"]) {
      case "text_delta":
        append(partAt(index, "text", NO_TEXT), "text", delta);
        takeText(textAt(delta, "text"), deltas);
        break;
      case "thinking_delta":
        append(partAt(index, "thinking", NO_THINKING), "thinking", delta);
        deltas.thinking(textAt(delta, "thinking"));
        break;
      case "signature_delta":
        append(partAt(index, "thinking", NO_THINKING), "signature", delta);
        break;
      case "input_json_delta": {
        const part = parts.findLast((one) => one.index === index);
        // The input of a tool that the server runs itself is no call of ours.
        if (part?.block["type"] !== "tool_use") break;
        if (textAt(delta, "partial_json") !== "") part.isStreamed = true;
        toolCalls.add({ index, id: part.block["id"], arguments: delta["partial_json"] });
      }
    }
  };

  // Compatible servers give the whole input at the start and stream nothing; an empty one is only the opening.
  const takeWholeInputs = (): void => {
    for (const { index, block, isStreamed } of parts) {
      const { type, id, input } = block;
      const isWhole = isObject(input) ? Object.keys(input).length > 0 : typeof input === "string";
      if (type === "tool_use" && !isStreamed && isWhole) toolCalls.add({ index, id, arguments: input });
    }
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
        break;
      case "message_stop":
        isEnded = true;
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
    isEnded: () => isEnded,
    complete: () => {
      takeWholeInputs();
      const all = parts.map(({ block }) => block);
      const blocks = all.filter(isThinking);
      const isFirst = all.slice(0, blocks.length).every(isThinking);
      const text = blocks.map((block) => textAt(block, "thinking")).join("");
      return completeAnswer(
        {
          content,
          thinking:
            blocks.length > 0
              ? { kind: "native", text, blocks, ...(!isFirst && { layout: layoutOf(all) }) }
              : undefined,
          toolCalls,
          finishReason,
          usage: knownUsage(usage),
        },
        context,
      );
    },
  };
};

const NO_TEXT: JsonObject = { type: "text", text: "" };
const NO_THINKING: JsonObject = { type: "thinking", thinking: "", signature: "" };

const append = ({ block }: Part, key: string, delta: JsonObject): void => {
  block[key] = textAt(block, key) + textAt(delta, key);
};

/** The API refuses a thinking block that is not where it was, and the history keeps text, thinking and calls apart. */
const layoutOf = (blocks: readonly JsonObject[]): NonNullable<Thinking["layout"]> =>
  blocks.flatMap((block): NonNullable<Thinking["layout"]> => {
    if (isThinking(block)) return ["thinking"];
    if (block["type"] === "text") return [textAt(block, "text").length];
    return block["type"] === "tool_use" ? ["call"] : [];
  });

/** Whether a block is the model's own reasoning, which goes back to the API as it came. */
export const isThinking = (block: JsonObject): boolean =>
  block["type"] === "thinking" || block["type"] === "redacted_thinking";

const STOP_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  pause_turn: "pause",
};
