import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { errorCode } from "../text/error-message.ts";

/** What a file held at one moment, or why it could not be read. */
export type FileRead =
  | { readonly type: "read"; readonly bytes: Buffer; readonly stats: Stats }
  | { readonly type: "gone" }
  | { readonly type: "not-a-file" }
  | { readonly type: "big"; readonly stats: Stats }
  /** It may not be read, or it never stopped changing. */
  | { readonly type: "unreadable" };

const ATTEMPTS = 3;
// A link that took the file's place is not followed, and a pipe that did is not waited for.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads a regular file whole. One that changes meanwhile is read again. */
export const readWhole = (path: string | Buffer, maxBytes: number): FileRead => {
  let descriptor: number;
  try {
    descriptor = openSync(path, FLAGS);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { type: "gone" };
    return { type: code === "ELOOP" || code === "ENXIO" ? "not-a-file" : "unreadable" };
  }
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const read = readOnce(descriptor, maxBytes);
      if (read) return read;
    }
    return { type: "unreadable" };
  } catch {
    // The system's error is about this file only, as a bad block.
    return { type: "unreadable" };
  } finally {
    closeSync(descriptor);
  }
};

/** Null where the file has changed meanwhile. */
const readOnce = (descriptor: number, maxBytes: number): FileRead | null => {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) return { type: "not-a-file" };
  if (stats.size > maxBytes) return { type: "big", stats };
  const buffer = Buffer.allocUnsafe(stats.size + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, length);
    if (count === 0) break;
    length += count;
  }
  const after = fstatSync(descriptor);
  const isSame = after.mtimeMs === stats.mtimeMs && after.ctimeMs === stats.ctimeMs && after.size === stats.size;
  return isSame && length === stats.size ? { type: "read", bytes: buffer.subarray(0, length), stats } : null;
};
