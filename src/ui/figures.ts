const UNITS = [
  { suffix: "", size: 1 },
  { suffix: "k", size: 1e3 },
  { suffix: "M", size: 1e6 },
  { suffix: "B", size: 1e9 },
] as const;

/** A number of tokens in at most six characters below a trillion: `999`, `14.2k`, `1.2M`. */
export const formatTokens = (tokens: number): string => {
  for (const { suffix, size } of UNITS) {
    const rounded = Math.round((tokens / size) * 10) / 10;
    // Rounding can reach the next unit: 999,960 is 1M, not 1000k.
    if (rounded < 1000 || size === 1e9) return `${rounded}${suffix}`;
  }
  return String(tokens);
};

/** A whole number with separators: `1,234,567`. */
export const formatCount = (count: number): string => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");

/** US dollars with as many places as matter: `$12.30`, `$0.061`, `<$0.001`, `$0`. */
export const formatCost = (usd: number): string => {
  if (usd === 0) return "$0";
  if (usd < 0.001) return "<$0.001";
  return formatDollars(usd, usd < 0.9995 ? 3 : 2);
};

/** US dollars with exactly so many places: `$1,234.5000`. */
export const formatDollars = (usd: number, places: number): string => {
  const [whole = "", fraction] = usd.toFixed(places).split(".");
  const grouped = formatCount(Number(whole));
  return fraction === undefined ? `$${grouped}` : `$${grouped}.${fraction}`;
};

/** Tenths of a percent: 71 is `7.1%`. */
export const formatTenths = (tenths: number): string => `${(tenths / 10).toFixed(1)}%`;

/**
 * Whole numbers in proportion to the weights that add up to `total` exactly (largest remainder).
 * Where nothing has weight, the first takes all.
 */
export const apportion = (total: number, weights: readonly number[]): number[] => {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (sum === 0) return weights.map((_, index) => (index === 0 ? total : 0));
  const exact = weights.map((weight) => (total * weight) / sum);
  const shares = exact.map(Math.floor);
  const remaining = total - shares.reduce((all, share) => all + share, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder)
    .slice(0, remaining);
  for (const { index } of byRemainder) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
};
