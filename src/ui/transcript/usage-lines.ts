import { costUsd, type Prices } from "../../schema/model.ts";
import type { Strings } from "../../text/strings.ts";
import { apportion, formatCount, formatDollars } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import type { Line } from "../line.ts";
import { noteLines, type TableRow, tableLines } from "./table-lines.ts";
import type { SessionUsage } from "./transcript.ts";

export type CostLinesOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["commands"];
};

/**
 * `/cost`: tokens by kind with price and cost; each column adds up to its total as shown. Costs are by row only where
 * the present prices explain what was paid: after a change of model they would not be true.
 */
export const costLines = (
  used: Pick<SessionUsage, "usage" | "costUsd" | "runs" | "turns">,
  prices: Prices | null,
  { width, glyphs, strings: { cost: strings } }: CostLinesOptions,
): Line[] => {
  const { usage } = used;
  const kinds = [
    { name: strings.input, tokens: usage.inputTokens, price: prices?.input },
    { name: strings.cacheRead, tokens: usage.cacheReadTokens, price: prices?.cacheRead },
    { name: strings.cacheWrite, tokens: usage.cacheWriteTokens, price: prices?.cacheWrite },
    { name: strings.output, tokens: usage.outputTokens, price: prices?.output },
  ];
  const places = placesFor(used.costUsd ?? 0);
  // The smallest amount that is shown; sums of whole numbers are exact.
  const units = Math.round((used.costUsd ?? 0) * 10 ** places);
  const dollars = (amount: number): string => formatDollars(amount / 10 ** places, places);
  const total = used.costUsd === null ? "" : dollars(units);
  const weights = kinds.map(({ tokens, price = 0 }) => tokens * price);
  const costs = isExplained(used, prices) ? apportion(units, weights).map(dollars) : undefined;
  const rows = kinds.map(({ name, tokens, price }, index): TableRow => {
    const priced = costs === undefined || price === undefined ? [] : [formatPrice(price), costs[index] ?? ""];
    return { kind: "value", cells: [name, formatCount(tokens), ...priced] };
  });
  const reasoning: TableRow = {
    kind: "detail",
    cells: [`  ${strings.reasoning}`, `(${formatCount(usage.reasoningTokens)})`],
  };
  const sum = kinds.reduce((all, { tokens }) => all + tokens, 0);
  const table = {
    columns: [
      { title: strings.tokens, align: "left" },
      { title: strings.count, align: "right" },
      ...(costs === undefined ? [] : [{ title: strings.price, align: "right" } as const]),
      ...(total === "" ? [] : [{ title: strings.cost, align: "right" } as const]),
    ],
    rows: [
      ...rows,
      ...(usage.reasoningTokens > 0 ? [reasoning] : []),
      {
        kind: "total",
        cells: [
          strings.total,
          formatCount(sum),
          ...(costs === undefined ? [] : [""]),
          ...(total === "" ? [] : [total]),
        ],
      },
    ],
  } as const;
  const problem = costs === undefined ? problemOf(used, prices, strings) : undefined;
  return [
    ...tableLines(table, width),
    [],
    ...(problem === undefined ? [] : noteLines(problem, width)),
    ...noteLines(factsOf(used, strings).join(` ${glyphs.dot} `), width),
  ];
};

const problemOf = (
  { costUsd: paid }: Pick<SessionUsage, "costUsd">,
  prices: Prices | null,
  strings: Strings["commands"]["cost"],
): string => {
  if (prices === null) return strings.priceUnknown;
  return paid === null ? strings.earlierUnknown : strings.pricesMixed;
};

const factsOf = (
  { usage, runs, turns }: Pick<SessionUsage, "usage" | "runs" | "turns">,
  strings: Strings["commands"]["cost"],
): string[] => {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const cached = usage.cacheReadTokens;
  return [
    strings.runs(runs),
    strings.turns(turns),
    // Rounded down: 100% is said only of all.
    ...(cached > 0 ? [strings.cached(`${Math.floor((100 * cached) / input)}%`)] : []),
  ];
};

/** What was paid is what these prices make of these tokens, but for the error of many small sums. */
const isExplained = (
  { usage, costUsd: paid }: Pick<SessionUsage, "usage" | "costUsd">,
  prices: Prices | null,
): boolean => {
  const computed = costUsd(usage, prices);
  return computed !== null && paid !== null && Math.abs(computed - paid) <= 1e-9 + 1e-6 * computed;
};

/** Enough places that a cent's hundredth shows, and of less its own figures. */
const placesFor = (total: number): number => (total === 0 || total >= 0.01 ? 4 : 6);

/** A price as it is published: at least two places. */
const formatPrice = (usd: number): string => {
  const [, fraction = ""] = String(usd).split(".");
  return formatDollars(usd, Math.min(6, Math.max(2, fraction.length)));
};
