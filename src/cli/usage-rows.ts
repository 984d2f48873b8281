import type { UsageGroup, UsageSum, UsageTable } from "../session/usage-table.ts";
import { printableJson } from "../text/printable-json.ts";
import { printableText } from "../text/printable-text.ts";
import type { Strings } from "../text/strings.ts";
import { apportion, formatCount, formatDollars } from "../ui/figures.ts";
import { cutRow, outputRow } from "../ui/rows.ts";
import { displayWidth } from "../ui/width.ts";

export type UsageRowsOptions = {
  readonly by: UsageGroup;
  /** Cells of a row, where the output is a terminal. */
  readonly width: number | undefined;
  readonly strings: Strings["usage"];
};

/** A row of titles, one for each group, and the total; each column adds up to its total as shown. */
export const usageRows = ({ rows, total }: UsageTable, { by, width, strings }: UsageRowsOptions): readonly string[] => {
  const units = Math.round(total.knownCostUsd * UNITS_PER_DOLLAR);
  const shares = apportion(
    units,
    rows.map(({ knownCostUsd }) => knownCostUsd),
  );
  const cells = [
    [strings.titles[by], ...strings.columns],
    ...rows.map((row, index) => [row.key || strings.unknown, ...figures(row, shares[index] ?? 0, strings)]),
    [strings.total, ...figures(total, units, strings)],
  ].map((row) => row.map((cell) => outputRow(printableText(cell).replaceAll("\n", " "))));
  if (width === undefined) return aligned(cells);
  return aligned(withoutNothing(cells)).map((row) => cutRow(row, width, "…"));
};

/** A terminal is narrow: a column of nothing would push out another one. */
const withoutNothing = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const sums = rows.at(-1) ?? [];
  return rows.map((row) => row.filter((_, column) => sums[column] !== "0"));
};

const COST_PLACES = 4;
const UNITS_PER_DOLLAR = 10 ** COST_PLACES;

const figures = (sum: UsageSum, units: number, strings: Strings["usage"]): readonly string[] => {
  const { usage } = sum;
  const counts = [
    sum.requests,
    sum.turns,
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.reasoningTokens,
  ];
  return [costText(sum, units, strings), ...counts.map(formatCount)];
};

const costText = ({ knownCostUsd, unpriced }: UsageSum, units: number, strings: Strings["usage"]): string => {
  const cost = formatDollars(units / UNITS_PER_DOLLAR, COST_PLACES);
  if (unpriced === 0) return cost;
  return knownCostUsd === 0 ? strings.unknown : strings.alsoUnknown(cost);
};

/** The first column to the left, figures to the right. */
const aligned = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ""))));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const blanks = " ".repeat((widths[column] ?? 0) - displayWidth(cell));
        return column === 0 ? cell + blanks : blanks + cell;
      })
      .join("  "),
  );
};

export type UsageJsonOptions = {
  readonly by: UsageGroup;
  readonly fromMs: number | null;
  readonly problems: readonly string[];
};

/** `--json`: the shape is in docs/sessions.md. */
export const usageJson = ({ rows, total }: UsageTable, { by, fromMs, problems }: UsageJsonOptions): string =>
  printableJson(
    {
      by,
      since: fromMs === null ? null : new Date(fromMs).toISOString(),
      rows: rows.map((row) => ({ [by]: row.key === "" ? null : row.key, ...sumJson(row) })),
      total: sumJson(total),
      problems,
    },
    { indent: 2 },
  );

const sumJson = ({ requests, turns, usage, knownCostUsd, unpriced }: UsageSum) => ({
  requests,
  turns,
  usage,
  costUsd: unpriced > 0 ? null : withoutDust(knownCostUsd),
  knownCostUsd: withoutDust(knownCostUsd),
});

/** Sums of fractions have errors in their last digits. */
const withoutDust = (usd: number): number => Math.round(usd * 1e10) / 1e10;
