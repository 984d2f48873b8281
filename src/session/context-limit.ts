import type { ModelInfo } from "../schema/model.ts";

export type LimitOptions = {
  /** The share of the window from which on a context is compacted. */
  readonly at: number;
  /** What a refusal has shown of the window. */
  readonly learned: number | undefined;
  /** Whether a person has undone the last compaction: then the window is used up first. */
  readonly isHeld: boolean;
};

const HELD_AT = 0.95;
// An answer of the model's own limit must fit too, but a window is no use if it is only for answers.
const MAX_OUTPUT_SHARE = 0.5;

/** What the window holds; null where nobody knows. */
export const windowOf = ({ contextWindow }: ModelInfo, learned: number | undefined): number | null => {
  if (learned === undefined) return contextWindow;
  return contextWindow === null ? learned : Math.min(contextWindow, learned);
};

/** From how many tokens on a context is compacted; null = never by itself. */
export const compactsAt = (info: ModelInfo, { at, learned, isHeld }: LimitOptions): number | null => {
  const window = windowOf(info, learned);
  if (window === null) return null;
  if (isHeld) return Math.floor(window * HELD_AT);
  const output = Math.min(info.maxOutputTokens ?? 0, window * MAX_OUTPUT_SHARE);
  return Math.floor(Math.min(window * at, window - output));
};
