import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatDuration } from "../duration.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { cutRow } from "../rows.ts";
import type { Activity } from "../transcript/transcript.ts";
import { displayWidth } from "../width.ts";

export type ActivityOptions = {
  readonly activity: Activity;
  readonly isStopping: boolean;
  readonly nowMs: number;
  readonly spinner: string;
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["ui"];
};

/** What the run waits for, since when, and how to end it. */
export const activityLine = ({
  activity,
  isStopping,
  nowMs,
  spinner,
  width,
  glyphs,
  strings,
}: ActivityOptions): Line => {
  const { label, tail } = isStopping ? { label: strings.stopping, tail: "" } : activityLabel(activity, nowMs, strings);
  const elapsed = `${formatDuration(tenths(nowMs - activity.sinceMs))} ${glyphs.dot} `;
  const figures = isStopping ? "" : `${activity.type === "retrying" ? "" : elapsed}${strings.escStops}`;
  const room = width - 2 - displayWidth(tail);
  const hasFigures = room - displayWidth(figures) - 2 >= Math.min(MIN_LABEL, displayWidth(label));
  const shown =
    cutRow(label, Math.max(0, hasFigures ? room - displayWidth(figures) - 2 : room), glyphs.ellipsis) + tail;
  const gap = " ".repeat(Math.max(0, width - 2 - displayWidth(shown) - displayWidth(figures)));
  return [span(`${spinner} `, "accent"), span(shown), ...(hasFigures ? [span(gap), span(figures, "dim")] : [])];
};

const MIN_LABEL = 8;

/** `tail` is what must be seen where the label has no room. */
const activityLabel = (
  activity: Activity,
  nowMs: number,
  strings: Strings["ui"],
): { readonly label: string; readonly tail: string } => {
  if (activity.type !== "retrying") return { label: strings.activities[activity.type], tail: "" };
  const { reason, attempt, maxAttempts, untilMs } = activity;
  const seconds = Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
  return {
    label: visibleControls(reason.replace(/\s+/g, " ")),
    tail: strings.retrying(attempt, maxAttempts, seconds),
  };
};

/** Elapsed time below a second would only flicker. */
const tenths = (ms: number): number => Math.max(100, Math.floor(Math.max(0, ms) / 100) * 100);
