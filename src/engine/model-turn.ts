import { type LLMProvider, type ModelRequest, type ModelResponse, ProviderError } from "../providers/provider.ts";
import type { Emit } from "../schema/event.ts";

export type ModelTurn =
  | { readonly type: "answered"; readonly response: ModelResponse }
  /** Cancelled or failed for good; `text` is what had been said by then. */
  | { readonly type: "failed"; readonly error: ProviderError; readonly text: string };

/** How often an answer that announced tool calls and gave none is asked for again. */
const EMPTY_TOOL_CALLS_RETRIES = 1;

/** One request to the model: deltas and retries become events as they come. */
export const modelTurn = async (
  provider: LLMProvider,
  request: ModelRequest,
  signal: AbortSignal,
  emit: Emit,
): Promise<ModelTurn> => {
  for (let attempt = 1; ; attempt += 1) {
    const turn = await requestOnce(provider, request, signal, emit);
    if (turn.type === "answered" || turn.error.kind !== "empty_tool_calls" || attempt > EMPTY_TOOL_CALLS_RETRIES)
      return turn;
    emit({
      type: "provider.retrying",
      attempt: attempt + 1,
      maxAttempts: EMPTY_TOOL_CALLS_RETRIES + 1,
      delayMs: 0,
      error: describe(turn.error),
      discard: true,
    });
  }
};

const requestOnce = async (
  provider: LLMProvider,
  request: ModelRequest,
  signal: AbortSignal,
  emit: Emit,
): Promise<ModelTurn> => {
  let text = "";
  try {
    for await (const chunk of provider.generateStream(request, signal)) {
      switch (chunk.type) {
        case "text.delta":
          text += chunk.text;
          emit({ type: "text.delta", text: chunk.text });
          break;
        case "thinking.delta":
          emit({ type: "thinking.delta", text: chunk.text });
          break;
        case "retrying": {
          const { attempt, maxAttempts, delayMs, discard } = chunk;
          if (discard) text = "";
          emit({ type: "provider.retrying", attempt, maxAttempts, delayMs, error: describe(chunk.error), discard });
          break;
        }
        case "completed":
          return { type: "answered", response: chunk.response };
        default:
          chunk satisfies never;
      }
    }
    const error = new ProviderError("provider stream ended without a completed chunk", { kind: "protocol" });
    return { type: "failed", error, text };
  } catch (error) {
    if (signal.aborted) return { type: "failed", error: new ProviderError("cancelled", { kind: "cancelled" }), text };
    if (error instanceof ProviderError) return { type: "failed", error, text };
    throw error;
  }
};

const describe = (error: ProviderError) => ({
  kind: error.kind,
  ...(error.status !== undefined && { status: error.status }),
  message: error.message,
});
