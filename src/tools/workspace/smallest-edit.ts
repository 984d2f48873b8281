import { fuzzyReplace, type Replacement } from "./fuzzy-replace.ts";
import { commonPrefix, commonSuffix } from "./line-endings.ts";
import { occurrences } from "./occurrences.ts";
import { splitLines } from "./split-lines.ts";

export type SmallestEdit = {
  readonly source: string;
  readonly target: string;
  /** Only `replaceExactly` leaves the wanted text: its line endings are not those that the file would give it. */
  readonly isExact: boolean;
};

/**
 * The fewest whole lines of `before` that stand there once, and what to put in their place to have `after`. The texts
 * differ, and `before` is not blank.
 */
export const smallestEdit = (before: string, after: string): SmallestEdit => {
  const [old, wanted] = [splitLines(before), splitLines(after)];
  const head = commonPrefix(old, wanted);
  const tail = commonSuffix(old, wanted, head);
  const widened = (by: number) => {
    const [above, below] = [Math.max(0, head - by), Math.max(0, tail - by)];
    return {
      source: old.slice(above, old.length - below).join(""),
      target: wanted.slice(above, wanted.length - below).join(""),
    };
  };
  const isFound = (by: number): boolean => {
    const { source, target } = widened(by);
    const found = fuzzyReplace(before, source, target);
    return found.ok || found.kind === "no-change";
  };
  const { source, target } = widened(firstThat(isFound, Math.max(head, tail)));
  const found = fuzzyReplace(before, source, target);
  return { source, target, isExact: !(found.ok && found.content === after) };
};

/** The one place where `source` stands, with `target` as it is. */
export const replaceExactly = (content: string, source: string, target: string): Replacement => {
  if (source === target) return { ok: false, kind: "no-change" };
  // Half of a CRLF is no match, as for `fuzzyReplace`.
  const isWhole = (at: number): boolean => !(content[at] === "\n" && content[at - 1] === "\r");
  const matches = source === "" ? [] : occurrences(content, source, ({ start, end }) => isWhole(start) && isWhole(end));
  const [match] = matches;
  if (!match || matches.length > 1) {
    const found = fuzzyReplace(content, source, target);
    return found.ok ? { ok: false, kind: "not-found" } : found;
  }
  const { start, end } = match;
  return { ok: true, content: content.slice(0, start) + target + content.slice(end), level: 1, ...match, text: target };
};

/** The least number that satisfies what every greater one does too; `most` where none below does. */
const firstThat = (holds: (number: number) => boolean, most: number): number => {
  let [low, high] = [0, 0];
  while (high < most && !holds(high)) {
    low = high + 1;
    high = Math.min(most, 2 * high + 1);
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
};
