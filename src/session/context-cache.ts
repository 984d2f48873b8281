import type { Prices, Usage } from "../schema/model.ts";

/** What was paid in full though a cache had it. */
export type LostCache = { readonly tokens: number; readonly costUsd: number | null };

export interface CacheWatch {
  /** Another run: it may be told of once more. */
  begin(): void;
  /** The prefix of the requests has changed, or the model. */
  forget(): void;
  /** An answer's figures. Returns what was lost, once a run. */
  answered(
    usage: Usage,
    atMs: number,
    request: { readonly hasTools: boolean; readonly prices: Prices | null },
  ): LostCache | undefined;
}

/** Shorter prompts are not worth a word. */
const MIN_TOKENS = 4000;
/** About how long servers keep a prefix that nobody asks for. */
const LIFETIME_MS = 5 * 60_000;

type Answered = { readonly prompt: number; readonly isCached: boolean; readonly atMs: number };

/** Notices a request whose prefix the server had in its cache and has read anew. */
export const createCacheWatch = (): CacheWatch => {
  // The two passes of two-stage thinking have prefixes of their own.
  const last = new Map<boolean, Answered>();
  let isTold = false;
  return {
    begin: () => {
      isTold = false;
    },
    forget: () => last.clear(),
    answered: (usage, atMs, { hasTools, prices }) => {
      const { inputTokens, cacheReadTokens, cacheWriteTokens } = usage;
      const prompt = inputTokens + cacheReadTokens + cacheWriteTokens;
      if (prompt === 0) return undefined;
      const before = last.get(hasTools);
      last.set(hasTools, { prompt, isCached: cacheReadTokens + cacheWriteTokens > 0, atMs });
      if (isTold || !before?.isCached || cacheReadTokens > 0) return undefined;
      if (before.prompt < MIN_TOKENS || atMs - before.atMs >= LIFETIME_MS) return undefined;
      isTold = true;
      const tokens = Math.min(before.prompt, prompt);
      return { tokens, costUsd: prices && extraCost(tokens, prices, cacheWriteTokens > 0) };
    },
  };
};

const extraCost = (tokens: number, { input, cacheRead, cacheWrite }: Prices, isWritten: boolean): number =>
  (tokens * ((isWritten ? cacheWrite : input) - cacheRead)) / 1_000_000;
