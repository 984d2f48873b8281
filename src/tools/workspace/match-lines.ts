import { type Edit, type Found, type MatchRequest, occurrences, type Span } from "./occurrences.ts";
import { reindent } from "./reindent.ts";

/**
 * Level 4: whole lines that are equal but for indentation and trailing blanks. Blank lines around the source count
 * first; if that finds nothing they are left out, of source and target alike.
 */
export const findLines = (request: MatchRequest): Found => {
  const source = linesOf(request.source);
  const target = linesOf(request.target);
  const file = linesOf(request.text);
  const asWritten = findWindow(request.text, file, source, target);
  if (asWritten.matches.length > 0) return asWritten;
  const [head, tail] = [blankHead(source), blankHead(source.toReversed())];
  if (head + tail === 0) return asWritten;
  return findWindow(
    request.text,
    file,
    source.slice(head, source.length - tail),
    target.slice(Math.min(head, blankHead(target)), target.length - Math.min(tail, blankHead(target.toReversed()))),
  );
};

const findWindow = (
  text: string,
  file: readonly string[],
  source: readonly string[],
  target: readonly string[],
): Found => {
  // One string search over all lines: linear, where comparing window by window is not.
  const haystack = `\n${file.map(bare).join("\n")}\n`;
  const needle = `\n${source.map(bare).join("\n")}\n`;
  const starts = lineStarts(file);
  const firstLines = new Map<Span, number>();
  let line = 0;
  let seen = 0;
  for (const { start } of occurrences(haystack, needle)) {
    for (; seen < start; seen = haystack.indexOf("\n", seen + 1)) line += 1;
    firstLines.set({ start: starts[line] ?? 0, end: (starts[line + source.length] ?? 0) - 1 }, line);
  }
  const edit = (match: Span): Edit => {
    // A block that is deleted takes its last line break with it.
    if (target.length === 0) return { start: match.start, end: Math.min(match.end + 1, text.length), text: "" };
    const first = firstLines.get(match) ?? 0;
    const lines = file.slice(first, first + source.length);
    return { ...match, text: reindent({ file: lines, source, target, text }).join("\n") };
  };
  return { matches: [...firstLines.keys()], edit };
};

/** The offset of each line, and of the line that would follow the last. */
const lineStarts = (lines: readonly string[]): number[] => {
  const starts = [0];
  let offset = 0;
  for (const line of lines) {
    offset += line.length + 1;
    starts.push(offset);
  }
  return starts;
};

/** The final line break ends the last line; it does not begin another. */
const linesOf = (text: string): string[] => {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

const bare = (line: string): string => {
  let start = 0;
  while (line[start] === " " || line[start] === "\t") start += 1;
  let end = line.length;
  while (end > start && " \t\r".includes(line.charAt(end - 1))) end -= 1;
  return line.slice(start, end);
};

const blankHead = (lines: readonly string[]): number => {
  const first = lines.findIndex((line) => bare(line) !== "");
  return first === -1 ? lines.length : first;
};
