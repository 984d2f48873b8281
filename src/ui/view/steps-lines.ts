import { stripControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { type RunningStep, runningStepLines } from "../transcript/step-lines.ts";
import { visibleProse } from "../visible-prose.ts";
import { wrapSpans } from "../wrap.ts";
import { activityLine } from "./activity-line.ts";
import type { ViewState } from "./view-state.ts";

export type StepsOptions = {
  readonly width: number;
  readonly maxRows: number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "ui" | "steps">;
};

const THOUGHT_TAIL = 400;

/** What runs: the steps with the end of their output, or what the run waits for. */
export const stepsLines = (state: ViewState, { width, maxRows, glyphs, strings }: StepsOptions): readonly Line[] => {
  const { transcript, isStopping, nowMs, tick } = state;
  const { run, thought } = transcript;
  const spinner = glyphs.spinner[tick % glyphs.spinner.length] ?? "";
  const running = transcript.steps.filter(({ isAsked }) => !isAsked);
  if (maxRows <= 0) return [];
  if (running.length === 0) {
    if (!run) return [];
    const line = activityLine({
      activity: run.activity,
      isStopping,
      nowMs,
      spinner,
      // The figures end where those of a step do.
      width: Math.max(1, width - 1),
      glyphs,
      strings: strings.ui,
    });
    return [[], ...(thought ? thoughtTail(thought.text, width) : []), line].slice(-maxRows);
  }
  const hint = isStopping ? strings.ui.stopping : strings.ui.escStops;
  const draw = (steps: readonly RunningStep[]): readonly (readonly Line[])[] =>
    steps.map((step, index) =>
      runningStepLines(step, {
        width,
        glyphs,
        strings: strings.steps,
        spinner: index === 0 ? spinner : glyphs.dot,
        // The clock of what is shown may be behind that of the events.
        elapsedMs: Math.max(0, nowMs - (running[index]?.startedMs ?? nowMs)),
        ...(index === 0 && { hint }),
      }),
    );
  const whole = draw(running);
  // Many steps have one row each, and so have few where there is little room.
  const isCrowded = running.length > 3 || whole.flat().length > maxRows;
  const lines = isCrowded ? draw(running.map(withoutProgress)) : whole;
  const shown = lines.flat().length <= maxRows ? lines : beginning(lines, maxRows - 1);
  const hidden = lines.length - shown.length;
  const more: Line[] = hidden === 0 ? [] : [[span("  "), span(strings.ui.moreSteps(hidden), "dim")]];
  // The name of what runs is worth more than the space around it and the rows below it.
  const rows = [...shown.flat(), ...more].slice(0, maxRows);
  return state.isSpaced && rows.length < maxRows ? [[], ...rows] : rows;
};

/** As many steps as have room, but one at least. */
const beginning = (steps: readonly (readonly Line[])[], maxRows: number): readonly (readonly Line[])[] => {
  let rows = 0;
  const end = steps.findIndex((step) => {
    rows += step.length;
    return rows > maxRows;
  });
  return steps.slice(0, Math.max(1, end));
};

const withoutProgress = <Step extends { readonly progress?: string }>({ progress: _, ...step }: Step) => step;

/** The last words of a thought, in two rows at most. */
const thoughtTail = (text: string, width: number): readonly Line[] => {
  const tail = visibleProse(stripControls(text.slice(-THOUGHT_TAIL)))
    .replace(/\s+/g, " ")
    .trim();
  return wrapSpans([span(tail, "dim", "italic")], { width, first: [span("  ")], rest: [span("  ")] }).slice(-2);
};
