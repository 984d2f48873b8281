import { isObservation, type Message } from "../schema/message.ts";
import { contextTokens, type Usage } from "../schema/model.ts";
import type { ToolDefinition } from "../schema/tool.ts";

/**
 * Tokens of a text, estimated by script: Latin letters, digits and punctuation four to a token, other alphabets two,
 * Chinese, Japanese and Korean characters one each. Tokenizers differ by a third to both sides; `calibrated` corrects that.
 */
export const estimateText = (text: string): number => {
  let quarters = 0;
  for (let index = 0; index < text.length; index += 1) quarters += quartersOf(text.charCodeAt(index));
  return Math.ceil(quarters / 4);
};

/** Quarters of a token that one UTF-16 unit is worth. */
export const quartersOf = (unit: number): number => {
  if (unit < 0x80) return 1;
  if (unit < 0x900) return 2;
  // Indic scripts, Thai, punctuation, arrows and lines of tables.
  if (unit < 0x2e80) return 3;
  return 4;
};

/** What an API adds around a message. */
const MESSAGE_TOKENS = 3;
/** About what a picture of a screen takes with either dialect. */
const IMAGE_TOKENS = 1500;

/** A message as it is sent, its calls and what it thinks included. */
export const estimateMessage = (message: Message): number => {
  const text = MESSAGE_TOKENS + estimateText(message.content);
  if (message.role === "system") return text;
  if (message.role === "user") return text + (message.attachments?.length ?? 0) * IMAGE_TOKENS;
  const calls = message.toolCalls.map(
    (call) => MESSAGE_TOKENS + estimateText(call.name) + estimateText(call.arguments),
  );
  return calls.reduce((sum, call) => sum + call, text + estimateText(message.thinking?.text ?? ""));
};

/** What the definition of a tool takes in each request. */
export const estimateTool = ({ name, description, inputSchema }: ToolDefinition): number =>
  MESSAGE_TOKENS + estimateText(name) + estimateText(description) + estimateText(JSON.stringify(inputSchema));

/** Remembers what messages take: a list that has grown costs what was added to it. */
export interface Sizes {
  of(message: Message): number;
  sum(messages: readonly Message[]): number;
  tools(tools: readonly ToolDefinition[]): number;
}

export const createSizes = (): Sizes => {
  const known = new WeakMap<object, number>();
  let before: {
    readonly list: readonly Message[];
    readonly count: number;
    readonly last: Message | undefined;
    sum: number;
  };
  before = { list: [], count: 0, last: undefined, sum: 0 };

  const remembered = <T extends object>(value: T, estimate: (value: T) => number): number => {
    const size = known.get(value) ?? estimate(value);
    known.set(value, size);
    return size;
  };
  const of = (message: Message): number => remembered(message, estimateMessage);

  return {
    of,
    sum: (list) => {
      // A list that was cut and has grown again is another one.
      const isSame = before.list === list && list[before.count - 1] === before.last && list.length >= before.count;
      let sum = isSame ? before.sum : 0;
      for (let index = isSame ? before.count : 0; index < list.length; index += 1) {
        const message = list[index];
        if (message) sum += of(message);
      }
      before = { list, count: list.length, last: list.at(-1), sum };
      return sum;
    },
    tools: (tools) => tools.reduce((sum, tool) => sum + remembered(tool, estimateTool), 0),
  };
};

const MIN_RATIO = 0.5;
const MAX_RATIO = 2;

/** A figure of the API beside what was estimated for the same messages. */
export type Measured = { readonly exact: number; readonly estimated: number };

/** The figure that an answer gives for its request and itself; undefined where the server gave none. */
export const measure = (
  usage: Usage,
  estimated: number,
  { keepsReasoning }: { readonly keepsReasoning: boolean },
): Measured | undefined => {
  const exact = contextTokens(usage) - (keepsReasoning ? 0 : usage.reasoningTokens);
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens === 0 ? undefined : { exact, estimated };
};

/** Real tokens for an estimated one, as far as an answer has shown it. */
export const ratioOf = (measured: Measured | undefined): number =>
  !measured || measured.estimated === 0
    ? 1
    : Math.min(MAX_RATIO, Math.max(MIN_RATIO, measured.exact / measured.estimated));

/** The exact figure, and what was added since (or left out) at the ratio that this figure gives. */
export const calibrated = (estimated: number, measured: Measured | undefined): number => {
  if (!measured) return estimated;
  return Math.max(0, Math.round(measured.exact + ratioOf(measured) * (estimated - measured.estimated)));
};

/** Whether a message is the person's, or was added to theirs: neither the model's nor a result. */
export const isInput = (message: Message): boolean => message.role === "user" && !isObservation(message);
