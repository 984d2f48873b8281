import type { EngineEvent } from "../schema/event.ts";
import { addUsage, contextTokens, NO_USAGE, type Usage } from "../schema/model.ts";
import { countsAnew } from "./usage-beside.ts";

/** What a session has come to. */
export type Totals = {
  readonly runs: number;
  readonly turns: number;
  readonly usage: Usage;
  /** Null as soon as the cost of one run is not known. */
  readonly costUsd: number | null;
  /** Of the newest run. */
  readonly provider: string;
  readonly model: string;
  /** How the first prompt begins, on one line. */
  readonly prompt: string;
};

export interface TotalsFold {
  add(event: EngineEvent): void;
  /** A run that goes on, or was killed, counts as far as it came. */
  totals(): Totals;
}

type Spent = Pick<Totals, "turns" | "usage" | "costUsd">;

const MAX_PROMPT_CHARACTERS = 120;
const NOTHING: Spent = { turns: 0, usage: NO_USAGE, costUsd: 0 };

/** Adds up a session's events, after those that `before` has counted. */
export const createTotals = (before?: Totals): TotalsFold => {
  let settled: Spent = before ?? NOTHING;
  let open: Spent = NOTHING;
  let runs = before?.runs ?? 0;
  let { provider = "", model = "", prompt = "" } = before ?? {};

  const settle = (): void => {
    settled = sum(settled, open);
    open = NOTHING;
  };

  return {
    add: (event) => {
      // A child session has limits and figures of its own.
      if (event.parentToolCallId !== undefined) return;
      switch (event.type) {
        case "run.started":
          settle();
          runs += 1;
          ({ provider, model } = event);
          break;
        case "input.added":
          if (prompt === "" && event.source !== "hook" && event.source !== "reminder")
            prompt = firstWords(event.content);
          break;
        case "turn.started":
          open = { ...open, turns: event.turn ?? open.turns };
          break;
        case "usage.updated":
          if (countsAnew(event)) settle();
          open = { ...open, usage: event.total, costUsd: event.costUsd };
          break;
        case "run.completed":
          open = { turns: event.turns, usage: event.usage, costUsd: costOf(event, open) };
          settle();
      }
    },
    totals: () => ({ runs, ...sum(settled, open), provider, model, prompt }),
  };
};

/** A run that has ended before its first answer knows no cost: it has none. */
const costOf = ({ usage, costUsd }: EngineEvent<"run.completed">, open: Spent): number | null =>
  open.usage === NO_USAGE && contextTokens(usage) === 0 ? 0 : costUsd;

const sum = (a: Spent, b: Spent): Spent => ({
  turns: a.turns + b.turns,
  usage: addUsage(a.usage, b.usage),
  costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
});

const firstWords = (content: string): string => {
  const line = content
    .slice(0, MAX_PROMPT_CHARACTERS * 4)
    .trim()
    .replace(/\s+/g, " ");
  return [...line].slice(0, MAX_PROMPT_CHARACTERS).join("");
};
