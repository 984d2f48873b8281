import fc from "fast-check";
import { expect, test } from "vitest";
import { usageJson, usageRows } from "../../src/cli/usage-rows.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import type { UsageRecord } from "../../src/session/usage.ts";
import { createUsageTable, USAGE_GROUPS, type UsageGroup } from "../../src/session/usage-table.ts";
import { loadStrings } from "../../src/text/strings.ts";
import { displayWidth } from "../../src/ui/width.ts";

const { usage: strings } = await loadStrings("en");

const record = (more: Partial<UsageRecord>): UsageRecord => ({
  time: new Date(2026, 10, 30, 12).toISOString(),
  workDir: "/code/app",
  provider: "openai",
  model: "gpt",
  turns: 0,
  requests: 1,
  usage: NO_USAGE,
  costUsd: 0,
  ...more,
});

const tableOf = (by: UsageGroup, records: readonly UsageRecord[]) => {
  const table = createUsageTable(by);
  for (const one of records) table.add(one);
  return table.table();
};

const RECORDS = [
  record({ turns: 1, usage: { ...NO_USAGE, inputTokens: 1000, outputTokens: 20, reasoningTokens: 5 }, costUsd: 0.25 }),
  record({
    time: new Date(2026, 10, 29, 23, 59).toISOString(),
    usage: { ...NO_USAGE, cacheReadTokens: 7 },
    costUsd: 0.5,
  }),
  record({
    provider: "ollama",
    model: "llama",
    workDir: "/code/b\u001b[31m",
    usage: { ...NO_USAGE, inputTokens: 9 },
    costUsd: null,
  }),
  record({ time: "no time", provider: "", model: "", workDir: "", costUsd: 0 }),
];

const rows = (by: UsageGroup) => usageRows(tableOf(by, RECORDS), { by, width: undefined, strings });

test("days in their order, each column with its sum; an unknown cost is never nothing", () => {
  expect(rows("day")).toEqual([
    "day                      cost  requests  turns  input  output  cache read  cache write  reasoning",
    "unknown               $0.0000         1      0      0       0           0            0          0",
    "2026-11-29            $0.5000         1      0      0       0           7            0          0",
    "2026-11-30  $0.2500 + unknown         2      1  1,009      20           0            0          5",
    "total       $0.7500 + unknown         4      1  1,009      20           7            0          5",
  ]);
});

test("in a terminal, columns of nothing make room for the others", () => {
  expect(usageRows(tableOf("day", RECORDS.slice(0, 2)), { by: "day", width: 80, strings })).toEqual([
    "day            cost  requests  turns  input  output  cache read  reasoning",
    "2026-11-29  $0.5000         1      0      0       0           7          0",
    "2026-11-30  $0.2500         1      1  1,000      20           0          5",
    "total       $0.7500         2      1  1,000      20           7          5",
  ]);
});

test("models and folders, the most tokens first; names of others are cleaned", () => {
  expect(rows("model").map((row) => row.split(/\s{2,}/)[0])).toEqual([
    "model",
    "openai/gpt",
    "ollama/llama",
    "unknown",
    "total",
  ]);
  expect(rows("project").map((row) => row.split(/\s{2,}/)[0])).toEqual([
    "folder",
    "/code/app",
    "/code/b",
    "unknown",
    "total",
  ]);
});

test("as JSON: null where a cost is not known, with what is known of it", () => {
  const none = { requests: 1, turns: 0, usage: NO_USAGE, costUsd: 0, knownCostUsd: 0 };
  expect(JSON.parse(usageJson(tableOf("model", RECORDS), { by: "model", fromMs: 0, problems: ["p"] }))).toEqual({
    by: "model",
    since: "1970-01-01T00:00:00.000Z",
    rows: [
      {
        model: "openai/gpt",
        requests: 2,
        turns: 1,
        usage: { ...NO_USAGE, inputTokens: 1000, outputTokens: 20, cacheReadTokens: 7, reasoningTokens: 5 },
        costUsd: 0.75,
        knownCostUsd: 0.75,
      },
      { ...none, model: "ollama/llama", usage: { ...NO_USAGE, inputTokens: 9 }, costUsd: null },
      { ...none, model: null },
    ],
    total: {
      requests: 4,
      turns: 1,
      usage: { ...NO_USAGE, inputTokens: 1009, outputTokens: 20, cacheReadTokens: 7, reasoningTokens: 5 },
      costUsd: null,
      knownCostUsd: 0.75,
    },
    problems: ["p"],
  });
});

test("whatever was used, the costs that are shown add up to the total, and no row is wider than the terminal", () => {
  const used = fc.record({
    workDir: fc.constantFrom("/a", "/b", "/c", "/很长的目录"),
    costUsd: fc.oneof(fc.constant(null), fc.double({ min: 0, max: 50, noNaN: true })),
    tokens: fc.nat(1e9),
  });
  fc.assert(
    fc.property(
      fc.array(used, { maxLength: 12 }),
      fc.constantFrom(...USAGE_GROUPS),
      fc.integer({ min: 20, max: 120 }),
      (all, by, width) => {
        const table = tableOf(
          by,
          all.map(({ tokens, ...rest }) => record({ ...rest, usage: { ...NO_USAGE, inputTokens: tokens } })),
        );
        const cents = usageRows(table, { by, width: undefined, strings })
          .slice(1)
          .map((row) => {
            const [, whole = "0"] = /\$([\d,]+\.\d{4})/.exec(row) ?? [];
            return Math.round(Number(whole.replaceAll(",", "")) * 10_000);
          });
        const total = cents.pop();
        expect(cents.reduce((sum, one) => sum + one, 0)).toBe(total);
        for (const row of usageRows(table, { by, width, strings }))
          expect(displayWidth(row)).toBeLessThanOrEqual(width);
      },
    ),
  );
});
