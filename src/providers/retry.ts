import { setTimeout as sleepFor } from "node:timers/promises";
import { goDuration } from "../text/duration.ts";
import type { Strings } from "../text/strings.ts";
import { collect, type LLMProvider, type ModelRequest, ProviderError, type StreamChunk } from "./provider.ts";

export type RetryOptions = {
  /** How often a request is sent at most. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** The longest Retry-After that is waited for. */
  readonly maxRetryAfterMs: number;
  readonly strings: Strings["provider"];
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  /** Milliseconds since the epoch, to say when a limit resets. */
  readonly now?: () => number;
  /** May end early, by a throw or not, when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/**
 * A provider that sends a failed request again, also after partial text (then the chunk says `discard`). Each wait is announced
 * by a `retrying` chunk: `attempt` is the one that comes next. What will not pass by itself is thrown at once, as is a wait that
 * would be too long; an abort ends the wait with kind `cancelled`.
 */
export const withRetry = (provider: LLMProvider, options: RetryOptions): LLMProvider => {
  const sleep = options.sleep ?? sleepUntilAborted;

  async function* generateStream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamChunk> {
    for (let attempt = 1; ; attempt += 1) {
      let hasDeltas = false;
      try {
        for await (const chunk of provider.generateStream(request, signal)) {
          hasDeltas ||= chunk.type === "text.delta" || chunk.type === "thinking.delta";
          yield chunk;
        }
        return;
      } catch (error) {
        if (!isWorthRetrying(error) || attempt >= options.attempts || signal.aborted) throw error;
        const delayMs = waitFor(error, attempt, options);
        yield {
          type: "retrying",
          attempt: attempt + 1,
          maxAttempts: options.attempts,
          delayMs,
          error,
          discard: hasDeltas,
        };
        await waitOrCancel(sleep(delayMs, signal), signal, options.strings);
      }
    }
  }

  return {
    name: provider.name,
    model: provider.model,
    generateStream,
    generate: (request, signal) => collect(generateStream(request, signal)),
  };
};

// Calls that were announced and did not come are the engine's to ask for again: once, not five times.
const isWorthRetrying = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && error.retryable && error.kind !== "cancelled" && error.kind !== "empty_tool_calls";

/** @throws ProviderError where the server asks for more time than `maxRetryAfterMs`. */
const waitFor = (error: ProviderError, attempt: number, options: RetryOptions): number => {
  const asked = error.retryAfterMs;
  // A server that asks for no wait at all is not to be asked five times in a row.
  if (asked === undefined || asked === 0)
    return jitter(backoffDelay(attempt, options.baseMs, options.capMs), options.random());
  if (asked <= options.maxRetryAfterMs) return asked;
  const time = new Date((options.now ?? Date.now)() + asked).toISOString();
  const resets = options.strings.limitResets(goDuration(Math.round(asked / 1000) * 1000), time);
  throw new ProviderError(`${error.message} (${resets})`, {
    kind: error.kind,
    retryAfterMs: asked,
    ...(error.status !== undefined && { status: error.status }),
    ...(error.hint !== undefined && { hint: error.hint }),
    cause: error,
  });
};

/** `baseMs` doubled with each attempt, from the first on, and never above `capMs`. */
export const backoffDelay = (attempt: number, baseMs: number, capMs: number): number =>
  Math.min(capMs, baseMs * 2 ** Math.max(0, attempt - 1));

// Between half and all of it, so that clients that failed together do not come back together.
const jitter = (ms: number, random: number): number => Math.round(ms * (0.5 + random / 2));

const sleepUntilAborted = (ms: number, signal: AbortSignal): Promise<void> => sleepFor(ms, undefined, { signal });

const waitOrCancel = async (wait: Promise<void>, signal: AbortSignal, strings: Strings["provider"]): Promise<void> => {
  try {
    await wait;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) throw new ProviderError(strings.cancelled, { kind: "cancelled", cause: signal.reason });
};
