import { isObservation, type Message } from "../schema/message.ts";
import { byteLength } from "../text/utf8.ts";
import { type Part, summaryMessage, withContent } from "./compaction.ts";
import { estimateText, isInput, quartersOf, type Sizes } from "./context-tokens.ts";
import { isPlanReminder } from "./plan-reminder.ts";
import { isRewindReminder } from "./rewind-reminder.ts";

/** Below this, a line that says what was there would save little. */
const MIN_PRUNED_TOKENS = 60;

/** Where the newest turns begin that fit in so many tokens; the last one is always among them. */
export const newestFrom = (parts: readonly Part[], maxTokens: number, sizes: Sizes): number => {
  let sum = 0;
  let from = lastTurnFrom(parts);
  for (let index = parts.length - 1; index > 0; index -= 1) {
    const part = parts[index];
    if (!part || part.at === null) break;
    sum += sizes.of(part.message);
    if (sum > maxTokens) break;
    // An observation belongs to the calls before it.
    if (!isObservation(part.message) && index < from) from = index;
  }
  return from;
};

/** Where the model's last message stands, with all that came after it. */
export const lastTurnFrom = (parts: readonly Part[]): number => {
  const index = parts.findLastIndex(({ message }) => message.role === "assistant");
  return index < 0 ? newInputFrom(parts) : index;
};

/** Where the input stands that nobody has answered; the last turn where results are what waits for an answer. */
export const newInputFrom = (parts: readonly Part[]): number => {
  const index = parts.findLastIndex(({ message }) => !isInput(message));
  const last = parts[index]?.message;
  if (last && isObservation(last)) return parts.findLastIndex(({ message }) => message.role === "assistant");
  // Of several the last is the one that counts: one before it may be what has not fit.
  return Math.max(1, index + 1, parts.findLastIndex(isOrder));
};

const isOrder = ({ message }: Part): boolean =>
  isInput(message) && !isPlanReminder(message.content) && !isRewindReminder(message.content);

export type PruneOptions = {
  /** The first part that stays as it is. */
  readonly before: number;
  /** The files with whole outputs, by tool call id. */
  readonly outputs: ReadonlyMap<string, string>;
  readonly sizes: Sizes;
};

/** Old tool outputs become a line that says what was there. */
export const pruned = (parts: readonly Part[], { before, outputs, sizes }: PruneOptions): readonly Part[] => {
  const names = new Map(
    parts.flatMap(({ message }) =>
      message.role === "assistant" ? message.toolCalls.map(({ id, name }) => [id, name] as const) : [],
    ),
  );
  return parts.map((part, index) => {
    const { message, isChanged } = part;
    if (index >= before || isChanged || !isObservation(message) || sizes.of(message) < MIN_PRUNED_TOKENS) return part;
    const { toolCallId, content } = message;
    const stub = stubText(names.get(toolCallId) ?? "tool", content, outputs.get(toolCallId));
    return { ...part, message: withContent(message, stub), isChanged: true };
  });
};

const stubText = (tool: string, content: string, outputPath: string | undefined): string => {
  const again =
    outputPath === undefined
      ? "Call it again if you need it."
      : `The whole output is in ${outputPath}: read_file reads it.`;
  return `[harness9 left out this old result of ${tool} (${byteLength(content)} bytes) to free context. ${again}]`;
};

export type SummaryOptions = {
  /** Absent where nothing of what the model did is left out. */
  readonly summary: string | undefined;
  /** The first part that stays as it is. */
  readonly before: number;
  /** The most that one of the person's older messages may take. */
  readonly inputTokens: number;
  /** The most that a result among the newest turns may take. */
  readonly resultTokens: number;
  readonly sizes: Sizes;
};

/** The system prompt, the person's messages, the summary of the rest, and the newest turns. */
export const summarized = (
  parts: readonly Part[],
  history: readonly Message[],
  { summary, before, inputTokens, resultTokens, sizes }: SummaryOptions,
): readonly Part[] => {
  const [system] = parts;
  const newest = parts.slice(before);
  const reminders = parts.filter(({ message }) => isInput(message) && isPlanReminder(message.content));
  const inputs = parts.slice(1, before).flatMap((part): readonly Part[] => {
    const { at } = part;
    const original = at === null ? undefined : history[at];
    if (!original || at === null || !isInput(original)) return [];
    // Of what the model was told of the mode, the last is what holds.
    if (isPlanReminder(original.content) && part !== reminders.at(-1)) return [];
    return [shortened({ at, message: original, isChanged: false }, inputTokens, sizes)];
  });
  return [
    ...(system ? [system] : []),
    ...inputs,
    ...(summary === undefined ? [] : [{ at: null, message: summaryMessage(summary), isChanged: true }]),
    ...newest.map((part) => (isObservation(part.message) ? shortened(part, resultTokens, sizes) : part)),
  ];
};

/** Parts of which each result and each message of the person's takes at most so much. */
export const withShortTexts = (parts: readonly Part[], maxTokens: number, sizes: Sizes): readonly Part[] =>
  parts.map((part) => (part.message.role === "user" ? shortened(part, maxTokens, sizes) : part));

const shortened = (part: Part, maxTokens: number, sizes: Sizes): Part => {
  const { message } = part;
  if (sizes.of(message) <= maxTokens) return part;
  return { ...part, message: withContent(message, cutMiddle(message.content, maxTokens)), isChanged: true };
};

/** The text with so much left out in its middle that it takes about `maxTokens`, and a line that says how much. */
export const cutMiddle = (text: string, maxTokens: number): string => {
  if (estimateText(text) <= maxTokens) return text;
  const room = Math.max(0, maxTokens - NOTE_TOKENS) * 4;
  const head = takeUnits(text, Math.floor((room * 2) / 3), 1);
  const tail = Math.min(takeUnits(text, Math.floor(room / 3), -1), text.length - head);
  const end = text.length - tail;
  const left = end - head;
  return `${text.slice(0, head)}\n[… ${left} characters left out here by harness9 to free context …]\n${text.slice(end)}`;
};

const NOTE_TOKENS = 20;

/** How many units from one end are worth at most so many quarters of a token; no character is cut in two. */
const takeUnits = (text: string, quarters: number, step: 1 | -1): number => {
  let sum = 0;
  let count = 0;
  while (count < text.length) {
    sum += quartersOf(text.charCodeAt(step === 1 ? count : text.length - 1 - count));
    if (sum > quarters) break;
    count += 1;
  }
  const inner = step === 1 ? text.charCodeAt(count) : text.charCodeAt(text.length - count - 1);
  const isBetween = step === 1 ? inner >= 0xdc00 && inner < 0xe000 : inner >= 0xd800 && inner < 0xdc00;
  return isBetween && count > 0 ? count - 1 : count;
};
