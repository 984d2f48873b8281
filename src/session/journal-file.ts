import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import type { EngineEvent } from "../schema/event.ts";
import { isJournaled, journalLine, type OwnEntry, type SessionEntry, type SystemEntry } from "./journal.ts";
import { linesAfterHeader } from "./journal-copy.ts";
import { createTotals, type Totals } from "./journal-totals.ts";

export type JournalFile = {
  readonly path: string;
  /** A sink of events: what matters of each is one write, done when this returns. */
  readonly write: (event: EngineEvent) => void;
  /** What no event tells of. Before the first event it is nothing worth keeping. */
  readonly note: (entry: Exclude<OwnEntry, { type: "session" | "totals" }>) => void;
  /** Gives the session back. A journal without an event is taken away. */
  readonly close: () => void;
};

export type JournalFileOptions = {
  /** Gives back the session's lock, which the caller has taken. */
  readonly release: () => void;
  /** Written first where the file is new. */
  readonly head: readonly [SessionEntry, SystemEntry];
  /** The journal whose lines come between, for a session that forks off it. */
  readonly copyOf?: string | undefined;
  /** What the session has come to so far, where it goes on. */
  readonly before?: Totals | undefined;
  /** Hears once of a write that fails, as on a full disk: the journal ends, and the run goes on. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Opens a session's journal (0600), whose lock is held, and appends to it. A line that was torn stays a line of its own.
 * @throws the system's error when the file cannot be opened; the lock is given back then
 */
export const openJournalFile = (path: string, options: JournalFileOptions): JournalFile => {
  const { release, head } = options;
  let file: number;
  let isNew: boolean;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    fchmodSync(file, 0o600);
    isNew = fstatSync(file).size === 0;
    if (!isNew) writeAll(file, endOfTornLine(file));
    else if (options.copyOf === undefined) writeAll(file, head.map(journalLine).join(""));
    else writeCopy(file, head, options.copyOf);
  } catch (error) {
    release();
    throw error;
  }

  const totals = createTotals(options.before);
  let isOpen = true;
  let isClosed = false;
  let isEmpty = isNew;
  const end = (): void => {
    isOpen = false;
    closeSync(file);
  };
  const append = (text: string, isDurable: boolean): void => {
    if (!isOpen) return;
    try {
      writeAll(file, text);
      isEmpty = false;
      if (isDurable) fsyncSync(file);
    } catch (error) {
      // After a hole, what follows could not be understood.
      end();
      options.onFailure(error);
    }
  };

  return {
    path,
    write: (event) => {
      totals.add(event);
      if (!isJournaled(event)) return;
      if (event.type !== "run.completed" || event.parentToolCallId !== undefined) append(journalLine(event), false);
      else append(journalLine(event) + journalLine({ type: "totals", time: event.time, ...totals.totals() }), true);
    },
    note: (entry) => {
      if (!isEmpty) append(journalLine(entry), false);
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      if (isOpen) end();
      if (isEmpty) rmSync(path, { force: true });
      release();
    },
  };
};

/** @throws the system's error; a short write is one on a disk that is filling up. */
const writeAll = (file: number, text: string | Uint8Array): void => {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
};

/** The system prompt comes last: of several, that one counts. */
const writeCopy = (file: number, [session, system]: JournalFileOptions["head"], source: string): void => {
  writeAll(file, journalLine(session));
  for (const piece of linesAfterHeader(source)) writeAll(file, piece);
  writeAll(file, endOfTornLine(file) + journalLine(system));
};

const endOfTornLine = (file: number): string => {
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, fstatSync(file).size - 1);
  return last[0] === 10 ? "" : "\n";
};
