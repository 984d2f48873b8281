import type { DiffHunk, ToolData } from "../../schema/tool.ts";

type DiffData = Extract<ToolData, { type: "diff" }>;

export type DiffOptions = {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** The line (1-based) that both texts begin at. */
  readonly firstLine?: number;
};

const CONTEXT_LINES = 3;
const TIMEOUT_MS = 300;
const MAX_LINES = 4000;
const MAX_LINE_LENGTH = 2000;

/** What a UI draws of a change. Null where the texts differ too much to be worth it or to be compared in time. */
export const fileDiff = async ({ path, before, after, firstLine = 1 }: DiffOptions): Promise<DiffData | null> => {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch(path, path, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
  });
  if (!patch) return null;
  const hunks = patch.hunks.map(
    (hunk): DiffHunk => ({
      oldStart: hunk.oldStart + firstLine - 1,
      oldLines: hunk.oldLines,
      newStart: hunk.newStart + firstLine - 1,
      newLines: hunk.newLines,
      // "\ No newline at end of file" is no line of either text.
      lines: hunk.lines.filter((line) => !line.startsWith("\\")).map(clip),
    }),
  );
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (lines.length > MAX_LINES) return null;
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { type: "diff", path, hunks, added: count("+"), removed: count("-") };
};

export type EditSpan = { readonly start: number; readonly end: number; readonly text: string };

/** The diff of one replacement, from the lines around it only, so that the size of the file does not matter. */
export const editDiff = (path: string, content: string, { start, end, text }: EditSpan): Promise<DiffData | null> => {
  const from = backLines(content, start);
  const to = aheadLines(content, end);
  let firstLine = 1;
  for (let at = content.indexOf("\n"); at !== -1 && at < from; at = content.indexOf("\n", at + 1)) firstLine += 1;
  return fileDiff({
    path,
    before: content.slice(from, to),
    after: content.slice(from, start) + text + content.slice(end, to),
    firstLine,
  });
};

/** The start of the line that is CONTEXT_LINES above the one at `at`. */
const backLines = (text: string, at: number): number => {
  let start = at;
  for (let lines = 0; lines <= CONTEXT_LINES && start > 0; lines += 1)
    start = start === 1 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  return start;
};

/** The end of the line that is CONTEXT_LINES below the one at `at`. */
const aheadLines = (text: string, at: number): number => {
  let end = at;
  for (let lines = 0; lines <= CONTEXT_LINES && end < text.length; lines += 1) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  return end;
};

const clip = (line: string): string => (line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line);
