import type { ErrorKind, FinishReason } from "../schema/event.ts";
import type { AssistantMessage, Message } from "../schema/message.ts";
import type { Usage } from "../schema/model.ts";
import type { ToolDefinition } from "../schema/tool.ts";

export type ModelRequest = {
  readonly messages: readonly Message[];
  /** The conversation behind the messages, where these are a view of it: a new call takes none of its ids. */
  readonly history?: readonly Message[];
  /** Absent = a pass without tools (thinking). An empty list is the same. */
  readonly tools?: readonly ToolDefinition[];
};

/** A finished answer. `finishReason` is `tool_calls` whenever complete calls are present, whatever the server said. */
export type ModelResponse = {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  /** Null where the server gave no figures. */
  readonly usage: Usage | null;
  /** Ids of the calls in the message that the output limit cut off: each is told so instead of running. */
  readonly cutCalls?: readonly string[];
};

export type StreamChunk =
  | { readonly type: "thinking.delta"; readonly text: string }
  | { readonly type: "text.delta"; readonly text: string }
  /** The request failed and is sent again after `delayMs`; `discard`: forget the deltas so far. */
  | {
      readonly type: "retrying";
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly delayMs: number;
      readonly error: ProviderError;
      readonly discard: boolean;
    }
  /** The last chunk of every stream that does not throw. */
  | { readonly type: "completed"; readonly response: ModelResponse };

/** A model behind an API. */
export interface LLMProvider {
  /** The provider's name as people write it, as in `anthropic`. */
  readonly name: string;
  readonly model: string;
  /** The whole answer at once: a fold over the stream. Throws ProviderError. */
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>;
  /** Deltas as they come, then one `completed`. Throws ProviderError. */
  generateStream(request: ModelRequest, signal: AbortSignal): AsyncIterable<StreamChunk>;
}

export type ProviderErrorOptions = {
  readonly kind: ErrorKind;
  readonly status?: number;
  readonly retryable?: boolean;
  /** What the server asked for (Retry-After), in milliseconds. */
  readonly retryAfterMs?: number;
  /** What the person can do next. */
  readonly hint?: string;
  readonly cause?: unknown;
};

/** A request that failed. The message names the provider, the model, the status and the server's own words; never a key. */
export class ProviderError extends Error {
  readonly kind: ErrorKind;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly hint: string | undefined;

  constructor(message: string, options: ProviderErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ProviderError";
    this.kind = options.kind;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.hint = options.hint;
  }
}

/** `generate` for any provider that can stream. */
export const collect = async (chunks: AsyncIterable<StreamChunk>): Promise<ModelResponse> => {
  for await (const chunk of chunks) if (chunk.type === "completed") return chunk.response;
  throw new ProviderError("provider stream ended without a completed chunk", { kind: "protocol" });
};
