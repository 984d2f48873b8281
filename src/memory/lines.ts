/** One line of a Markdown file, with what the lines above it make of it. */
export type MarkdownLine = {
  /** With its ending. */
  readonly text: string;
  /** UTF-16 index into the file. */
  readonly start: number;
  readonly isBlank: boolean;
  /** Within a code block, its first fence excepted. */
  readonly isCode: boolean;
};

/** The lines of a text; together they are the text. */
export const markdownLines = (text: string): readonly MarkdownLine[] => {
  let start = 0;
  let fence: string | undefined;
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
    const isCode = fence !== undefined;
    const [, marks = ""] = FENCE.exec(line) ?? [];
    if (fence === undefined) fence = opensFence(line, marks) ? marks : undefined;
    else if (marks[0] === fence[0] && marks.length >= fence.length && line.trim() === marks) fence = undefined;
    const made = { text: line, start, isBlank: line.trim() === "", isCode };
    start += line.length;
    return made;
  });
};

// A list item may begin with one.
const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})/;

/** With a backtick in what follows, it is code within a line. */
const opensFence = (line: string, marks: string): boolean =>
  marks !== "" && !(marks.startsWith("`") && line.slice(line.indexOf(marks) + marks.length).includes("`"));

export type Heading = {
  /** Index of its first line. */
  readonly line: number;
  /** Two where the title is underlined. */
  readonly lines: 1 | 2;
  readonly level: number;
  readonly title: string;
};

const ATX = /^ {0,3}(#{1,6})(?=[ \t\r\n]|$)/;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*\r?\n?$/;
export const LIST_MARKER = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|(?=\r?\n?$))/;

/** The headings from line `from` on, those in code blocks left out. */
export const findHeadings = (lines: readonly MarkdownLine[], from: number): readonly Heading[] =>
  lines.flatMap((line, index): Heading[] => {
    if (index < from || line.isCode) return [];
    const [atx, marks] = ATX.exec(line.text) ?? [];
    if (atx !== undefined && marks !== undefined)
      return [{ line: index, lines: 1, level: marks.length, title: withoutClosing(line.text.slice(atx.length)) }];
    const [, underline] = UNDERLINE.exec(lines[index + 1]?.text ?? "") ?? [];
    const isAlone = index === from || (lines[index - 1]?.isBlank ?? true);
    if (underline === undefined || !isAlone || !isPlainText(line)) return [];
    return [{ line: index, lines: 2, level: underline.startsWith("=") ? 1 : 2, title: line.text.trim() }];
  });

/** The marks that a heading may end with are no part of its title. By hand: an expression for it takes time squared. */
const withoutClosing = (rest: string): string => {
  const title = rest.trim();
  let end = title.length;
  while (title[end - 1] === "#") end -= 1;
  return end === 0 || /[ \t]/.test(title[end - 1] ?? "") ? title.slice(0, end).trimEnd() : title;
};

const isPlainText = ({ text, isBlank }: MarkdownLine): boolean =>
  !isBlank && !LIST_MARKER.test(text) && !/^(?: {4}|\t| {0,3}(?:>|[`~]{3}|[-*_=]+\s*$))/.test(text);

/** How many lines at the top are YAML between two rules. */
export const frontMatterLines = (lines: readonly MarkdownLine[]): number => {
  const isRule = (line: MarkdownLine | undefined): boolean => line?.text.trimEnd() === "---";
  if (!isRule(lines[0])) return 0;
  return lines.findIndex((line, index) => index > 0 && isRule(line)) + 1;
};
