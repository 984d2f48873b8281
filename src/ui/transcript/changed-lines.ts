import type { ToolData } from "../../schema/tool.ts";
import { type Line, type Role, span } from "../line.ts";
import { checkedRow } from "../rows.ts";
import { type Part, resemblance, wordDiff } from "./word-diff.ts";

export type DiffData = Extract<ToolData, { type: "diff" }>;

/** One line of a diff, safe to draw, or the gap between two hunks. `number` is the old file's for a removed line. */
export type ChangedLine = {
  readonly kind: "context" | "removed" | "added" | "gap";
  readonly number: number;
  readonly text: string;
};

const GAP: ChangedLine = { kind: "gap", number: 0, text: "" };
// A removed line's new form is looked for among so many added ones.
const PAIR_WINDOW = 8;
const MIN_RESEMBLANCE = 0.4;
const MAX_COMPARED = 2000;

/** The lines of all hunks with their numbers. */
export const changedLines = ({ hunks }: DiffData): ChangedLine[] => {
  // That all lines of a file end in CRLF is no news; that one of them differs is.
  const end = hunks.every(({ lines }) => lines.every((line) => line.endsWith("\r"))) ? -1 : undefined;
  return hunks.flatMap((hunk, index) => {
    let oldNumber = hunk.oldStart;
    let newNumber = hunk.newStart;
    const lines = hunk.lines.map((line): ChangedLine => {
      const kind = kindOf(line);
      const number = kind === "removed" ? oldNumber : newNumber;
      if (kind !== "added") oldNumber += 1;
      if (kind !== "removed") newNumber += 1;
      return { kind, number, text: checkedRow(line.slice(1, end)) };
    });
    return index === 0 ? lines : [GAP, ...lines];
  });
};

const kindOf = (line: string): "context" | "removed" | "added" => {
  if (line.startsWith("-")) return "removed";
  return line.startsWith("+") ? "added" : "context";
};

/** The texts of the lines with their roles; words that changed stand out where a line was changed, not replaced. */
export const markedTexts = (lines: readonly ChangedLine[]): Line[] => {
  const marked = new Map<ChangedLine, Line>();
  for (let at = 0; at < lines.length; ) {
    const removed = runOf("removed", lines, at);
    const added = runOf("added", lines, at + removed.length);
    markPairs(removed, added, marked);
    at += Math.max(1, removed.length + added.length);
  }
  return lines.map((line) => marked.get(line) ?? [span(line.text, ...rolesOf(line))]);
};

/** How the sign and the text of a line look. */
export const rolesOf = ({ kind }: ChangedLine): readonly Role[] =>
  kind === "added" || kind === "removed" ? [kind] : [];

const runOf = (kind: ChangedLine["kind"], lines: readonly ChangedLine[], from: number): readonly ChangedLine[] => {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return lines.slice(from, end);
};

const markPairs = (
  removed: readonly ChangedLine[],
  added: readonly ChangedLine[],
  marked: Map<ChangedLine, Line>,
): void => {
  let from = 0;
  for (const before of removed) {
    const index = mostAlike(before, added, from);
    const after = added[index];
    const words = after && wordDiff(before.text, after.text);
    if (!words) continue;
    marked.set(
      before,
      words.before.map((part) => wordSpan(part, "removed", "removedWord")),
    );
    marked.set(
      after,
      words.after.map((part) => wordSpan(part, "added", "addedWord")),
    );
    from = index + 1;
  }
};

/** The index of the added line that is most like `before`; -1 where none is. */
const mostAlike = (before: ChangedLine, added: readonly ChangedLine[], from: number): number => {
  let best = { index: -1, score: MIN_RESEMBLANCE };
  if (before.text.length > MAX_COMPARED) return best.index;
  for (let index = from; index < Math.min(added.length, from + PAIR_WINDOW); index += 1) {
    const text = added[index]?.text ?? "";
    const score = text.length > MAX_COMPARED ? 0 : resemblance(before.text, text);
    if (score > best.score) best = { index, score };
  }
  return best.index;
};

const wordSpan = ({ text, isChanged }: Part, line: Role, word: Role) => span(text, line, ...(isChanged ? [word] : []));
