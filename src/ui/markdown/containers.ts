/** A quote, or an item of a list. Indents are columns from where the content around it begins. */
export type Container =
  | { readonly type: "quote" }
  | {
      readonly type: "item";
      readonly indent: number;
      /** Where its content begins. */
      readonly content: number;
      /** As written: `-`, `7.`, `7)`. */
      readonly marker: string;
    };

const MARKER = /^([-+*]|\d{1,9}[.)])( +|$)/;
const UNFINISHED_MARKER = /^(?:[-+*]|\d{1,9}[.)]?)$/;

export const indentOf = (line: string, from: number): number => {
  let at = from;
  while (line[at] === " ") at += 1;
  return at - from;
};

export const isBlank = (line: string, from: number): boolean => from + indentOf(line, from) >= line.length;

/** How many of the open containers a line continues, and where in the line their content begins. */
export const matchContainers = (
  line: string,
  open: readonly Container[],
): { readonly matched: number; readonly at: number } => {
  let at = 0;
  for (const [matched, container] of open.entries()) {
    const indent = indentOf(line, at);
    if (container.type === "quote") {
      if (indent > 3 || line[at + indent] !== ">") return { matched, at };
      at = afterQuote(line, at + indent);
    } else if (indent >= container.content) at += container.content;
    // A blank line belongs to an item, and so does what models indent by two where three would be right.
    else if (isBlank(line, at) || indent >= container.indent + 2) at += indent;
    else return { matched, at };
  }
  return { matched: open.length, at };
};

/** The container that begins at a column, and where its content begins; `waits` where more of the line decides. */
export const openContainer = (
  line: string,
  from: number,
  isWhole: boolean,
  interruptsParagraph: boolean,
): { readonly container: Container; readonly at: number } | "waits" | undefined => {
  const indent = indentOf(line, from);
  if (indent > 3) return undefined;
  const start = from + indent;
  if (line[start] === ">") return { container: { type: "quote" }, at: afterQuote(line, start) };
  const rest = line.slice(start, start + 20);
  if (!isWhole && UNFINISHED_MARKER.test(line.slice(start, start + 12))) return "waits";
  const [, marker] = MARKER.exec(rest) ?? [];
  if (marker === undefined) return undefined;
  const after = start + marker.length;
  const isEmpty = isBlank(line, after);
  // More of the line decides whether it is empty.
  if (isEmpty && !isWhole && interruptsParagraph) return "waits";
  if (interruptsParagraph && (isEmpty || !/^(?:[-+*]|1[.)])$/.test(marker))) return undefined;
  const spaces = indentOf(line, after);
  const gap = isEmpty || spaces > 4 ? 1 : spaces;
  const content = indent + marker.length + gap;
  return { container: { type: "item", indent, content, marker }, at: Math.min(line.length, from + content) };
};

const afterQuote = (line: string, at: number): number => (line[at + 1] === " " ? at + 2 : at + 1);
