import type { ToolData } from "../../schema/tool.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatDuration } from "../duration.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, lineWidth, plainText, type Role, span } from "../line.ts";
import { checkedRow, cutRow, hardRows } from "../rows.ts";
import { displayWidth } from "../width.ts";
import { diffLines } from "./diff-lines.ts";
import { outputLines, tailLines } from "./output-lines.ts";
import { callText, toolSummary } from "./tool-summary.ts";

/** A tool call that has ended. `number` counts the session's steps from 1. */
export type FinishedStep = {
  readonly number: number;
  readonly name: string;
  /** The model's raw JSON text. */
  readonly arguments: string;
  readonly result: { readonly output: string; readonly isError: boolean; readonly data?: ToolData };
  readonly durationMs: number;
  readonly decision?: "refused";
  /** The person's own command, who wants to see what it prints. */
  readonly isOwn?: boolean;
};

/** A tool call that runs. `progress` is its newest output. */
export type RunningStep = { readonly name: string; readonly arguments: string; readonly progress?: string };

type Options = { readonly width: number; readonly glyphs: Glyphs; readonly strings: Strings["steps"] };

const NAME_CELLS = 10;
// With less of the summary beside them, the figures go under the step.
const MIN_SUMMARY_CELLS = 24;
// Below this width names are not padded to a column.
const NARROW = 24;
const GAP = 2;
const CALL_INDENT = 4;
const LONGEST_USUAL_DURATION = "59 m 59 s".length;
const MAX_LINES = { success: 3, failure: 10, error: 5, diff: 20, progress: 3, own: 40 };

/** A step that has ended: what was called, how it went, and as much of the result as a person wants to see in passing. */
export const stepLines = (step: FinishedStep, options: Options & { readonly expanded?: boolean }): Line[] => {
  const { glyphs, strings, expanded = false } = options;
  const isFailure = hasFailed(step);
  const head = headLines(
    {
      mark: isFailure ? glyphs.failed : glyphs.done,
      markRole: isFailure ? "failure" : "success",
      name: step.name,
      summary: toolSummary(step.name, step.arguments, strings),
      figures: finishedFigures(step, options).join(` ${glyphs.dot} `),
    },
    options,
  );
  return [...head, ...(expanded ? callLines(step, head, options) : []), ...resultLines(step, { ...options, expanded })];
};

/** A step that runs, with the newest of what it prints. `hint` says how to stop it. */
export const runningStepLines = (
  step: RunningStep,
  options: Options & { readonly spinner: string; readonly elapsedMs: number; readonly hint?: string },
): Line[] => {
  const { glyphs, strings, spinner, elapsedMs, hint } = options;
  // Of one width, so that nothing moves while the time runs.
  const elapsed = (elapsedMs < 1000 ? `${(elapsedMs / 1000).toFixed(1)} s` : formatDuration(elapsedMs)).padStart(
    LONGEST_USUAL_DURATION,
  );
  const figures = hint === undefined ? elapsed : `${elapsed} ${glyphs.dot} ${hint}`;
  const summary = toolSummary(step.name, step.arguments, strings);
  return [
    ...headLines({ mark: spinner, markRole: "accent", name: step.name, summary, figures }, options),
    ...tailLines(step.progress ?? "", { ...options, maxLines: MAX_LINES.progress }),
  ];
};

const hasFailed = ({ result: { isError, data }, decision }: FinishedStep): boolean =>
  isError || decision === "refused" || (data?.type === "command" && (data.exitCode !== 0 || data.timedOut === true));

type Head = {
  readonly mark: string;
  readonly markRole: Role;
  readonly name: string;
  readonly summary: string;
  readonly figures: string;
};

const headLines = ({ mark, markRole, name, summary, figures }: Head, { width, glyphs }: Options): Line[] => {
  const cut = cutRow(visibleControls(name), Math.max(1, width - 4), glyphs.ellipsis);
  const shownName = width < NARROW ? cut : cut + " ".repeat(Math.max(0, NAME_CELLS - displayWidth(cut)));
  const room = width - 1 - lineWidth([span(`${mark} ${shownName} `)]);
  const start = [span(mark, markRole), span(" "), span(shownName, "bold"), span(" ")];
  const besideFigures = room - GAP - displayWidth(figures);
  if (displayWidth(summary) <= besideFigures || besideFigures >= MIN_SUMMARY_CELLS) {
    const shown = cutRow(summary, besideFigures, glyphs.ellipsis);
    const blanks = " ".repeat(room - displayWidth(shown) - displayWidth(figures));
    return [[...start, span(shown), span(blanks), span(figures, "dim")]];
  }
  const shown = room < 1 ? "" : cutRow(summary, room, glyphs.ellipsis);
  const under = cutRow(figures.trimStart(), Math.max(1, width - 3), glyphs.ellipsis);
  return [fit([...start, span(shown)], width), fit([span("  "), span(under, "dim")], width)];
};

const fit = (line: Line, width: number): Line => hardRows(line, width)[0] ?? [];

const finishedFigures = (step: FinishedStep, { glyphs, strings }: Options): string[] => {
  if (step.decision === "refused") return [strings.refused];
  const { data } = step.result;
  return [...(data === undefined ? [] : dataFigures(data, glyphs, strings)), formatDuration(step.durationMs)];
};

const dataFigures = (data: ToolData, glyphs: Glyphs, strings: Strings["steps"]): string[] => {
  switch (data.type) {
    case "diff":
      return [`+${data.added} ${glyphs.minus}${data.removed}`];
    case "file":
      if (data.lines === undefined) return [formatBytes(data.bytes)];
      return [data.truncated === true ? strings.linesPart(data.lines) : strings.lines(data.lines)];
    case "command":
      if (data.timedOut === true) return [strings.timedOut];
      if (data.signal !== undefined) return [visibleControls(data.signal)];
      return data.exitCode === null || data.exitCode === 0 ? [] : [strings.exit(data.exitCode)];
    case "json":
      return [];
    default:
      return data satisfies never;
  }
};

const formatBytes = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
};

/** The whole call, where the head shows only a part of it. A file's change is drawn as a diff already. */
const callLines = (step: FinishedStep, head: readonly Line[], { width, strings }: Options): Line[] => {
  const summary = toolSummary(step.name, step.arguments, strings);
  const { data } = step.result;
  const text = data?.type === "diff" || data?.type === "file" ? [summary] : callText(step.name, step.arguments);
  const isShown = head.some((line) => plainText(line).includes(summary));
  if (isShown && (text.length === 0 || (text.length === 1 && text[0] === summary))) return [];
  const indent = Math.min(CALL_INDENT, Math.max(0, width - 2));
  return text.flatMap((line) =>
    hardRows([span(checkedRow(line))], Math.max(1, width - indent)).map((row) => [span(" ".repeat(indent)), ...row]),
  );
};

const resultLines = (step: FinishedStep, options: Options & { readonly expanded: boolean }): Line[] => {
  const { expanded, strings } = options;
  const { output, isError, data } = step.result;
  const limit = (maxLines: number) => ({
    ...options,
    maxLines: expanded ? Number.POSITIVE_INFINITY : maxLines,
    more: (hidden: number) =>
      // What the model got was cut already: nobody has counted the rest.
      strings.linesMoreShow(hidden, step.number, data?.type === "command" && data.outputPath !== undefined),
  });
  if (isError) return outputLines(output, limit(MAX_LINES.error));
  switch (data?.type) {
    case "diff":
      return diffLines(data, limit(MAX_LINES.diff));
    case "file":
      return [];
    case "command":
      return outputLines(printed(output, data), limit(commandLines(step)));
    case "json":
    case undefined:
      return outputLines(output, limit(MAX_LINES.success));
    default:
      return data satisfies never;
  }
};

const commandLines = (step: FinishedStep): number => {
  if (step.isOwn === true) return MAX_LINES.own;
  return hasFailed(step) ? MAX_LINES.failure : MAX_LINES.success;
};

/**
 * What a command printed. For the model a failure begins with its status and a label, two lines that the figures
 * say already, and silence is a sentence.
 */
const printed = (output: string, data: Extract<ToolData, { type: "command" }>): string => {
  if (data.timedOut === true) return output;
  if (data.exitCode !== 0) return withoutLines(output, 2);
  return data.outputBytes === 0 ? withoutLines(output, 1) : output;
};

const withoutLines = (text: string, count: number): string => {
  let start = 0;
  for (let left = count; left > 0; left -= 1) {
    const end = text.indexOf("\n", start);
    if (end === -1) return "";
    start = end + 1;
  }
  return text.slice(start);
};
