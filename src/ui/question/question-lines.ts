import type { PermissionQuestion, Question } from "../../schema/ask.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { checkedRow } from "../rows.ts";
import type { DiffData } from "../transcript/changed-lines.ts";
import { diffLines } from "../transcript/diff-lines.ts";
import { cutToWidth, displayWidth } from "../width.ts";
import { wrapSpans } from "../wrap.ts";
import { deceptions } from "./deceptive-text.ts";
import type { QuestionOption } from "./question-options.ts";

export type QuestionLinesOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "question" | "steps">;
};

const INDENT = span("    ");

/** What is asked: for a call all of what would run, wrapped and never cut, hidden characters shown. */
export const questionBody = (question: Question, options: QuestionLinesOptions): readonly Line[] => {
  switch (question.kind) {
    case "permission":
      return permissionBody(question, options);
    case "choice":
      return [...titleLines(question.title, options), ...indented(checkedRows(question.text ?? ""), options.width)];
    case "text":
      return titleLines(question.title, options);
    default:
      return question satisfies never;
  }
};

const titleLines = (title: string, { width, glyphs }: QuestionLinesOptions): readonly Line[] =>
  wrapSpans([span(visibleControls(title), "bold")], { width, first: mark(glyphs), rest: [span("  ")] });

const mark = (glyphs: Glyphs): Line => [span(`${glyphs.question} `, "warning")];

const NAME_WIDTH = 10;

/** What the call is about, where that is one row; else nothing. Hidden characters are shown. */
export const rowAbout = (question: PermissionQuestion): string => {
  const { about } = said(question);
  return about.includes("\n") ? "" : checkedRow(about);
};

/** The tool, and what the call is about where that is one row. */
const questionTitle = (
  question: PermissionQuestion,
  { width, glyphs }: Pick<QuestionLinesOptions, "width" | "glyphs">,
): readonly Line[] => {
  const about = rowAbout(question);
  return wrapSpans(
    [span(visibleControls(question.name).padEnd(NAME_WIDTH), "bold"), span(about === "" ? "" : ` ${about}`)],
    {
      width,
      first: mark(glyphs),
      rest: [span(" ".repeat(Math.min(NAME_WIDTH + 3, width >> 1)))],
    },
  );
};

const permissionBody = (question: PermissionQuestion, options: QuestionLinesOptions): readonly Line[] => {
  const { width, strings, glyphs } = options;
  const { about, others } = said(question);
  const { preview } = question;
  const isDiff = preview?.type === "diff";
  // A diff shows what the other arguments would do.
  const details = isDiff
    ? diffLines(preview, { width, glyphs, strings: strings.steps })
    : others.flatMap((text) => barred(checkedRows(text), options));
  const texts = [about, ...(isDiff ? diffTexts(preview) : others)];
  const warnings = deceptions(texts, strings.question).flatMap((text) => indented(text, width, "warning"));
  const reason = indented(oneRow(question.reason), width, question.by === "guard" ? "warning" : "dim");
  return [
    ...questionTitle(question, options),
    ...(about.includes("\n") ? barred(checkedRows(about), options) : []),
    ...details,
    ...warnings,
    ...reason,
  ];
};

/** The lines of a diff; that one ends in CRLF hides nothing. */
const diffTexts = ({ hunks }: DiffData): readonly string[] =>
  hunks.flatMap(({ lines }) => lines.map((line) => line.slice(1).replace(/\r$/, "")));

/** Rows behind a bar: whatever they say, none can pass for an answer of the dialog. */
const barred = (text: string, { width, glyphs }: QuestionLinesOptions): readonly Line[] => {
  const bar: Line = [span(glyphs.output === "" ? "    " : `    ${glyphs.output} `, "dim")];
  return text.split("\n").flatMap((row) => wrapSpans([span(row)], { width, first: bar, rest: bar }));
};

/** Hidden characters shown, newlines as blanks: what a reason quotes begins no row of its own. */
const oneRow = (text: string): string => checkedRow(text.replace(/\s*\n\s*/g, " "));

type Said = { readonly about: string; readonly others: readonly string[] };

/** What the call is about (the command as it would run, the path, or the arguments as they came), and its other arguments; raw. */
const said = ({ arguments: text }: PermissionQuestion): Said => {
  const values = parsed(text) ?? {};
  const key = ["command", "path"].find((name) => typeof values[name] === "string");
  if (key === undefined) return { about: text, others: [] };
  const others = Object.entries(values).filter(([name]) => name !== key);
  return {
    about: String(values[key]),
    others: others.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`),
  };
};

/** Hidden characters shown, but for newlines; tabs as spaces. */
const checkedRows = (text: string): string => text.split("\n").map(checkedRow).join("\n");

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Shown as it came.
    return undefined;
  }
};

const indented = (text: string, width: number, role?: "dim" | "warning"): readonly Line[] =>
  (text === "" ? [] : text.split("\n")).flatMap((row) =>
    wrapSpans([role ? span(row, role) : span(row)], { width, first: [INDENT], rest: [INDENT] }),
  );

/** The numbered answers, the selected one marked; a window of them where they are many. */
export const optionLines = (
  options: readonly QuestionOption[],
  selected: number,
  { width, maxRows, glyphs, strings }: QuestionLinesOptions & { readonly maxRows: number },
): readonly Line[] => {
  const draw = (start: number, end: number): readonly (readonly Line[])[] =>
    options.slice(start, end).map((option, index) => optionRows(option, start + index === selected, { width, glyphs }));
  // All of an answer is shown where there is room: it may name what is allowed from now on.
  const all = options.length <= maxRows ? draw(0, options.length).flat() : undefined;
  if (all !== undefined && all.length <= maxRows) return all;
  const size = Math.max(1, Math.min(options.length, maxRows - 1));
  const start = Math.max(0, Math.min(selected - (size >> 1), options.length - size));
  const hidden = options.length - size;
  const rows = draw(start, start + size).map(([row = [], ...more]) => (more.length === 0 ? row : cut(row, glyphs)));
  const isCounted = hidden > 0 && maxRows > 1;
  return isCounted ? [...rows, [INDENT, span(strings.question.more(hidden), "dim")]] : rows;
};

const optionRows = (
  { key, label }: QuestionOption,
  isSelected: boolean,
  { width, glyphs }: Pick<QuestionLinesOptions, "width" | "glyphs">,
): readonly Line[] => {
  const name = key === undefined ? "" : key.padEnd(3);
  const mark = isSelected ? `  ${glyphs.selected} ` : "    ";
  return wrapSpans([isSelected ? span(label, "bold") : span(label)], {
    width,
    first: [span(mark + name, "accent")],
    rest: [span(" ".repeat(4 + name.length))],
  });
};

const cut = (row: Line, glyphs: Glyphs): Line => {
  const last = row.at(-1);
  if (last === undefined) return row;
  const { text } = last;
  return [
    ...row.slice(0, -1),
    { ...last, text: cutToWidth(text, displayWidth(text) - displayWidth(glyphs.ellipsis)) + glyphs.ellipsis },
  ];
};
