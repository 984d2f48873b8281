import type { TrustItem } from "../config/trust-items.ts";
import { isHttpUrl, shownAddress } from "../text/address.ts";
import { visibleControls } from "../text/clean.ts";

/** All that trust would switch on, as rows of clean text. */
export const trustLines = (items: readonly TrustItem[], workDir: string): readonly string[] =>
  items.flatMap(({ origin, name, value }) => {
    const place = `${origin.startsWith(`${workDir}/`) ? origin.slice(workDir.length + 1) : origin}  ${name}`;
    const rows = Array.isArray(value)
      ? [place, ...value.map((part) => `    ${valueText(part)}`)]
      : [`${place}  ${valueText(value)}`];
    return rows.map(visibleRow);
  });

const valueText = (value: unknown): string => {
  if (typeof value !== "string") return JSON.stringify(value);
  return isHttpUrl(value) ? shownAddress(value) : value;
};

// A line break in a value would draw a row of its own.
const visibleRow = (text: string): string => visibleControls(text.replaceAll("\n", "\\n"));
