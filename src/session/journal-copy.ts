import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const PIECE_BYTES = 1_048_576;
const NEWLINE = 10;
const HEADER = Buffer.from('{"type":"session",');

/** A journal's bytes as they are at this moment, read without a pause. @throws the system's error */
export function* journalBytes(path: string): Generator<Buffer> {
  // A FIFO must not hold us, nor a link lead elsewhere.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    // Whoever has the session may write on meanwhile.
    let left = fstatSync(file).size;
    while (left > 0) {
      const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, left));
      const piece = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, null));
      if (piece.length === 0) return;
      left -= piece.length;
      yield piece;
    }
  } finally {
    closeSync(file);
  }
}

/** The same without its header. @throws the system's error */
export function* linesAfterHeader(path: string): Generator<Uint8Array> {
  let isInHeader: boolean | undefined;
  for (const piece of journalBytes(path)) {
    isInHeader ??= piece.subarray(0, HEADER.length).equals(HEADER);
    const end = isInHeader ? piece.indexOf(NEWLINE) : -1;
    if (!isInHeader) yield piece;
    else if (end >= 0) {
      isInHeader = false;
      yield piece.subarray(end + 1);
    }
  }
}
