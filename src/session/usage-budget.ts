import type { BudgetState } from "../engine/budget.ts";

export type { BudgetState };

/** What the chat may know of money and tokens. */
export type ChatBudget = {
  /** Each limit of the session, with what counts towards it; empty where nothing is limited. */
  readonly budget: () => readonly BudgetState[];
};
