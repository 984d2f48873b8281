export type Alignment = "left" | "center" | "right";

const DELIMITERS = /^\|? *:?-+:? *(?:\| *:?-+:? *)*\|?$/;

/** The alignments of a table's second line; undefined where the line is none. */
export const alignmentsOf = (line: string): readonly Alignment[] | undefined => {
  const text = line.trim();
  if (!text.includes("|") || !DELIMITERS.test(text)) return undefined;
  return splitRow(text).map((cell) => {
    if (!cell.endsWith(":")) return "left";
    return cell.startsWith(":") ? "center" : "right";
  });
};

/** The cells of a line. A `|` that is escaped or within a code span belongs to its cell. */
export const splitRow = (line: string): readonly string[] => {
  const text = line.trim();
  const cells: string[] = [];
  let start = text.startsWith("|") ? 1 : 0;
  const endCell = (end: number): void => {
    cells.push(text.slice(start, end).replaceAll("\\|", "|").trim());
    start = end + 1;
  };
  for (let at = start; at < text.length; at += partLength(text, at)) if (text[at] === "|") endCell(at);
  if (start < text.length || cells.length === 0) endCell(text.length);
  return cells;
};

/** Length of a character, an escaped character, or a code span; of backticks that nothing closes, of these. */
const partLength = (text: string, at: number): number => {
  if (text[at] === "\\") return 2;
  if (text[at] !== "`") return 1;
  const marks = runOfBackticks(text, at);
  for (let end = text.indexOf("`", at + marks); end >= 0; end = text.indexOf("`", end)) {
    const closing = runOfBackticks(text, end);
    end += closing;
    if (closing === marks) return end - at;
  }
  return marks;
};

const runOfBackticks = (text: string, at: number): number => {
  let end = at;
  while (text[end] === "`") end += 1;
  return end - at;
};
