import type { BudgetState } from "../../session/usage-budget.ts";
import type { Strings } from "../../text/strings.ts";
import { formatCost, formatCount } from "../figures.ts";
import type { Line } from "../line.ts";
import { noteLines } from "./table-lines.ts";

/** A line for each limit: what is spent of it, and what is left. */
export const budgetLines = (
  states: readonly BudgetState[],
  { width, strings: { cost: strings } }: { readonly width: number; readonly strings: Strings["commands"] },
): Line[] =>
  states.flatMap(({ kind, spent, limit }) => {
    const text = (value: number): string =>
      kind === "cost" ? formatCost(value) : strings.tokenCount(formatCount(value));
    return noteLines(strings.budget(text(spent), text(limit), text(Math.max(0, limit - spent))), width);
  });
