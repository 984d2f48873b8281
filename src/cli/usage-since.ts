import { localTime } from "../text/local-time.ts";

/**
 * Where `--since` begins, in milliseconds: `2026-11-01` at the start of that local day, `30d` and `4w` at the start of
 * the local day so long ago, `12h` and `90m` that long ago. Undefined for what is none of these.
 */
export const sinceMs = (text: string, now: Date): number | undefined => {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year !== undefined) return startOfDay(text, Number(year), Number(month) - 1, Number(day));
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  switch (unit) {
    case "m":
      return now.getTime() - Number(amount) * 60_000;
    case "h":
      return now.getTime() - Number(amount) * 3_600_000;
    case "d":
      return daysBefore(now, Number(amount));
    case "w":
      return daysBefore(now, 7 * Number(amount));
    default:
      return undefined;
  }
};

// By the calendar: a day of a change of the clock has other than 24 hours.
const daysBefore = (now: Date, days: number): number =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();

/** Undefined for a day that no month has. */
const startOfDay = (text: string, year: number, month: number, day: number): number | undefined => {
  const date = new Date(year, month, day);
  const { year: y, month: m, day: d } = localTime(date);
  return `${y}-${m}-${d}` === text ? date.getTime() : undefined;
};
