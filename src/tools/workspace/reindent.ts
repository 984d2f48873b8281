import { commonPrefix, commonSuffix } from "./line-endings.ts";

const COLUMNS_PER_TAB = 4;
const BARE = /^[ \t]+/;

export type Reindent = {
  /** The matched lines as they stand in the file. */
  readonly file: readonly string[];
  /** The same lines as the model wrote them: equal but for indentation and trailing blanks. */
  readonly source: readonly string[];
  /** What the model wants in their place, indented as `source` is. */
  readonly target: readonly string[];
  /** The whole file, for its habit where the matched lines show none. */
  readonly text: string;
};

/**
 * The target's lines in the file's own indentation. Lines that the model left as they were stay as the file has them;
 * every other one is shifted like the source line whose indentation is nearest; blank lines become empty.
 * A target that is already as deep as the matched lines, while the source was not, stays as it is.
 */
export const reindent = ({ file, source, target, text }: Reindent): string[] => {
  const depth = baseIndent(target);
  if (depth === baseIndent(file) && depth !== baseIndent(source))
    return target.map((line) => (isBlank(line) ? "" : line));
  const head = commonPrefix(source, target);
  const tail = commonSuffix(source, target, head);
  const pairs = source.flatMap((line, index) =>
    isBlank(line) ? [] : [{ index, model: indentOf(line), file: indentOf(file[index] ?? "") }],
  );
  const shift = createShift(pairs, target.filter((line) => !isBlank(line)).map(indentOf), text);
  return target.map((line, index) => {
    if (index < head) return file[index] ?? line;
    if (index >= target.length - tail) return file.at(index - target.length) ?? line;
    if (isBlank(line)) return "";
    const indent = indentOf(line);
    const anchor = nearestPair(pairs, indent, index);
    return (anchor ? shift(anchor, indent) : indent) + line.slice(indent.length);
  });
};

export const indentOf = (line: string): string => BARE.exec(line)?.[0] ?? "";

/** The indentation of the line that is furthest left. */
const baseIndent = (lines: readonly string[]): string | undefined =>
  lines
    .filter((line) => !isBlank(line))
    .map(indentOf)
    .reduce<string | undefined>(
      (base, indent) => (base === undefined || columns(indent) < columns(base) ? indent : base),
      undefined,
    );

type Pair = { readonly model: string; readonly file: string };
type LinePair = Pair & { readonly index: number };

/** By indentation first, then by place: a badly indented source has several lines of the same depth. */
const nearestPair = (pairs: readonly LinePair[], indent: string, index: number): LinePair | undefined => {
  const wanted = columns(indent);
  let best: LinePair | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const pair of pairs) {
    // The place breaks a tie: it never outweighs one column.
    const distance = Math.abs(columns(pair.model) - wanted) + Math.abs(pair.index - index) / 1e6;
    if (distance < bestDistance) {
      best = pair;
      bestDistance = distance;
    }
  }
  return best;
};

/** Moves an indentation of the model's text to where the file has its anchor line. */
export const createShift = (
  pairs: readonly Pair[],
  targetIndents: readonly string[],
  text: string,
): ((anchor: Pair, indent: string) => string) => {
  const modelIndents = [...pairs.map((pair) => pair.model), ...targetIndents];
  const modelHasTabs = modelIndents.some((indent) => indent.includes("\t"));
  const modelIsIndented = modelIndents.some((indent) => indent !== "");
  const own = pairs.map((pair) => pair.file).find((indent) => indent !== "");
  const habit = own ?? /^(?:\t| {2,})(?=[^\s*])/m.exec(text)?.[0];
  const fileHasTabs = habit === undefined ? modelHasTabs : habit.includes("\t");
  const sameStyle = habit === undefined || !modelIsIndented || fileHasTabs === modelHasTabs;
  const ratio =
    (fileHasTabs ? COLUMNS_PER_TAB : fileUnit(depthsOf(text))) /
    (modelHasTabs ? COLUMNS_PER_TAB : modelUnit(modelIndents.map(columns)));
  // One line that the model indented wrongly looks like another scale. It is one if the habits of both say the same
  // and no line stands where the file has it.
  const isScaled = scaleOf(pairs) === ratio && !pairs.some(({ model, file }) => model !== "" && model === file);
  const scale = sameStyle && !isScaled ? 1 : ratio;
  return (anchor, indent) => {
    if (indent === anchor.model) return anchor.file;
    if (sameStyle && scale === 1 && indent.startsWith(anchor.model))
      return anchor.file + indent.slice(anchor.model.length);
    const wanted = columns(anchor.file) + Math.round((columns(indent) - columns(anchor.model)) * scale);
    return toColumns(anchor.file, Math.max(0, wanted), fileHasTabs);
  };
};

/** Columns in the file for one column of the model's, if two lines of different depth tell. */
const scaleOf = (pairs: readonly Pair[]): number | undefined => {
  const sorted = pairs
    .map((pair) => ({ model: columns(pair.model), file: columns(pair.file) }))
    .sort((a, b) => a.model - b.model);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (!low || !high || low.model === high.model || high.file <= low.file) return undefined;
  return (high.file - low.file) / (high.model - low.model);
};

/** The columns of one level in the model's few lines: the smallest step between two depths. */
const modelUnit = (depths: readonly number[]): number => {
  const steps = stepsOf([...depths].sort((a, b) => a - b));
  return steps.length === 0 ? COLUMNS_PER_TAB : Math.min(...steps);
};

/** The columns of one level in a file: the step that is most frequent from one line to the next, alignments aside. */
const fileUnit = (depths: readonly number[]): number => {
  const counts = new Map<number, number>();
  for (const step of stepsOf(depths)) counts.set(step, (counts.get(step) ?? 0) + 1);
  const [first] = [...counts].sort(([a, often], [b, oftener]) => oftener - often || a - b);
  return first?.[0] ?? COLUMNS_PER_TAB;
};

/** How much deeper than the one before each is, where that can be a level. */
const stepsOf = (depths: readonly number[]): number[] =>
  depths.map((depth, index) => depth - (depths[index - 1] ?? 0)).filter((step) => step >= 2);

// A `*` continues a comment block, one column off.
const depthsOf = (text: string): number[] =>
  Array.from(text.matchAll(/^ {0,16}(?=[^ *\n])/gm), ([spaces]) => spaces.length);

const columns = (indent: string): number => {
  let count = 0;
  for (const character of indent) count += character === "\t" ? COLUMNS_PER_TAB : 1;
  return count;
};

const toColumns = (indent: string, wanted: number, tabs: boolean): string => {
  let kept = indent;
  while (columns(kept) > wanted) kept = kept.slice(0, -1);
  const missing = wanted - columns(kept);
  if (!tabs) return kept + " ".repeat(missing);
  return kept + "\t".repeat(Math.floor(missing / COLUMNS_PER_TAB)) + " ".repeat(missing % COLUMNS_PER_TAB);
};

const isBlank = (line: string): boolean => /^[ \t]*$/.test(line);
