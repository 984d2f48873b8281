import type { DiffHunk } from "../../schema/tool.ts";
import { splitLines } from "./split-lines.ts";

export type Change = {
  readonly before: string;
  readonly after: string;
  /** All of it, from above to below, as `fileDiff` gives them. */
  readonly hunks: readonly DiffHunk[];
};

/** The text with only these hunks of a change (indices into `hunks`); the others are as they were before. */
export const keepHunks = ({ before, after, hunks }: Change, kept: Iterable<number>): string => {
  const isKept = new Set(kept);
  const [old, wanted] = [splitLines(before), splitLines(after)];
  const parts: string[] = [];
  let next = 0;
  for (const [index, { oldStart, oldLines, newStart, newLines }] of hunks.entries()) {
    // Not the hunk's own lines: these are cut where they are long, and know no line endings.
    parts.push(...wanted.slice(next, newStart - 1));
    const lines = isKept.has(index)
      ? wanted.slice(newStart - 1, newStart - 1 + newLines)
      : old.slice(oldStart - 1, oldStart - 1 + oldLines);
    parts.push(...lines);
    next = newStart - 1 + newLines;
  }
  return [...parts, ...wanted.slice(next)].join("");
};
