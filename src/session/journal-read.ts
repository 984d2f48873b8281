import { isUtf8 } from "node:buffer";
import type { JournalEntry } from "./journal.ts";
import { parseJournalLine } from "./journal-schema.ts";

/** One line of a journal, or why it does not count. */
export type JournalItem =
  | { readonly type: "entry"; readonly entry: JournalEntry; readonly line: string }
  /** Valid, of a kind that this version does not know. */
  | { readonly type: "unknown"; readonly line: string }
  /** `torn`: the last line, which a program that was killed has not finished. `repeated`: its `seq` has been there. */
  | { readonly type: "skipped"; readonly reason: "corrupt" | "too-long" | "repeated" | "torn" };

/** A journal that this program cannot read, since a newer one wrote it. */
export class NewerJournalError extends Error {
  readonly version: number;

  constructor(version: number) {
    super(`the journal has version ${version}`);
    this.version = version;
  }
}

/** More than the longest line that can be written: 10 MiB of standard input, each byte escaped. */
export const MAX_LINE_BYTES = 67_108_864;

/**
 * The lines of a journal that comes in pieces, however they are cut. Holds one line, and nothing of what is longer
 * than `maxLineBytes`. With `only`, lines that begin as one of another kind are passed over unread: most of a journal
 * is not about figures. @throws NewerJournalError
 */
export async function* readJournal(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxLineBytes = MAX_LINE_BYTES,
  only?: readonly JournalEntry["type"][],
): AsyncGenerator<JournalItem> {
  // By session: a child session counts for itself.
  const newest = new Map<string, number>();
  for await (const line of splitLines(pieces, maxLineBytes, only && isOneOf(only))) {
    if (line.text === undefined) yield { type: "skipped", reason: line.isWhole ? line.problem : "torn" };
    else if (line.text !== "") yield itemOf(line.text, line.isWhole, newest);
  }
}

const itemOf = (text: string, isWhole: boolean, newest: Map<string, number>): JournalItem => {
  const parsed = parseJournalLine(text);
  switch (parsed.type) {
    case "newer":
      throw new NewerJournalError(parsed.version);
    case "corrupt":
      return { type: "skipped", reason: isWhole ? "corrupt" : "torn" };
    case "unknown":
      return { type: "unknown", line: text };
    case "entry": {
      const { entry } = parsed;
      if (!("seq" in entry)) return { type: "entry", entry, line: text };
      if (entry.seq <= (newest.get(entry.sessionId) ?? 0)) return { type: "skipped", reason: "repeated" };
      newest.set(entry.sessionId, entry.seq);
      return { type: "entry", entry, line: text };
    }
    default:
      return parsed satisfies never;
  }
};

/** `isWhole`: its newline has come. */
type Line =
  | { readonly text: string; readonly isWhole: boolean }
  | { readonly text?: never; readonly problem: "corrupt" | "too-long"; readonly isWhole: boolean };

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** Lines without LF or CRLF. */
async function* splitLines(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  isWanted: (line: Buffer) => boolean = () => true,
): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const add = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else parts.push(part);
  };
  const take = (isWhole: boolean): Line | undefined => {
    const isTooLong = bytes > maxBytes;
    const line = joined(parts);
    parts = [];
    bytes = 0;
    if (isTooLong) return { problem: "too-long", isWhole };
    return isWhole && !isWanted(line) ? undefined : decode(line, isWhole);
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      add(piece.subarray(start, end));
      const line = take(true);
      if (line) yield line;
      start = end + 1;
    }
    // A copy of the rest: whoever reads may use the piece again.
    if (start < piece.length) add(piece.slice(start));
  }
  const rest = bytes > 0 ? take(false) : undefined;
  if (rest) yield rest;
}

/** A line is within one piece as a rule: no copy. */
const joined = (parts: readonly Uint8Array[]): Buffer => {
  const [only] = parts;
  return only && parts.length === 1 ? Buffer.from(only.buffer, only.byteOffset, only.byteLength) : Buffer.concat(parts);
};

const START = Buffer.from('{"type":"');
const QUOTE = 34;
const MAX_KIND_BYTES = 32;

/** By how our own lines begin; what begins otherwise is to be read, and a header is always. */
const isOneOf =
  (kinds: readonly string[]) =>
  (line: Buffer): boolean => {
    if (!line.subarray(0, START.length).equals(START)) return true;
    const end = line.subarray(0, START.length + MAX_KIND_BYTES).indexOf(QUOTE, START.length);
    if (end < 0) return true;
    const kind = line.toString("latin1", START.length, end);
    return kind === "session" || kinds.includes(kind);
  };

const decode = (bytes: Buffer, isWhole: boolean): Line => {
  if (!isUtf8(bytes)) return { problem: "corrupt", isWhole };
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  return { text: bytes.toString("utf8", 0, end), isWhole };
};
