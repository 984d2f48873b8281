import {
  findHeadings,
  frontMatterLines,
  type Heading,
  LIST_MARKER,
  type MarkdownLine,
  markdownLines,
} from "./lines.ts";

/**
 * One thing that is remembered: a section under a heading, or, above the first section, an item of a list or a
 * paragraph. `start` and `end` are UTF-16 indices into the file; blank lines after an entry belong to it.
 */
export type Entry = {
  readonly title: string;
  /** Of its heading; null without one. */
  readonly level: number | null;
  readonly start: number;
  readonly end: number;
  /** Where the text below a heading begins; without one `start`. */
  readonly bodyStart: number;
  /** From 1; blank lines at the end do not count. */
  readonly firstLine: number;
  readonly lastLine: number;
};

export type Entries = {
  readonly entries: readonly Entry[];
  /** Where the part above the first section begins: below the file's own title. */
  readonly looseStart: number;
  /** Where the first section begins; the end of the file without one. */
  readonly sectionsStart: number;
};

/** In characters. */
export const MAX_TITLE = 80;

/**
 * What a Markdown file remembers, in its order. A heading begins a section, which goes on to the next heading of its
 * level or above. The first heading is the file's own title where it is the only one of level 1. What is in no entry is
 * that title, YAML at the top, rules and blank lines.
 */
export const splitEntries = (text: string): Entries => {
  const lines = markdownLines(text);
  const first = frontMatterLines(lines);
  const headings = findHeadings(lines, first);
  const title = fileTitle(headings);
  const sections = sectionsOf(title ? headings.slice(1) : headings);
  const sectionsLine = sections[0]?.line ?? lines.length;
  const at = (line: number): number => lines[line]?.start ?? text.length;

  const ranges: readonly Range[] = [
    ...looseParts(lines, { from: first, to: sectionsLine, title }),
    ...sections.map((heading, index): Range => ({ from: heading.line, to: sections[index + 1]?.line, heading })),
  ];
  return {
    entries: ranges.flatMap(({ from, to = lines.length, heading }) => {
      const own = lines.slice(from, to);
      const name = heading ? heading.title : own.map((line) => pieceTitle(line.text)).find((title) => title !== "");
      // An item without a text.
      if (name === undefined) return [];
      return {
        title: shorten(name),
        level: heading?.level ?? null,
        start: at(from),
        end: at(to),
        bodyStart: at(from + (heading?.lines ?? 0)),
        firstLine: from + 1,
        lastLine: from + own.findLastIndex(({ isBlank }) => !isBlank) + 1,
      };
    }),
    looseStart: at(title ? title.line + title.lines : first),
    sectionsStart: at(sectionsLine),
  };
};

/** Whether two titles mean the same entry: letter case, width, space and marks of emphasis aside. */
export const isSameTitle = (a: string, b: string): boolean => plainTitle(a) === plainTitle(b);

const plainTitle = (title: string): string =>
  shorten(title)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[*_`]/g, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[:：]$/, "");

const shorten = (title: string): string => {
  const characters = [...title.replace(/\s+/g, " ").trim()];
  return characters.length <= MAX_TITLE ? characters.join("") : `${characters.slice(0, MAX_TITLE - 1).join("")}…`;
};

/** `to` is exclusive; the end of the file where it is absent. */
type Range = { readonly from: number; readonly to?: number | undefined; readonly heading?: Heading };

const fileTitle = ([first, ...more]: readonly Heading[]): Heading | undefined =>
  first?.level === 1 && more.every(({ level }) => level > 1) ? first : undefined;

/** A deeper heading belongs to the section that it stands in. */
const sectionsOf = (headings: readonly Heading[]): readonly Heading[] => {
  const sections: Heading[] = [];
  for (const heading of headings) {
    const open = sections.at(-1);
    if (open === undefined || heading.level <= open.level) sections.push(heading);
  }
  return sections;
};

type Part = { readonly from: number; readonly to: number; readonly title: Heading | undefined };

/** The items of lists and the paragraphs in these lines. */
const looseParts = (lines: readonly MarkdownLine[], { from, to, title }: Part): readonly Range[] => {
  const parts: { from: number; to: number }[] = [];
  let open: { from: number; to: number } | undefined;
  /** How far the list item that is open stands from the edge; null in a paragraph. */
  let itemIndent: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (index < from || index >= to) continue;
    const isTitle = title && index >= title.line && index < title.line + title.lines;
    if (isTitle || (!line.isCode && RULE.test(line.text))) {
      open = undefined;
      continue;
    }
    const indent = /^[ \t]*/.exec(line.text)?.[0].length ?? 0;
    const isItem = LIST_MARKER.test(line.text);
    const isAfterBlank = lines[index - 1]?.isBlank ?? true;
    const isNext = isItem
      ? itemIndent === null || indent <= itemIndent
      : isAfterBlank && (itemIndent === null || indent < 2);
    if (!line.isBlank && (open === undefined || (!line.isCode && isNext))) {
      open = { from: index, to: index + 1 };
      parts.push(open);
      itemIndent = isItem ? indent : null;
    } else if (open) open.to = index + 1;
  }
  return parts;
};

const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\r?\n?$/;

/** A line without the marks of a list, a quotation or a task. */
const pieceTitle = (line: string): string =>
  line
    .replace(LIST_MARKER, "")
    .replace(/^[ \t]*(?:>[ \t]*)+/, "")
    .replace(/^\[[ xX]\][ \t]+/, "")
    .trim();
