import { addUsage, contextTokens, costUsd, type ModelInfo, NO_USAGE, type Usage } from "../schema/model.ts";
import type { Strings } from "../text/strings.ts";
import type { Limits } from "./options.ts";

/** What a run has used. */
export type Spending = {
  add(usage: Usage): void;
  total(): Usage;
  /** Null where the prices are unknown, and before the first request. */
  costUsd(): number | null;
  /** The budget that is used up, in words; undefined while there is some left. */
  exhausted(limits: Limits, strings: Strings["engine"]): string | undefined;
};

export const createSpending = ({ prices }: ModelInfo): Spending => {
  let total = NO_USAGE;
  let cost: number | null = null;
  return {
    add: (usage) => {
      total = addUsage(total, usage);
      cost = costUsd(total, prices);
    },
    total: () => total,
    costUsd: () => cost,
    exhausted: ({ maxTokens, maxCostUsd }, strings) => {
      if (maxTokens !== undefined && contextTokens(total) >= maxTokens) return strings.budgetTokens(maxTokens);
      if (maxCostUsd !== undefined && (cost ?? 0) >= maxCostUsd) return strings.budgetCost(`$${maxCostUsd}`);
      return undefined;
    },
  };
};
