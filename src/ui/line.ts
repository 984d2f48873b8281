import { displayWidth } from "./width.ts";

/** What a piece of text is; the theme decides how that looks. */
export type Role =
  | "accent"
  | "dim"
  | "bold"
  | "italic"
  | "underline"
  | "strike"
  | "inverse"
  | "heading"
  | "code"
  | "link"
  | "quote"
  | "success"
  | "failure"
  | "warning"
  | "added"
  | "removed"
  | "addedWord"
  | "removedWord"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "name";

/** Text of one look: no control characters, no newline, no tab. */
export type Span = { readonly text: string; readonly roles?: readonly Role[] };

/** One row of the terminal, before it is painted. */
export type Line = readonly Span[];

export const span = (text: string, ...roles: readonly Role[]): Span =>
  roles.length === 0 ? { text } : { text, roles };

export const plainText = (line: Line): string => line.map(({ text }) => text).join("");

/** Terminal cells that the line takes. */
export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + displayWidth(text), 0);
