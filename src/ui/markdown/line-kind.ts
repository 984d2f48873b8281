import { type Alignment, alignmentsOf } from "./table-row.ts";

/** What the content of a line is, by itself. `waits` where more of the line decides. */
export type LineKind =
  | { readonly type: "waits" }
  | { readonly type: "blank" }
  | { readonly type: "indented" }
  | { readonly type: "fence"; readonly fence: Fence }
  | { readonly type: "heading"; readonly text: string }
  | { readonly type: "underline" }
  | { readonly type: "rule" }
  | { readonly type: "delimiters"; readonly alignments: readonly Alignment[] }
  | { readonly type: "html" }
  | { readonly type: "text" };

export type Fence = {
  readonly mark: string;
  readonly indent: number;
  readonly language: string;
};

/** A longer line is not held back to see what it is: it is text. */
export const MAX_LINE = 1000;

// Tags that stand on lines of their own; others are part of a paragraph.
const HTML =
  /^<(?:!--|\?|![A-Z]|!\[CDATA\[|\/?(?:address|article|aside|base|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|pre|script|search|section|style|summary|table|tbody|td|textarea|tfoot|th|thead|title|tr|track|ul)(?:\s|\/?>|$))/i;

export type LineContext = {
  /** Whether the whole line is there; if not, some kinds cannot be told yet. */
  readonly isWhole: boolean;
  /** Whether the line continues a paragraph if it is nothing else. */
  readonly continuesParagraph: boolean;
  /** Whether the paragraph before it can still become a heading. */
  readonly mayUnderline: boolean;
  /** Columns of a table whose first line may be the line before; 0 where it is none. */
  readonly columns: number;
  readonly inTable: boolean;
};

/** Tells a line's kind from its content, of which `indent` columns are before its first character. */
export const lineKind = (content: string, indent: number, context: LineContext): LineKind => {
  const { isWhole } = context;
  // What may be the one or the other is decided by the whole line.
  const waitsFor = (kind: LineKind): LineKind => (isWhole ? kind : { type: "waits" });
  if (content === "") return waitsFor({ type: "blank" });
  if (indent > 3) return context.continuesParagraph ? { type: "text" } : { type: "indented" };

  if (context.mayUnderline && /^(?:-+|=+) *$/.test(content)) return waitsFor({ type: "underline" });
  if (context.columns > 0 && /^[-|: ]+$/.test(content)) {
    if (!isWhole) return { type: "waits" };
    const alignments = alignmentsOf(content);
    if (alignments?.length === context.columns) return { type: "delimiters", alignments };
  }
  if (isRule(content)) return waitsFor({ type: "rule" });
  if (!isWhole && mayBecomeRule(content)) return { type: "waits" };
  const fence = /^(?:`{3,}|~{3,})/.exec(content)?.[0];
  if (fence !== undefined && !(fence.startsWith("`") && content.includes("`", fence.length))) {
    const language = /^\S*/.exec(content.slice(fence.length).trim())?.[0] ?? "";
    return waitsFor({ type: "fence", fence: { mark: fence, indent, language } });
  }
  if (!isWhole && /^(?:`{1,2}|~{1,2}|#{1,6})$/.test(content)) return { type: "waits" };
  if (/^#{1,6}(?: |$)/.test(content)) return waitsFor({ type: "heading", text: headingText(content) });
  if (HTML.test(content)) return waitsFor({ type: "html" });
  if (!isWhole && /^<[!?/]?[A-Za-z[-]{0,20}$/.test(content)) return { type: "waits" };
  if (content.startsWith("|") || context.inTable) return waitsFor({ type: "text" });
  return { type: "text" };
};

export const isRule = (content: string): boolean => /^(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/.test(content);

export const mayBecomeRule = (content: string): boolean => /^(?:(?:\* *)+|(?:- *)+|(?:_ *)+)$/.test(content);

/** Without the marks before it and, if there are, after it. */
const headingText = (content: string): string => {
  const text = content.replace(/^#{1,6}/, "").trim();
  return /^#+$/.test(text) ? "" : text.replace(/ #+$/, "").trimEnd();
};
