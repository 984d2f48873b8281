import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { type ObjectHash, sha256 } from "./object-bytes.ts";

/*
 * Many objects in one file, which is written once and never changed: the stored bytes of each, then an index, then the index's
 * SHA-256, its length and a mark. A pack without a sound end counts as none.
 */

export type PackEntry = { readonly offset: number; readonly length: number };

export type PackWriter = {
  readonly add: (hash: ObjectHash, stored: Buffer) => void;
  readonly has: (hash: ObjectHash) => boolean;
  /** Ends the pack and gives it its name; what it holds. */
  readonly finish: (path: string) => ReadonlyMap<ObjectHash, PackEntry>;
  /** Lets go of it. */
  readonly discard: () => void;
};

const MARK = Buffer.from("H9PACK1\n");
const HASH_BYTES = 32;
const NUMBER_BYTES = 6;
const ENTRY_BYTES = HASH_BYTES + 2 * NUMBER_BYTES;
const END_BYTES = HASH_BYTES + NUMBER_BYTES + MARK.length;
const CHUNK_BYTES = 1024 * 1024;

/** Writes into a temporary file. All of it throws the system's errors. */
export const createPackWriter = (temporary: string): PackWriter => {
  const descriptor = openSync(temporary, "wx", 0o600);
  const entries = new Map<ObjectHash, PackEntry>();
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let size = 0;
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  const writeOut = (): void => {
    writeAll(descriptor, Buffer.concat(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  const append = (bytes: Buffer): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    size += bytes.length;
    if (waitingBytes >= CHUNK_BYTES) writeOut();
  };
  return {
    has: (hash) => entries.has(hash),
    add: (hash, stored) => {
      entries.set(hash, { offset: size, length: stored.length });
      append(stored);
    },
    finish: (path) => {
      const index = encodeIndex(entries);
      append(Buffer.concat([index, Buffer.from(sha256(index), "hex"), number(index.length), MARK]));
      writeOut();
      close();
      renameSync(temporary, path);
      return entries;
    },
    discard: () => {
      close();
      rmSync(temporary, { force: true });
    },
  };
};

const writeAll = (descriptor: number, bytes: Buffer): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
};

const encodeIndex = (entries: ReadonlyMap<ObjectHash, PackEntry>): Buffer => {
  const index = Buffer.allocUnsafe(entries.size * ENTRY_BYTES);
  let at = 0;
  for (const [hash, { offset, length }] of entries) {
    index.write(hash, at, HASH_BYTES, "hex");
    index.writeUIntLE(offset, at + HASH_BYTES, NUMBER_BYTES);
    index.writeUIntLE(length, at + HASH_BYTES + NUMBER_BYTES, NUMBER_BYTES);
    at += ENTRY_BYTES;
  }
  return index;
};

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUIntLE(value, 0, NUMBER_BYTES);
  return bytes;
};

/** What a pack holds; null for a file that is no whole pack. Throws the system's errors. */
export const readPackIndex = (path: string): ReadonlyMap<ObjectHash, PackEntry> | null => {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    const end = readAt(descriptor, size - END_BYTES, END_BYTES);
    if (!end?.subarray(HASH_BYTES + NUMBER_BYTES).equals(MARK)) return null;
    const length = end.readUIntLE(HASH_BYTES, NUMBER_BYTES);
    const index = readAt(descriptor, size - END_BYTES - length, length);
    if (!index || sha256(index) !== end.toString("hex", 0, HASH_BYTES)) return null;
    return decodeIndex(index);
  } finally {
    closeSync(descriptor);
  }
};

const decodeIndex = (index: Buffer): ReadonlyMap<ObjectHash, PackEntry> => {
  const entries = new Map<ObjectHash, PackEntry>();
  for (let at = 0; at + ENTRY_BYTES <= index.length; at += ENTRY_BYTES)
    entries.set(index.toString("hex", at, at + HASH_BYTES), {
      offset: index.readUIntLE(at + HASH_BYTES, NUMBER_BYTES),
      length: index.readUIntLE(at + HASH_BYTES + NUMBER_BYTES, NUMBER_BYTES),
    });
  return entries;
};

/** The stored bytes of an object; null where the file is shorter. Throws the system's errors. */
export const readPacked = (path: string, { offset, length }: PackEntry): Buffer | null => {
  const descriptor = openSync(path, "r");
  try {
    return readAt(descriptor, offset, length);
  } finally {
    closeSync(descriptor);
  }
};

const readAt = (descriptor: number, position: number, length: number): Buffer | null => {
  if (position < 0) return null;
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(descriptor, bytes, done, length - done, position + done);
    if (count === 0) return null;
    done += count;
  }
  return bytes;
};
