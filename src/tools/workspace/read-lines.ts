import { readSync } from "node:fs";
import { setImmediate as nextLoop } from "node:timers/promises";
import { byteLength, headBytes } from "../../text/utf8.ts";
import { type Encoding, sniffFormat, strictDecoder } from "./text-file.ts";

export type LineRange = {
  /** 1-based. */
  readonly firstLine: number;
  readonly maxLines: number;
  /** UTF-8 bytes of what is returned. */
  readonly maxBytes: number;
};

export type LinesRead =
  | {
      readonly type: "text";
      readonly text: string;
      readonly encoding: Encoding;
      /** Why it ends: the file is over, the lines asked for are read, or the bytes are used up. */
      readonly end: "file" | "lines" | "bytes";
    }
  | { readonly type: "past-end"; readonly totalLines: number }
  | { readonly type: "binary"; readonly head: Uint8Array }
  | { readonly type: "undecodable" };

const CHUNK_BYTES = 65_536;
// So often others get their turn while a far offset is looked for.
const CHUNKS_AT_A_TIME = 16;
const LONGEST_BOM = 3;

/** Reads lines of a text file, from the start and no further than needed. */
export const readLines = async (fd: number, range: LineRange, signal: AbortSignal): Promise<LinesRead> => {
  // One byte more than may be shown tells whether there is more.
  const wanted = range.firstLine === 1 ? Math.min(range.maxBytes + 1 + LONGEST_BOM, CHUNK_BYTES) : CHUNK_BYTES;
  const head = readChunk(fd, wanted);
  const format = sniffFormat(head);
  if (!format) return { type: "binary", head };
  const { encoding, bomBytes } = format;
  const decoder = strictDecoder(encoding);
  const collector = createCollector(range);
  try {
    let chunk = head.subarray(bomBytes);
    for (let count = 1; ; count += 1) {
      if (count % CHUNKS_AT_A_TIME === 0) await nextLoop();
      signal.throwIfAborted();
      const isLast = chunk.length === 0;
      const end = collector.add(decoder.decode(chunk, { stream: !isLast }));
      if (end) return { type: "text", text: collector.text(), encoding, end };
      if (isLast) break;
      chunk = readChunk(fd, CHUNK_BYTES);
    }
  } catch (error) {
    if (error instanceof TypeError) return { type: "undecodable" };
    throw error;
  }
  const totalLines = collector.linesSeen();
  if (range.firstLine > Math.max(totalLines, 1)) return { type: "past-end", totalLines };
  return { type: "text", text: collector.text(), encoding, end: "file" };
};

const readChunk = (fd: number, bytes: number): Buffer => {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.subarray(0, readSync(fd, buffer, 0, bytes, null));
};

/** Takes the text in pieces and keeps what is in the range. */
const createCollector = ({ firstLine, maxLines, maxBytes }: LineRange) => {
  let line = 1;
  let isLineOpen = false;
  let kept = "";
  let bytes = 0;
  return {
    /** Why nothing more is needed, or undefined. */
    add(piece: string): "lines" | "bytes" | undefined {
      let start = 0;
      let end = 0;
      while (end < piece.length) {
        if (line >= firstLine + maxLines) break;
        if (line < firstLine) start = nextLine(piece, end);
        const next = nextLine(piece, end);
        isLineOpen = piece[next - 1] !== "\n";
        if (!isLineOpen) line += 1;
        end = next;
      }
      const wanted = piece.slice(start, end);
      const room = maxBytes - bytes;
      bytes += byteLength(wanted);
      kept += bytes > maxBytes ? headBytes(wanted, room) : wanted;
      if (bytes > maxBytes) return "bytes";
      return line >= firstLine + maxLines ? "lines" : undefined;
    },
    // A copy: a part of a string holds the whole of it, and this one lives as long as the conversation.
    text: () => Buffer.from(kept, "utf8").toString("utf8"),
    linesSeen: () => line - 1 + (isLineOpen ? 1 : 0),
  };
};

const nextLine = (text: string, from: number): number => {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end + 1;
};
