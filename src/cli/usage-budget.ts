import type { Settings } from "../config/settings.ts";
import { type Budget, createBudget } from "../engine/budget.ts";
import type { Totals } from "../session/journal-totals.ts";
import type { Strings } from "../text/strings.ts";

/** What a session may spend: it counts what the session has spent before, and so holds for all its runs. */
export const sessionBudget = (
  { maxCostUsd, maxTokens }: Pick<Settings, "maxCostUsd" | "maxTokens">,
  before: Totals | undefined,
  strings: Strings["usage"],
): { readonly budget: Budget; readonly warnings: readonly string[] } => ({
  budget: createBudget({ maxCostUsd: maxCostUsd ?? undefined, maxTokens: maxTokens ?? undefined }, before),
  warnings: maxCostUsd !== null && before?.costUsd === null ? [strings.spentUnknown] : [],
});
