import type { Ask } from "../schema/ask.ts";
import { contextTokens, costUsd, type Prices, type Usage } from "../schema/model.ts";
import type { Strings } from "../text/strings.ts";

/** One limit and what counts towards it: US dollars, or tokens of all kinds. */
export type BudgetState = { readonly kind: "cost" | "tokens"; readonly limit: number; readonly spent: number };

/** What is absent is not limited. */
export type BudgetLimits = { readonly maxCostUsd?: number | undefined; readonly maxTokens?: number | undefined };

/** What may be spent, over many runs where a session has many. */
export type Budget = {
  /** Counts one request, estimated where the server gave no figures. What has no price adds nothing to the cost. */
  add(usage: Usage, prices: Prices | null, origin: "server" | "estimate"): void;
  /** Each limit as it is now, extended ones with what was added. */
  states(): readonly BudgetState[];
  /** The limit that is used up, in words; undefined while there is some left. */
  exhausted(strings: Strings["engine"]): string | undefined;
  /** Says once for each limit that most of it is used, and once that an estimate counts. */
  warnings(strings: Strings["engine"]): readonly string[];
  /** Lets a person extend what is used up. Without a yes all stays as it is. */
  extend(ask: Ask, signal: AbortSignal, strings: Strings["engine"]): Promise<void>;
};

/** What counts from the beginning: tokens, and US dollars; null = not known. */
export type SpentBefore = { readonly usage: Usage; readonly costUsd: number | null };

const WARN_AT = 0.8;
const SMALL_SHARE = 0.25;

/** A limit, the one that was asked for, and whether it has been warned of. */
type Entry = {
  readonly kind: BudgetState["kind"];
  readonly step: number;
  limit: number;
  spent: number;
  isTold: boolean;
};

export const createBudget = ({ maxCostUsd, maxTokens }: BudgetLimits, before?: SpentBefore): Budget => {
  const entry = (kind: Entry["kind"], limit: number | undefined, spent: number): readonly Entry[] =>
    limit === undefined ? [] : [{ kind, step: limit, limit, spent, isTold: false }];
  const entries = [
    ...entry("tokens", maxTokens, before ? contextTokens(before.usage) : 0),
    ...entry("cost", maxCostUsd, before?.costUsd ?? 0),
  ];
  const usedUp = (): Entry | undefined => entries.find(({ spent, limit }) => spent >= limit);

  let guess: "none" | "new" | "told" = "none";
  return {
    add: (usage, prices, origin) => {
      if (origin === "estimate" && guess === "none") guess = "new";
      for (const one of entries)
        one.spent += one.kind === "tokens" ? contextTokens(usage) : (costUsd(usage, prices) ?? 0);
    },
    states: () => entries.map(({ kind, limit, spent }) => ({ kind, limit, spent })),
    exhausted: (strings) => {
      const used = usedUp();
      if (!used) return undefined;
      return used.kind === "tokens" ? strings.budgetTokens(used.limit) : strings.budgetCost(amount(used, used.limit));
    },
    warnings: (strings) => {
      const near = entries.filter(({ spent, limit, isTold }) => !isTold && spent >= WARN_AT * limit);
      for (const one of near) one.isTold = true;
      const isNewGuess = guess === "new" && entries.length > 0;
      if (guess === "new") guess = "told";
      const texts = near.map((one) =>
        strings.budgetWarning(
          Math.floor((100 * one.spent) / one.limit),
          amount(one, one.spent),
          amount(one, one.limit),
        ),
      );
      return isNewGuess ? [strings.budgetGuess, ...texts] : texts;
    },
    extend: async (ask, signal, strings) => {
      // The other limit may be used up too: it is a question of its own.
      for (let used = usedUp(); used; used = usedUp()) {
        const added = await askFor(used, { ask, signal, strings });
        if (added === undefined) return;
        used.limit = Math.max(used.limit, used.spent) + added;
        used.isTold = false;
      }
    },
  };
};

/** How much more a person wants to spend; undefined = none. */
const askFor = async (
  one: Entry,
  { ask, signal, strings }: { readonly ask: Ask; readonly signal: AbortSignal; readonly strings: Strings["engine"] },
): Promise<number | undefined> => {
  const small = one.kind === "tokens" ? Math.ceil(one.step * SMALL_SHARE) : one.step * SMALL_SHARE;
  const title = strings.budgetQuestion(amount(one, one.spent), amount(one, one.limit));
  const options = [
    { id: "again", label: strings.budgetMore(amount(one, one.step)) },
    { id: "bit", label: strings.budgetMore(amount(one, small)) },
    { id: "stop", label: strings.budgetStop },
  ];
  const answer = await ask({ kind: "choice", title, options }, signal);
  if (!("choice" in answer) || signal.aborted) return undefined;
  if (answer.choice === "again") return one.step;
  return answer.choice === "bit" ? small : undefined;
};

const FIGURES = 4;

const amount = ({ kind }: Pick<Entry, "kind">, value: number): string =>
  kind === "tokens" ? `${value} tokens` : `$${Number(value.toPrecision(FIGURES))}`;
