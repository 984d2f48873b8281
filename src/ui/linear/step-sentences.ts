import type { ToolData } from "../../schema/tool.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatDuration } from "../duration.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { type FinishedStep, type RunningStep, stepLines } from "../transcript/step-lines.ts";
import { toolSummary } from "../transcript/tool-summary.ts";

export type StepSentenceOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "steps" | "linear">;
};

/** "running bash: npm test" */
export const startedSentence = (step: RunningStep, { strings }: StepSentenceOptions): Line => [
  span(strings.linear.running(callText(step, strings))),
];

/** "bash ended: exit 1, 2.1 s", and what there is to read of the result. */
export const endedLines = (
  step: FinishedStep,
  options: StepSentenceOptions & {
    /** Others of its kind run beside it: its name alone would not tell which one has ended. */
    readonly isOneOfSeveral: boolean;
    readonly isRefused: boolean;
  },
): readonly Line[] => {
  const { strings, isOneOfSeveral, isRefused } = options;
  const name = isOneOfSeveral ? callText(step, strings) : visibleControls(step.name);
  const figures = [...dataFigures(step.result.data, strings), formatDuration(step.durationMs)].join(", ");
  const ended = step.result.isError ? strings.linear.stepFailed : strings.linear.ended;
  return [[span(isRefused ? strings.linear.refused(name) : ended(name, figures))], ...resultLines(step, options)];
};

const callText = ({ name, arguments: text }: RunningStep, strings: StepSentenceOptions["strings"]): string => {
  const summary = toolSummary(name, text, strings.steps);
  return summary === "" ? visibleControls(name) : `${visibleControls(name)}: ${summary}`;
};

const dataFigures = (data: ToolData | undefined, { steps, linear }: StepSentenceOptions["strings"]): string[] => {
  switch (data?.type) {
    case "diff":
      return [linear.changed(data.added, data.removed)];
    case "file":
      if (data.lines === undefined) return [linear.bytes(data.bytes)];
      return [data.truncated === true ? steps.linesPart(data.lines) : steps.lines(data.lines)];
    case "command":
      if (data.timedOut === true) return [steps.timedOut];
      if (data.signal !== undefined) return [visibleControls(data.signal)];
      return data.exitCode === null ? [] : [steps.exit(data.exitCode)];
    case "json":
    case undefined:
      return [];
    default:
      return data satisfies never;
  }
};

// So wide, and without a call in it, the head of a step is one row.
const MIN_WIDTH = 60;

/** Only what stands below the head of a step elsewhere: the head is said in our own words. */
const resultLines = (step: FinishedStep, { width, glyphs, strings }: StepSentenceOptions): readonly Line[] =>
  stepLines(
    { ...step, name: "", arguments: "" },
    { width: Math.max(MIN_WIDTH, width), glyphs, strings: strings.steps },
  ).slice(1);
