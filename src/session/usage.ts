import { addUsage, contextTokens, NO_USAGE, type Usage } from "../schema/model.ts";
import type { JournalEntry } from "./journal.ts";
import { countsAnew } from "./usage-beside.ts";

/** A turn, a request to a model, or what a run has used beyond the requests that are known. */
export type UsageRecord = {
  /** ISO 8601, as the event has it. */
  readonly time: string;
  /** Of the run; empty where its start is not known. */
  readonly workDir: string;
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  readonly requests: number;
  readonly usage: Usage;
  /** Null where it is not known, as with a server that gave no figures. */
  readonly costUsd: number | null;
};

/** The entries that `UsageReader` looks at. */
export const USAGE_ENTRIES: readonly JournalEntry["type"][] = [
  "session",
  "run.started",
  "turn.started",
  "usage.updated",
  "run.completed",
];

export interface UsageReader {
  /** For the entries of one journal, in order. Returns what each has used that no journal before has told of. */
  open(): (entry: JournalEntry) => UsageRecord | undefined;
}

/** What a session has used in its newest run so far, or since that has ended. */
type Open = Pick<UsageRecord, "workDir" | "provider" | "model" | "usage" | "costUsd">;

const UNKNOWN: Open = { workDir: "", provider: "", model: "", usage: NO_USAGE, costUsd: 0 };

/**
 * Counts what many journals tell of once: a fork has the first lines of another session, which may be gone. Child
 * sessions count with the model of their own.
 */
export const createUsageReader = (): UsageReader => {
  // By session: the copies of its lines are beginnings of the same list, so the newest number says which are known.
  const counted = new Map<string, number>();
  return {
    open: () => {
      const sessions = new Map<string, Open>();
      return (entry) => {
        if (!("seq" in entry)) return undefined;
        const { sessionId, seq, time } = entry;
        const before = sessions.get(sessionId) ?? UNKNOWN;
        const { open, ...used } = step(before, entry);
        sessions.set(sessionId, open);
        if (seq <= (counted.get(sessionId) ?? 0)) return undefined;
        counted.set(sessionId, seq);
        const { workDir, provider, model } = open;
        return isNothing(used) ? undefined : { time, workDir, provider, model, ...used };
      };
    },
  };
};

type Used = Pick<UsageRecord, "turns" | "requests" | "usage" | "costUsd">;

const NOTHING: Used = { turns: 0, requests: 0, usage: NO_USAGE, costUsd: 0 };

const step = (open: Open, entry: JournalEntry): Used & { readonly open: Open } => {
  switch (entry.type) {
    case "run.started": {
      const { workDir, provider, model } = entry;
      return { ...NOTHING, open: { ...UNKNOWN, workDir, provider, model } };
    }
    case "turn.started":
      return { ...NOTHING, turns: 1, open };
    case "usage.updated": {
      const counted = countsAnew(entry) ? { ...open, usage: NO_USAGE, costUsd: 0 } : open;
      return { ...since(counted, entry.total, entry.costUsd), requests: 1 };
    }
    case "run.completed": {
      // Requests between runs have sums of their own.
      const { open: ended, ...used } = since(open, entry.usage, entry.costUsd);
      return { ...used, open: { ...ended, usage: NO_USAGE, costUsd: 0 } };
    }
    default:
      return { ...NOTHING, open };
  }
};

/** The sums of a run count, and not the figures of each request: a line may be lost. */
const since = (before: Open, usage: Usage, costUsd: number | null): Used & { readonly open: Open } => {
  const grown = minus(usage, before.usage);
  // The start of this run is lost.
  const used = isNegative(grown) ? usage : grown;
  const paid = isNegative(grown) ? 0 : before.costUsd;
  return {
    turns: 0,
    requests: 0,
    usage: used,
    costUsd: costOf(before.provider, used, costUsd === null || paid === null ? null : costUsd - paid),
    open: { ...before, usage, costUsd },
  };
};

const costOf = (provider: string, used: Usage, costUsd: number | null): number | null => {
  // Nobody is paid for the demonstration.
  if (provider === "offline") return 0;
  // A server that gives no figures is not free, and a figure that nobody could have paid is damage.
  const isKnown = costUsd !== null && costUsd > -DUST_USD && costUsd < MAX_USD && contextTokens(used) > 0;
  return isKnown ? Math.max(0, costUsd) : null;
};

/** Differences of sums of fractions have errors in their last digits. */
const DUST_USD = 1e-9;
const MAX_USD = 1e9;

const isNothing = ({ turns, requests, usage }: Used): boolean =>
  turns === 0 && requests === 0 && contextTokens(usage) === 0;

const minus = (a: Usage, b: Usage): Usage =>
  addUsage(a, {
    inputTokens: -b.inputTokens,
    outputTokens: -b.outputTokens,
    cacheReadTokens: -b.cacheReadTokens,
    cacheWriteTokens: -b.cacheWriteTokens,
    reasoningTokens: -b.reasoningTokens,
  });

const isNegative = (usage: Usage): boolean => Object.values(usage).some((tokens) => tokens < 0);
