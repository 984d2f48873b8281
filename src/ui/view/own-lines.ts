import type { ChatInfo } from "../../session/chat.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatCost, formatTokens } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import type { Line } from "../line.ts";
import { fullThought, marked } from "../transcript/paper.ts";
import { stepLines } from "../transcript/step-lines.ts";
import { sessionUsage, type Transcript } from "../transcript/transcript.ts";

export type OwnLinesOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "ui" | "steps">;
};

/** All of the last step, as Ctrl+O shows it. */
export const lastStepLines = ({ recent }: Transcript, options: OwnLinesOptions): readonly Line[] => {
  const step = recent.at(-1);
  if (!step) return note(options.strings.ui.noStep, options);
  const { width, glyphs, strings } = options;
  return stepLines(step, { width, glyphs, strings: strings.steps, expanded: true });
};

/** The last thought, as Ctrl+T shows it. */
export const lastThoughtLines = ({ lastThought }: Transcript, options: OwnLinesOptions): readonly Line[] =>
  lastThought === null ? note(options.strings.ui.noThought, options) : fullThought(lastThought, options.width);

/** What is left to say when the chat ends: figures, the log, and how many background commands ended with it. */
export const goodbyeTexts = (
  transcript: Transcript,
  { logFile, isOffline, isKept, sessionId }: Pick<ChatInfo, "logFile" | "isOffline" | "isKept" | "sessionId">,
  { ended, strings }: { readonly ended: number; readonly strings: Strings["ui"] },
): readonly string[] => {
  const { usage, costUsd, runs } = sessionUsage(transcript);
  const texts = ended > 0 ? [strings.backgroundEnded(ended)] : [];
  if (runs === 0) return texts;
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const cost = costUsd === null ? strings.unknownPrice : formatCost(costUsd);
  if (!isOffline && input + usage.outputTokens > 0)
    texts.push(strings.leaving(formatTokens(input), formatTokens(usage.outputTokens), cost));
  if (logFile !== null) texts.push(strings.logAt(visibleControls(logFile)));
  if (isKept) texts.push(strings.goOnWith(sessionId));
  return texts;
};

const note = (text: string, { width, glyphs }: OwnLinesOptions): readonly Line[] =>
  marked(glyphs.notice, text, { width, role: "accent" });
