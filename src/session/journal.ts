import type { EngineEvent, EventType, PermissionMode } from "../schema/event.ts";
import { byteLength } from "../text/utf8.ts";
import type { Compaction } from "./compaction.ts";
import type { Totals } from "./journal-totals.ts";

/** Grows when an older program could misread what a newer one has written. Kinds of lines may be added without that. */
export const JOURNAL_VERSION = 1;

/** The first line of a journal. */
export type SessionEntry = {
  readonly type: "session";
  readonly version: number;
  readonly id: string;
  readonly workDir: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The version of the program that began it. */
  readonly harness9: string;
  /** The session whose lines follow, up to where this one left it; they keep its id. */
  readonly forkOf?: string;
};

/** The system prompt from here on, so that a resumed session sends the same bytes. */
export type SystemEntry = { readonly type: "system"; readonly content: string };

/** The permission mode from here on; at the start of a run `run.started` has it. */
export type ModeEntry = { readonly type: "mode"; readonly time: string; readonly mode: PermissionMode };

/** The files' state before or after something that changes them; `id` is the snapshot store's. */
export type SnapshotEntry = {
  readonly type: "snapshot";
  readonly time: string;
  readonly at: "before" | "after";
  readonly id: string;
  /** The `seq` of the `run.started`, or of the `tool.started` of a person's own command; absent where files are restored. */
  readonly startedBy?: number;
};

/** What a way back restores. */
export type Restores = "both" | "conversation" | "files";

/** The person has gone back to before the turn that began with the event `before`. */
export type RewindEntry = {
  readonly type: "rewind";
  readonly time: string;
  readonly before: number;
  readonly restores: Restores;
};

/** The newest `rewind` that no other `redo` has taken back is taken back. */
export type RedoEntry = { readonly type: "redo"; readonly time: string };

/** From here on the requests have a view of the history; `covers` and the items' positions count its messages from 0. */
export type CompactionEntry = Compaction & { readonly type: "compaction"; readonly time: string };

/** The newest `compaction` that holds does so no longer: the one before it is the view again. */
export type CompactionUndoneEntry = { readonly type: "compaction.undone"; readonly time: string };

/** A person has been told that so many lines before this cannot be understood: those are no news. */
export type SkippedEntry = { readonly type: "skipped"; readonly time: string; readonly lines: number };

/** What the session has come to by the end of a run: a list of sessions reads this line and no other. */
export type TotalsEntry = Totals & { readonly type: "totals"; readonly time: string };

/** What the events do not hold. */
export type OwnEntry =
  | SessionEntry
  | SystemEntry
  | ModeEntry
  | TotalsEntry
  | SnapshotEntry
  | RewindEntry
  | RedoEntry
  | CompactionEntry
  | CompactionUndoneEntry
  | SkippedEntry;

export type JournaledType = Exclude<EventType, "thinking.delta" | "text.delta" | "tool.progress">;

/** What an event was too big for: the field was left out of the line. */
export type Omission = { readonly field: "result.data" | "question.preview"; readonly bytes: number };

/** An event as it was emitted, but for what was left out. */
export type JournaledEvent = EngineEvent<JournaledType> & { readonly omitted?: readonly Omission[] };

export type JournalEntry = OwnEntry | JournaledEvent;

/** Data that is only drawn is left out of the journal when its JSON is longer than this. */
export const MAX_DATA_BYTES = 65_536;

/** Deltas and progress are in what completes them. */
export const isJournaled = (event: EngineEvent): event is EngineEvent<JournaledType> =>
  event.type !== "thinking.delta" && event.type !== "text.delta" && event.type !== "tool.progress";

/** The entry as its line, newline included. No control character is in it, so that a terminal can be shown the file. */
export const journalLine = (entry: OwnEntry | EngineEvent<JournaledType>): string => {
  const line = toJson(entry);
  return `${byteLength(line) > MAX_DATA_BYTES ? toJson(withoutBigData(entry)) : line}\n`;
};

const withoutBigData = (entry: OwnEntry | EngineEvent<JournaledType>): JournalEntry => {
  if (entry.type === "tool.completed") {
    const { data, ...result } = entry.result;
    const bytes = jsonBytes(data);
    return bytes > MAX_DATA_BYTES ? { ...entry, result, omitted: [{ field: "result.data", bytes }] } : entry;
  }
  if (entry.type === "permission.requested") {
    const { preview, ...question } = entry.question;
    const bytes = jsonBytes(preview);
    return bytes > MAX_DATA_BYTES ? { ...entry, question, omitted: [{ field: "question.preview", bytes }] } : entry;
  }
  return entry;
};

const jsonBytes = (value: unknown): number => (value === undefined ? 0 : byteLength(toJson(value)));

// JSON itself escapes only the controls below the space.
const toJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\x7f-\x9f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
