import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import type { SessionEntry } from "../session/journal.ts";
import { NewerJournalError, readJournal } from "../session/journal-read.ts";
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
  const found = totalsAtEnd(tail) ?? (await totalsOfAll(path));
  if (found.totals.runs === 0) return undefined;
  const { workDir = "", createdAt = "" } = header ?? {};
  return { ...found.totals, workDir, createdAt, updatedAt: found.time };
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

type Found = { readonly totals: Totals; readonly time: string };

/** The totals of the last run, unless something that counts came after them. */
const totalsAtEnd = (tail: Buffer): Found | undefined => {
  let time: string | undefined;
  for (const line of linesFromEnd(tail)) {
    const parsed = parseJournalLine(line);
    if (parsed.type !== "entry") continue;
    const { entry } = parsed;
    if ("time" in entry) time ??= entry.time;
    if (entry.type === "totals") return { totals: entry, time: time ?? entry.time };
    if (entry.type === "run.started" || entry.type === "turn.started" || entry.type === "usage.updated")
      return undefined;
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

const totalsOfAll = async (path: string): Promise<Found> => {
  const fold = createTotals();
  let time = "";
  for await (const item of readJournal(journalPieces(path))) {
    if (item.type !== "entry") continue;
    const { entry } = item;
    if ("time" in entry) time = entry.time;
    if ("seq" in entry) fold.add(entry);
  }
  return { totals: fold.totals(), time };
};
