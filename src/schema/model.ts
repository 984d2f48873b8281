/** Tokens of one request, or a sum of them. `inputTokens` leaves out what was read from or written to a cache. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number;
};

/** US dollars per million tokens. */
export type Prices = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
};

/** What is known of a model. `null` is unknown, never a guess. */
export type ModelInfo = {
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly prices: Prices | null;
};

export const UNKNOWN_MODEL: ModelInfo = { contextWindow: null, maxOutputTokens: null, prices: null };

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** The sum of two usages. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
});

/** Later figures of the same request over earlier ones; a zero never overwrites a figure. */
export const mergeUsage = (earlier: Usage, later: Partial<Usage>): Usage => ({
  inputTokens: later.inputTokens || earlier.inputTokens,
  outputTokens: later.outputTokens || earlier.outputTokens,
  cacheReadTokens: later.cacheReadTokens || earlier.cacheReadTokens,
  cacheWriteTokens: later.cacheWriteTokens || earlier.cacheWriteTokens,
  reasoningTokens: later.reasoningTokens || earlier.reasoningTokens,
});

/** Tokens that the request filled of the context window, its answer included. */
export const contextTokens = (usage: Usage): number =>
  usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;

/** US dollars for `usage`, or null where the prices are unknown. */
export const costUsd = (usage: Usage, prices: Prices | null): number | null =>
  prices === null
    ? null
    : (usage.inputTokens * prices.input +
        usage.outputTokens * prices.output +
        usage.cacheReadTokens * prices.cacheRead +
        usage.cacheWriteTokens * prices.cacheWrite) /
      1_000_000;
