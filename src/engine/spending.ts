import { addUsage, costUsd, type ModelInfo, NO_USAGE, type Usage } from "../schema/model.ts";

/** What a run has used. */
export type Spending = {
  add(usage: Usage): void;
  total(): Usage;
  /** Null where the prices are unknown. */
  costUsd(): number | null;
};

export const createSpending = ({ prices }: ModelInfo): Spending => {
  let total = NO_USAGE;
  return {
    add: (usage) => {
      total = addUsage(total, usage);
    },
    total: () => total,
    costUsd: () => costUsd(total, prices),
  };
};
