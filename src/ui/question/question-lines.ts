import type { PermissionQuestion, Question } from "../../schema/ask.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { cutRow } from "../rows.ts";
import { diffLines } from "../transcript/diff-lines.ts";
import { displayWidth } from "../width.ts";
import { wrapSpans } from "../wrap.ts";
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
      return [
        ...titleLines(question.title, options),
        ...indented(visibleControls(question.text ?? "", "\n"), options.width),
      ];
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

const permissionBody = (question: PermissionQuestion, options: QuestionLinesOptions): readonly Line[] => {
  const { width, strings, glyphs } = options;
  const about = subject(question);
  const isOneRow = !about.includes("\n");
  const head = wrapSpans(
    [span(visibleControls(question.name).padEnd(NAME_WIDTH), "bold"), span(isOneRow ? ` ${about}` : "")],
    {
      width,
      first: mark(glyphs),
      rest: [span(" ".repeat(Math.min(NAME_WIDTH + 3, width >> 1)))],
    },
  );
  const { preview } = question;
  const diff = preview?.type === "diff" ? diffLines(preview, { width, strings: strings.steps }) : [];
  const reason = indented(visibleControls(question.reason), width, question.by === "guard" ? "warning" : "dim");
  return [...head, ...(isOneRow ? [] : indented(about, width)), ...diff, ...reason];
};

/** What the call is about: the command as it would run, the path, or the arguments as they came. */
const subject = ({ arguments: text }: PermissionQuestion): string => {
  const values = parsed(text);
  const said = values?.["command"] ?? values?.["path"];
  return visibleControls(typeof said === "string" ? said : text, "\n");
};

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
  const isWindow = options.length > maxRows;
  const size = isWindow ? Math.max(1, maxRows - 1) : options.length;
  const start = Math.max(0, Math.min(selected - (size >> 1), options.length - size));
  const rows = options.slice(start, start + size).map(({ key, label }, index): Line => {
    const isSelected = start + index === selected;
    const name = `${key ?? start + index + 1}`.padEnd(3);
    const text = cutRow(label, Math.max(1, width - 4 - displayWidth(name)), glyphs.ellipsis);
    return [
      span(isSelected ? `  ${glyphs.selected} ` : "    ", "accent"),
      span(name, "accent"),
      isSelected ? span(text, "bold") : span(text),
    ];
  });
  return isWindow ? [...rows, [INDENT, span(strings.question.more(options.length - size), "dim")]] : rows;
};
