import { isUtf8 } from "node:buffer";
import { unifiedDiff } from "../tools/workspace/unified-diff.ts";
import { type BytePath, linePath, shownPath } from "./byte-path.ts";
import type { ObjectStore } from "./object-store.ts";
import type { FileChange } from "./snapshots.ts";
import type { State } from "./tree.ts";

export type Change = { readonly path: BytePath; readonly from: State; readonly to: State };

/** The time that all comparisons of one answer may take; what is left then has no lines. */
export type Patience = { readonly until: number; readonly now: () => number };

const MAX_TEXT_BYTES = 1024 * 1024;
const BINARY_HEAD = 8000;

export const patience = (now: () => number): Patience => ({ until: now() + 3000, now });

export const fileChange = async (store: ObjectStore, change: Change, limit: Patience): Promise<FileChange> =>
  (await changeWithDiff(store, change, limit)).change;

/** Without lines: the bytes of one side may not be in the store. */
export const uncompared = ({ path, from, to }: Change): FileChange => ({
  path: shownPath(path),
  kind: kindOf(from, to),
  lines: null,
});

const kindOf = (from: State, to: State): FileChange["kind"] => {
  if (from.type === "none") return "added";
  return to.type === "none" ? "removed" : "changed";
};

/** The change, and a unified diff with git's words where no lines can tell it. */
export const changeWithDiff = async (store: ObjectStore, { path, from, to }: Change, limit: Patience) => {
  const kind = kindOf(from, to);
  const name = linePath(path);
  const names = {
    before: kind === "added" ? "/dev/null" : `a/${name}`,
    after: kind === "removed" ? "/dev/null" : `b/${name}`,
  };
  const modes = modeLines(from, to);
  const isSame = from.type === "file" && to.type === "file" && from.hash === to.hash;
  const body = isSame ? "" : await textDiff(store, { from, to, names }, limit);
  const change: FileChange = { path: shownPath(path), kind, lines: body === null ? null : countLines(body) };
  const said = body ?? `Binary files ${names.before} and ${names.after} differ`;
  return { change, diff: [...modes, ...(said === "" ? [] : [said])].join("\n") };
};

type Names = { readonly before: string; readonly after: string };
type Sides = Pick<Change, "from" | "to"> & { readonly names: Names };

const textDiff = async (store: ObjectStore, { from, to, names }: Sides, { until, now }: Patience) => {
  // Reading thousands of files takes its time as well.
  if (now() > until) return null;
  const [before, after] = [textOf(store, from), textOf(store, to)];
  if (before === null || after === null) return null;
  if (before === "") return wholeDiff("+", after, names);
  if (after === "") return wholeDiff("-", before, names);
  return unifiedDiff({ before: { name: names.before, text: before }, after: { name: names.after, text: after } });
};

/** All lines are new, or all are gone: nothing to compare. */
const wholeDiff = (sign: "+" | "-", text: string, { before, after }: Names): string => {
  if (text === "") return "";
  const lines = text.split("\n");
  const hasEnd = lines.at(-1) === "";
  if (hasEnd) lines.pop();
  const range = sign === "+" ? `@@ -0,0 +1,${lines.length} @@` : `@@ -1,${lines.length} +0,0 @@`;
  const end = hasEnd ? [] : ["\\ No newline at end of file"];
  return [`--- ${before}`, `+++ ${after}`, range, ...lines.map((line) => sign + line), ...end].join("\n");
};

/** Without the two lines of the head. */
const countLines = (diff: string): { added: number; removed: number } => {
  const lines = diff.split("\n").slice(2);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count("+"), removed: count("-") };
};

/** Empty where nothing stands; null where it is no text or too long. A link is its target, as for git. */
const textOf = (store: ObjectStore, state: State): string | null => {
  switch (state.type) {
    case "none":
      return "";
    case "link":
      return shownPath(state.target);
    case "out":
      return null;
    case "file": {
      if (state.size > MAX_TEXT_BYTES) return null;
      const bytes = store.get(state.hash);
      return bytes.subarray(0, BINARY_HEAD).includes(0) || !isUtf8(bytes) ? null : bytes.toString("utf8");
    }
    default:
      throw state satisfies never;
  }
};

const modeLines = (from: State, to: State): string[] => {
  const [before, after] = [gitMode(from), gitMode(to)];
  if (before === after) return [];
  if (before === null) return [`new file mode ${after}`];
  if (after === null) return [`deleted file mode ${before}`];
  return [`old mode ${before}`, `new mode ${after}`];
};

const gitMode = (state: State): string | null => {
  if (state.type === "link") return "120000";
  return state.type === "file" ? `100${state.mode.toString(8).padStart(3, "0")}` : null;
};
