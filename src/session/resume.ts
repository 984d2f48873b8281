import type { EngineEventBody, PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import type { CompactionState } from "./compaction-fold.ts";
import type { JournalEntry } from "./journal.ts";
import { createHistory, type OpenCall } from "./journal-history.ts";
import type { JournalItem } from "./journal-read.ts";
import { createTotals, type Totals } from "./journal-totals.ts";
import { createRecent, type RecentEvents } from "./recent.ts";
import type { TurnsState } from "./turns.ts";

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
  /** Lines that could not be understood, and how many of them nobody has been told of yet. */
  readonly skipped: number;
  readonly untold: number;
  /** The sessions whose lines are in the journal: its own, and those that it goes back to. */
  readonly sessionIds: readonly string[];
  readonly recent: RecentEvents;
  /** What can be gone back to. */
  readonly turns: TurnsState;
  /** What the model was sent in place of the history. */
  readonly compactions: CompactionState;
};

export type PastRun = {
  readonly provider: string;
  readonly model: string;
  readonly thinking: ThinkingMode;
  readonly mode: PermissionMode;
};

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
  let told = 0;
  const sessionIds = new Set<string>();
  for await (const item of items) {
    if (item.type === "skipped") skipped += 1;
    if (item.type !== "entry") continue;
    const { entry } = item;
    history.add(entry);
    last = runOf(entry, last);
    recent.add(entry);
    if (entry.type === "skipped") told = entry.lines;
    if (!("seq" in entry) || entry.parentToolCallId !== undefined) continue;
    // A fork goes on from the numbers of the session that it left.
    seq = Math.max(seq, entry.seq);
    sessionIds.add(entry.sessionId);
    totals.add(entry);
  }
  const messages = history.messages().map(withOutput(history.open(), emptyOutput));
  const turns = history.turns.state();
  const compactions = history.compactions();
  const closing = closingEvents(history.open(), { ...options, contextMessages: messages.length });
  return {
    messages,
    closing,
    seq,
    totals: totals.totals(),
    last,
    skipped,
    untold: Math.max(0, skipped - told),
    sessionIds: [...sessionIds],
    recent: recent.get(),
    turns,
    compactions,
  };
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
