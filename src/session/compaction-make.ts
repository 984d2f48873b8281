import type { PrepareContext } from "../engine/context-view.ts";
import type { Message } from "../schema/message.ts";
import { type Compaction, itemsOf, type Part } from "./compaction.ts";
import {
  cutMiddle,
  lastTurnFrom,
  newestFrom,
  newInputFrom,
  pruned,
  summarized,
  withShortTexts,
} from "./compaction-plan.ts";
import { askForSummary, NO_SUMMARY, type SummaryOutcome } from "./compaction-summary.ts";
import { isInput, type Sizes } from "./context-tokens.ts";

/** Why a context is made smaller: it is nearly full, the server has refused it, or a person wants it. */
export type CompactionCause = "full" | "refused" | "person";

export type MakeOptions = {
  readonly history: readonly Message[];
  /** The view as it is now. */
  readonly parts: readonly Part[];
  readonly cause: CompactionCause;
  readonly focus?: string | undefined;
  /** What is to be kept below. */
  readonly limit: number;
  /** What the window holds; null where nobody knows. */
  readonly window: number | null;
  /** What a request takes with these messages, all else included. */
  readonly size: (parts: readonly Part[]) => number;
  /** Real tokens for one of `sizes`. */
  readonly ratio: number;
  readonly sizes: Sizes;
  readonly outputs: ReadonlyMap<string, string>;
  readonly context: Pick<PrepareContext, "complete" | "tools" | "signal">;
};

export type Made =
  | {
      readonly type: "made";
      readonly compaction: Omit<Compaction, "window">;
      /** Why the summary is missing that was asked for; empty where the model has written none. */
      readonly failure?: string;
    }
  /** Nothing can be left out that would make it smaller. `failure` as above. */
  | { readonly type: "useless"; readonly failure?: string }
  | { readonly type: "cancelled" };

/** Old outputs alone are left out where that makes so much room, as a share of what is not fixed. */
const PRUNED_SHARE = 0.5;
const SUMMARIZED_SHARE = 0.7;
const FULL_SHARE = 0.95;
const NEWEST_SHARE = 0.25;
const SUMMARY_SHARE = 0.2;
const MIN_SUMMARY_TOKENS = 250;
const MAX_SUMMARY_TOKENS = 4000;
/** A model that has written more than so many times what it was asked for has its summary cut. */
const MAX_SUMMARY_EXCESS = 2;
/** For the request for a summary and its answer. */
const SUMMARY_ROOM = 1800;
const MAX_INPUT_TOKENS = 4000;
/** About a thousand letters: less is no paste. */
const PASTE_TOKENS = 250;
/** Less is not worth the prefix that every cache then loses. */
const MIN_GAIN = 0.05;

/** Makes the smaller view: first without old outputs, then with a summary. Changes nothing by itself. */
export const makeCompaction = async (options: MakeOptions): Promise<Made> => {
  const { history, parts, cause, limit, window, size, ratio, sizes, outputs, context } = options;
  // It may grow while the model writes.
  const covers = history.length;
  const before = size(parts);
  const fixed = size(parts.slice(0, 1));
  // What a person asks for is to make it smaller than it is.
  const room = Math.max(0, Math.min(limit, before) - fixed);
  const estimatedRoom = room / ratio;

  const from = newestFrom(parts, estimatedRoom * NEWEST_SHARE, sizes);
  const withoutOutputs = pruned(parts, { before: from, outputs, sizes });
  if (cause !== "person" && size(withoutOutputs) <= fixed + room * PRUNED_SHARE)
    return made(withoutOutputs, covers, options);

  const maxTokens = Math.min(MAX_SUMMARY_TOKENS, Math.max(MIN_SUMMARY_TOKENS, estimatedRoom * SUMMARY_SHARE));
  const isWork = parts.slice(1, newInputFrom(parts)).some(({ message }) => !isInput(message));
  if (!isWork && cause === "person") return { type: "useless" };
  const outcome = isWork ? await summarize(options, maxTokens) : undefined;
  if (context.signal.aborted || outcome?.type === "cancelled") return { type: "cancelled" };

  const written = outcome?.type === "summary" ? cutMiddle(outcome.text, maxTokens * MAX_SUMMARY_EXCESS) : NO_SUMMARY;
  const summary = outcome && written;
  const isFailed = outcome !== undefined && outcome.type !== "summary";
  const withoutSummary: Candidate = { parts: pruned(parts, { before: lastTurnFrom(parts), outputs, sizes }) };
  const candidates: readonly Candidate[] = [
    ...(isFailed ? [withoutSummary] : []),
    // A person who wants a summary does not want the steps gone without one.
    ...(isFailed && cause === "person" ? [] : summaryCandidates(summary, estimatedRoom, options)),
  ];
  const worth = before * (1 - MIN_GAIN);
  const gentle = candidates.filter(({ isHarsh }) => !isHarsh);
  const fit = (some: readonly Candidate[], most: number) => some.find((one) => size(one.parts) <= most);
  const best =
    fit(gentle, fixed + room * SUMMARIZED_SHARE) ??
    fit(gentle, Math.min(worth, fixed + room * FULL_SHARE)) ??
    fit(candidates, Math.min(worth, window ?? limit)) ??
    candidates.at(-1);
  if (!best) return { type: "useless" };
  const result = made(best.parts, covers, options, best.summary);
  return result.type !== "cancelled" && isFailed ? { ...result, failure: outcome.reason ?? "" } : result;
};

type Candidate = {
  readonly parts: readonly Part[];
  readonly summary?: string | undefined;
  /** It cuts more of what a person has said than pastes. */
  readonly isHarsh?: boolean;
};

/** From the one that keeps most to the one that keeps least. */
const summaryCandidates = (
  summary: string | undefined,
  estimatedRoom: number,
  { parts, history, cause, sizes }: MakeOptions,
): readonly Candidate[] => {
  const inputTokens = Math.min(MAX_INPUT_TOKENS, Math.max(PASTE_TOKENS, estimatedRoom * 0.1));
  const pasteTokens = Math.max(PASTE_TOKENS, inputTokens / 4);
  const last = lastTurnFrom(parts);
  // Within a run, an answer at the end is one that the model has only paused in.
  const isPaused = cause !== "person" && parts.at(-1)?.message.role === "assistant";
  const least = isPaused ? last : newInputFrom(parts);
  const newest = newestFrom(parts, estimatedRoom * NEWEST_SHARE, sizes);
  const steps = [
    { before: newest, inputTokens, resultTokens: Number.POSITIVE_INFINITY, isHarsh: false },
    { before: last, inputTokens, resultTokens: estimatedRoom * 0.3, isHarsh: false },
    { before: last, inputTokens: pasteTokens, resultTokens: estimatedRoom * 0.1, isHarsh: false },
    { before: least, inputTokens: pasteTokens, resultTokens: 120, isHarsh: false },
    // Better than a session that cannot go on.
    { before: least, inputTokens: 80, resultTokens: 60, isHarsh: true },
    { before: least, inputTokens: 40, resultTokens: 60, isHarsh: true },
  ];
  return steps.map(({ isHarsh, ...step }) => ({
    parts: summarized(parts, history, { ...step, summary, sizes }),
    summary,
    isHarsh,
  }));
};

/** The model's summary of as much as a request can hold. */
const summarize = async (options: MakeOptions, maxTokens: number): Promise<SummaryOutcome> => {
  const { focus, context, window, size, parts, cause, sizes, outputs } = options;
  const withoutOutputs = pruned(parts, { before: lastTurnFrom(parts), outputs, sizes });
  // The view as it is comes first: a cache has that.
  const attempts = [
    ...(cause === "refused" ? [] : [parts]),
    withoutOutputs,
    withShortTexts(withoutOutputs, 400, sizes),
  ];
  const fitting = attempts.filter((some) => window === null || size(some) + SUMMARY_ROOM <= window);
  let outcome: SummaryOutcome = { type: "failed" };
  for (const some of fitting.length > 0 ? fitting : attempts.slice(-1)) {
    outcome = await askForSummary(
      some.map(({ message }) => message),
      context,
      { focus, maxTokens },
    );
    if (outcome.type !== "too long" || context.signal.aborted) break;
  }
  return outcome;
};

const made = (
  view: readonly Part[],
  covers: number,
  { parts, cause, focus, size }: MakeOptions,
  summary?: string,
): Made => {
  const before = { tokens: size(parts), messages: parts.length };
  const after = { tokens: size(view), messages: view.length };
  if (after.tokens > before.tokens * (1 - MIN_GAIN)) return { type: "useless" };
  return {
    type: "made",
    compaction: {
      covers,
      items: itemsOf(view),
      ...(summary !== undefined && { summary }),
      automatic: cause !== "person",
      ...(focus !== undefined && { focus }),
      before,
      after,
    },
  };
};
