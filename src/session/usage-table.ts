import { addUsage, contextTokens, NO_USAGE, type Usage } from "../schema/model.ts";
import { localTime } from "../text/local-time.ts";
import type { UsageRecord } from "./usage.ts";

export const USAGE_GROUPS = ["day", "model", "project"] as const;

export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What was used together. */
export type UsageSum = {
  readonly requests: number;
  readonly turns: number;
  readonly usage: Usage;
  /** Of the requests whose cost is known. */
  readonly knownCostUsd: number;
  /** How many requests have an unknown cost. */
  readonly unpriced: number;
};

export type UsageRow = UsageSum & {
  /** The local day as `2026-04-29`, `provider/model`, or the work directory; empty where it is not known. */
  readonly key: string;
};

export type UsageTable = { readonly rows: readonly UsageRow[]; readonly total: UsageSum };

const NOTHING: UsageSum = { requests: 0, turns: 0, usage: NO_USAGE, knownCostUsd: 0, unpriced: 0 };

/** Adds up records by group. Days come in their order, the others by their tokens, the most first. */
export const createUsageTable = (
  group: UsageGroup,
): { readonly add: (record: UsageRecord) => void; readonly table: () => UsageTable } => {
  const sums = new Map<string, UsageSum>();
  return {
    add: (record) => {
      const key = keyOf(record, group);
      sums.set(key, plus(sums.get(key) ?? NOTHING, ofRecord(record)));
    },
    table: () => {
      const rows = [...sums].map(([key, sum]) => ({ key, ...sum })).sort(group === "day" ? byKey : byTokens);
      return { rows, total: rows.reduce<UsageSum>(plus, NOTHING) };
    },
  };
};

const keyOf = ({ time, provider, model, workDir }: UsageRecord, group: UsageGroup): string => {
  switch (group) {
    case "day":
      return localDay(time);
    case "model":
      return provider === "" ? "" : `${provider}/${model}`;
    case "project":
      return workDir;
    default:
      return group satisfies never;
  }
};

const localDay = (time: string): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const { year, month, day } = localTime(date);
  // Of another year no clock of ours has known.
  return /^\d{4}$/.test(year) ? `${year}-${month}-${day}` : "";
};

const ofRecord = ({ requests, turns, usage, costUsd }: UsageRecord): UsageSum => ({
  requests,
  turns,
  usage,
  knownCostUsd: costUsd ?? 0,
  unpriced: costUsd === null ? 1 : 0,
});

const plus = (a: UsageSum, b: UsageSum): UsageSum => ({
  requests: a.requests + b.requests,
  turns: a.turns + b.turns,
  usage: addUsage(a.usage, b.usage),
  knownCostUsd: a.knownCostUsd + b.knownCostUsd,
  unpriced: a.unpriced + b.unpriced,
});

const byKey = (a: UsageRow, b: UsageRow): number => (a.key < b.key ? -1 : 1);

const byTokens = (a: UsageRow, b: UsageRow): number => contextTokens(b.usage) - contextTokens(a.usage) || byKey(a, b);
