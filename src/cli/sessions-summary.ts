import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import type { SessionEntry } from "../session/journal.ts";
import { MAX_LINE_BYTES, NewerJournalError, readJournal } from "../session/journal-read.ts";
import { parseJournalLine } from "../session/journal-schema.ts";
import { createTotals, type Totals } from "../session/journal-totals.ts";

/** A session in a line of the list. */
export type SessionSummary = Totals & {
  /** Empty where the header is damaged. */
  readonly workDir: string;
  /** ISO 8601, UTC; empty where the header is damaged. */
  readonly createdAt: string;
  readonly updatedAt: string;
};

const HEAD_BYTES = 8192;
const TAIL_BYTES = 8192;
const PIECE_BYTES = 1_048_576;

/**
 * A journal's head and, where a run has ended last, the line with its totals; else all of it. Undefined for one
 * without a run. @throws NewerJournalError, or the system's error
 */
export const summarize = async (path: string): Promise<SessionSummary | undefined> => {
  const { head, tail } = readEnds(path);
  const header = headerOf(head);
  const atEnd = totalsAtEnd(tail);
  const { totals, time } = atEnd ? { totals: atEnd, time: "" } : await totalsOfAll(path);
  if (totals.runs === 0) return undefined;
  const { workDir = "", createdAt = "" } = header ?? {};
  return { ...totals, workDir, createdAt, updatedAt: timeAtEnd(tail) ?? time };
};

/** The pieces of a journal, for `readJournal`. @throws the system's error */
export const journalPieces = (path: string): AsyncIterable<Uint8Array> =>
  createReadStream(path, { fd: openSync(path, READ_FLAGS), highWaterMark: PIECE_BYTES });

// A FIFO must not hold us, nor a link lead elsewhere.
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

const readEnds = (path: string): { readonly head: Buffer; readonly tail: Buffer } => {
  const file = openSync(path, READ_FLAGS);
  try {
    const { size } = fstatSync(file);
    const head = readAt(file, 0, HEAD_BYTES);
    return { head, tail: size <= HEAD_BYTES ? head : readAt(file, size - TAIL_BYTES, TAIL_BYTES) };
  } finally {
    closeSync(file);
  }
};

const readAt = (file: number, position: number, bytes: number): Buffer => {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, position));
};

const headerOf = (head: Buffer): SessionEntry | undefined => {
  const end = head.indexOf("\n");
  const parsed = parseJournalLine(head.toString("utf8", 0, end < 0 ? head.length : end));
  if (parsed.type === "newer") throw new NewerJournalError(parsed.version);
  return parsed.type === "entry" && parsed.entry.type === "session" ? parsed.entry : undefined;
};

/** The totals of the last run, unless something that counts came after them. */
const totalsAtEnd = (tail: Buffer): Totals | undefined => {
  for (const line of linesFromEnd(tail)) {
    const parsed = parseJournalLine(line);
    if (parsed.type !== "entry") continue;
    const { type } = parsed.entry;
    if (type === "totals") return parsed.entry;
    if (type === "run.started" || type === "turn.started" || type === "usage.updated") return undefined;
  }
  return undefined;
};

const timeAtEnd = (tail: Buffer): string | undefined => {
  for (const line of linesFromEnd(tail)) {
    const parsed = parseJournalLine(line);
    if (parsed.type === "entry" && "time" in parsed.entry) return parsed.entry.time;
  }
  return undefined;
};

/** The first line is none of them: it may be cut, and totals are never first. */
function* linesFromEnd(tail: Buffer): Generator<string> {
  let end = tail.length;
  for (let start = tail.lastIndexOf("\n"); start >= 0 && end > 0; start = tail.lastIndexOf("\n", end - 1)) {
    if (start + 1 < end) yield tail.toString("utf8", start + 1, end);
    end = start;
  }
}

/** What `createTotals` counts. */
const COUNTED = ["run.started", "input.added", "turn.started", "usage.updated", "run.completed"] as const;

const totalsOfAll = async (path: string): Promise<{ readonly totals: Totals; readonly time: string }> => {
  const fold = createTotals();
  let time = "";
  for await (const item of readJournal(journalPieces(path), MAX_LINE_BYTES, COUNTED)) {
    if (item.type !== "entry" || !("seq" in item.entry)) continue;
    ({ time } = item.entry);
    fold.add(item.entry);
  }
  return { totals: fold.totals(), time };
};
