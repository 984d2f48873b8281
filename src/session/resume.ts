import type { EngineEventBody, PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import type { JournalEntry, JournaledEvent } from "./journal.ts";
import { createHistory, type OpenCall } from "./journal-history.ts";
import type { JournalItem } from "./journal-read.ts";
import { createTotals, type Totals } from "./journal-totals.ts";

/** What a session that goes on has behind it. */
export type Past = {
  /** The history, system prompt first; each call is answered. */
  readonly messages: readonly Message[];
  /** What an interrupted run has left to say: the answers that `messages` has for calls whose run did not come to them. */
  readonly closing: readonly EngineEventBody[];
  /** The number of the newest event. */
  readonly seq: number;
  readonly totals: Totals;
  /** How its newest run was begun, with the mode that was chosen since; undefined where none is known. */
  readonly last: PastRun | undefined;
  /** Lines that could not be understood. */
  readonly skipped: number;
  readonly recent: RecentEvents;
};

export type PastRun = {
  readonly provider: string;
  readonly model: string;
  readonly thinking: ThinkingMode;
  readonly mode: PermissionMode;
};

/** The end of the conversation, and how many turns came before it. */
export type RecentEvents = { readonly events: readonly JournaledEvent[]; readonly turnsBefore: number };

export type PastOptions = {
  /** What the model is told of a call whose result the journal does not have. */
  readonly interrupted: string;
  /** What it is told of an empty result. */
  readonly emptyOutput: string;
};

/** Reads a journal as the past of a session. Holds the history, and of the events the newest. @throws as the items do */
export const readPast = async (items: AsyncIterable<JournalItem>, options: PastOptions): Promise<Past> => {
  const { interrupted, emptyOutput } = options;
  const history = createHistory({ interrupted: () => interrupted });
  const totals = createTotals();
  const recent = createRecent();
  let seq = 0;
  let last: PastRun | undefined;
  let skipped = 0;
  for await (const item of items) {
    if (item.type === "skipped") skipped += 1;
    if (item.type !== "entry") continue;
    const { entry } = item;
    history.add(entry);
    last = runOf(entry, last);
    if (!("seq" in entry) || entry.parentToolCallId !== undefined) continue;
    // A fork goes on from the numbers of the session that it left.
    seq = Math.max(seq, entry.seq);
    totals.add(entry);
    recent.add(entry);
  }
  const messages = history.messages().map(withOutput(history.open(), emptyOutput));
  const closing = closingEvents(history.open(), { ...options, contextMessages: messages.length });
  return { messages, closing, seq, totals: totals.totals(), last, skipped, recent: recent.get() };
};

const runOf = (entry: JournalEntry, last: PastRun | undefined): PastRun | undefined => {
  if (entry.type === "mode") return last && { ...last, mode: entry.mode };
  if (entry.type !== "run.started" || entry.parentToolCallId !== undefined) return last;
  const { provider, model, thinking, permissionMode: mode } = entry;
  return { provider, model, thinking, mode };
};

/** As the run would have put it into the history. */
const withOutput =
  (open: readonly OpenCall[], emptyOutput: string) =>
  (message: Message, index: number, all: readonly Message[]): Message =>
    index >= all.length - open.length && message.content === "" ? { ...message, content: emptyOutput } : message;

const closingEvents = (
  open: readonly OpenCall[],
  { interrupted, emptyOutput, contextMessages }: PastOptions & { readonly contextMessages: number },
): readonly EngineEventBody[] => {
  if (open.length === 0) return [];
  const missing = open.flatMap(({ call: { id: toolCallId, name }, result }): readonly EngineEventBody[] =>
    result
      ? []
      : [{ type: "tool.completed", toolCallId, name, result: { output: interrupted, isError: true }, durationMs: 0 }],
  );
  const changed = open.flatMap(({ call, result }) =>
    result?.output === "" ? [{ toolCallId: call.id, content: emptyOutput }] : [],
  );
  const added = { type: "observations.added", count: open.length, contextMessages } as const;
  return [...missing, { ...added, ...(changed.length > 0 && { changed }) }];
};

/** Enough to see where one was. */
const RECENT_PARTS = 8;

/** The newest runs' beginnings and turns, each whole. */
const createRecent = () => {
  const parts: JournaledEvent[][] = [];
  let turnsBefore = 0;
  return {
    add: (event: JournaledEvent): void => {
      if (event.type === "run.started" || event.type === "turn.started" || parts.length === 0) parts.push([]);
      parts.at(-1)?.push(event);
      if (parts.length > RECENT_PARTS && parts.shift()?.[0]?.type === "turn.started") turnsBefore += 1;
    },
    get: (): RecentEvents => ({ events: parts.flat(), turnsBefore }),
  };
};
