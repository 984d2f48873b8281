import { stripControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { runningStepLines } from "../transcript/step-lines.ts";
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
      width,
      glyphs,
      strings: strings.ui,
    });
    return [[], ...(thought ? thoughtTail(thought.text, width) : []), line].slice(-maxRows);
  }
  const hint = isStopping ? strings.ui.stopping : strings.ui.escStops;
  // One step may show its output; beside others each has one row.
  const lines = running.map((step, index) =>
    runningStepLines(running.length > 3 ? withoutProgress(step) : step, {
      width,
      glyphs,
      strings: strings.steps,
      spinner: index === 0 ? spinner : glyphs.dot,
      elapsedMs: nowMs - step.startedMs,
      ...(index === running.length - 1 && { hint }),
    }),
  );
  const kept: Line[] = [];
  let hidden = running.length;
  for (const step of lines) {
    if (kept.length + step.length > maxRows - 1) break;
    kept.push(...step);
    hidden -= 1;
  }
  const more: Line[] = hidden === 0 ? [] : [[span("  "), span(strings.ui.moreSteps(hidden), "dim")]];
  return [...(state.isSpaced ? [[]] : []), ...kept, ...more].slice(-maxRows);
};

const withoutProgress = <Step extends { readonly progress?: string }>({ progress: _, ...step }: Step) => step;

/** The last words of a thought, in two rows at most. */
const thoughtTail = (text: string, width: number): readonly Line[] => {
  const tail = visibleProse(stripControls(text.slice(-THOUGHT_TAIL)))
    .replace(/\s+/g, " ")
    .trim();
  return wrapSpans([span(tail, "dim", "italic")], { width, first: [span("  ")], rest: [span("  ")] }).slice(-2);
};
