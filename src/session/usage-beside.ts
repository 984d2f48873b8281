import type { EngineEventBody } from "../schema/event.ts";
import type { Usage } from "../schema/model.ts";

/** Whether this is the first request between two runs of a count of its own: what was counted before it is no part of its total. */
export const countsAnew = ({
  turn,
  usage,
  total,
}: Pick<EngineEventBody<"usage.updated">, "turn" | "usage" | "total">): boolean =>
  turn === undefined && FIGURES.every((figure) => usage[figure] === total[figure]);

const FIGURES: readonly (keyof Usage)[] = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
];
