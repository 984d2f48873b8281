import type { FinishReason } from "../schema/event.ts";
import type { Thinking } from "../schema/message.ts";
import type { Usage } from "../schema/model.ts";
import { baseUrlHint, type ErrorContext, providerFailure, quoted } from "./classify-error.ts";
import type { ModelResponse, ProviderError } from "./provider.ts";
import type { ToolCallAccumulator } from "./tool-call-accumulator.ts";

/** What a turn has gathered when its stream ends. */
export type Gathered = {
  readonly content: string;
  readonly thinking: Thinking | undefined;
  readonly toolCalls: ToolCallAccumulator;
  /** Undefined: none came. */
  readonly finishReason: FinishReason | undefined;
  readonly usage: Usage | null;
};

/**
 * The response, by the rules that hold for both dialects: complete calls decide, whatever the reason says.
 * @throws ProviderError `network` without a finish reason, `empty_tool_calls` where calls were announced and none came.
 */
export const completeAnswer = (gathered: Gathered, context: ErrorContext): ModelResponse => {
  const { content, thinking, toolCalls, finishReason, usage } = gathered;
  if (finishReason === undefined)
    throw providerFailure("network", context.strings.brokenStream, context, { retryable: true });
  if (finishReason === "tool_calls" && toolCalls.size() === 0)
    throw providerFailure("empty_tool_calls", context.strings.emptyToolCalls, context, { retryable: true });
  const calls = toolCalls.calls();
  const wasCut = finishReason !== "tool_calls" && finishReason !== "stop";
  const cutCalls = wasCut ? toolCalls.cutCalls() : [];
  return {
    message: { role: "assistant", content, ...(thinking && { thinking }), toolCalls: calls },
    finishReason: calls.length > cutCalls.length ? "tool_calls" : finishReason,
    usage,
    ...(cutCalls.length > 0 && { cutCalls }),
  };
};

/** Figures that are all zero say nothing: some servers send them for want of better. */
export const knownUsage = (usage: Usage): Usage | null =>
  Object.values(usage).some((count) => count > 0) ? usage : null;

/** JSON under HTTP 200 that is no answer of this API. */
export const strangeAnswer = (value: unknown, context: ErrorContext): ProviderError =>
  providerFailure("protocol", context.strings.strangeAnswer(quoted(JSON.stringify(value), context)), context, {
    hint: baseUrlHint(context),
  });
