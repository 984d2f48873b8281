import { type ErrorContext, providerFailure } from "./classify-error.ts";
import type { Timeouts } from "./model-options.ts";
import type { ProviderError } from "./provider.ts";

type WatchOptions = {
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  readonly context: ErrorContext;
};

/** The clocks of one request, and the signal that ends it. */
export type Watch = {
  /** Aborts with the caller's signal, or when the server has been silent too long. */
  readonly signal: AbortSignal;
  /** Bytes came, of whatever kind. */
  readonly alive: (isFinished: boolean) => void;
  /** The answer is whole: the request ends by itself. */
  readonly release: () => void;
  readonly cut: () => void;
  readonly stop: () => void;
  /** Why the watch aborted the request, if it did. */
  readonly failure: () => ProviderError | undefined;
};

// A server that sends the finish reason but neither [DONE] nor an end has said all.
const AFTER_FINISH_MS = 3_000;

/** Starts with the limit for the first byte; call `stop` in the end. */
export const startWatch = ({ signal, timeouts, context }: WatchOptions): Watch => {
  const { strings } = context;
  const controller = new AbortController();
  let silence: ProviderError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isReleased = false;
  const cut = (): void => controller.abort();
  const arm = (ms: number, words: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      silence = providerFailure("timeout", words, context, { retryable: true, hint: strings.hintLater });
      cut();
    }, ms);
  };
  if (signal.aborted) cut();
  signal.addEventListener("abort", cut, { once: true });
  if (timeouts.firstByteMs !== null) arm(timeouts.firstByteMs, strings.firstByteTimeout(timeouts.firstByteMs / 1000));

  return {
    signal: controller.signal,
    alive: (isFinished) => {
      const ms = isFinished ? Math.min(AFTER_FINISH_MS, timeouts.silenceMs) : timeouts.silenceMs;
      arm(ms, strings.silenceTimeout(ms / 1000));
    },
    release: () => {
      isReleased = true;
      clearTimeout(timer);
    },
    cut,
    stop: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cut);
      if (!isReleased) cut();
    },
    failure: () => {
      if (signal.aborted) return providerFailure("cancelled", strings.cancelled, context);
      return silence;
    },
  };
};
