import { Text } from "ink";
import { memo } from "react";
import type { Line } from "../line.ts";

export type LinesProps = { readonly lines: readonly Line[]; readonly paint: (line: Line) => string };

/** Rows that fit the width already: nothing is wrapped or cut here. */
export const Lines = memo(({ lines, paint }: LinesProps) =>
  // A text of nothing would take no row at all.
  lines.length === 0 ? null : <Text>{lines.map(paint).join("\n") || " "}</Text>,
);
