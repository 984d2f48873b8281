import { readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { type BytePath, inFolder, parentOf } from "./byte-path.ts";
import { type ObjectHash, sha256 } from "./object-bytes.ts";
import type { ObjectStore } from "./object-store.ts";

/** What a file looked like from outside when it was read, and what it held. */
export type CachedFile = {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly hash: ObjectHash;
};

/** By folder and name. */
export type StatCache = Map<BytePath, Map<string, CachedFile>>;

// Clocks of file systems are coarse (2 s on some) and may not be ours.
const RACY_MS = 2000;

/**
 * What to keep of a file that was read at `readAt`. Null where it changed so shortly before that a change right after the
 * reading might show the same times: it is read again next time.
 */
export const cachedFile = (stats: Stats, hash: ObjectHash, readAt: number): CachedFile | null => {
  const { size, mtimeMs, ctimeMs, ino } = stats;
  if (Math.max(mtimeMs, ctimeMs) > readAt - RACY_MS) return null;
  return { size, mtimeMs, ctimeMs, inode: ino, hash };
};

export const isUnchanged = (cached: CachedFile, stats: Stats): boolean =>
  cached.size === stats.size &&
  cached.mtimeMs === stats.mtimeMs &&
  cached.ctimeMs === stats.ctimeMs &&
  cached.inode === stats.ino;

const FILE = "stat-cache";
const MAGIC = "harness9 stat 1\n";
const NUMBERS = 4;
const HASH_BYTES = 32;
const CHECK_BYTES = 32;

/** The cache as it was written last; an empty one where there is none, or it is damaged. */
export const loadStatCache = (store: Pick<ObjectStore, "folder">): StatCache => {
  const empty: StatCache = new Map();
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(store.folder, FILE));
  } catch {
    // The first snapshot writes it.
    return empty;
  }
  const body = bytes.subarray(CHECK_BYTES);
  if (sha256(body) !== bytes.toString("hex", 0, CHECK_BYTES)) return empty;
  if (body.toString("latin1", 0, MAGIC.length) !== MAGIC) return empty;
  return decodeBody(body.subarray(MAGIC.length));
};

/** Replaces the cache whole. */
export const saveStatCache = (store: ObjectStore, cache: StatCache): void => {
  const body = Buffer.concat([Buffer.from(MAGIC), encodeBody(cache)]);
  store.writeFile(FILE, Buffer.concat([Buffer.from(sha256(body), "hex"), body]));
};

/** The count; for each file four numbers and the hash; then the names, with NULs between them. */
const encodeBody = (cache: StatCache): Buffer => {
  const files = [...cache].flatMap(([folder, names]) =>
    [...names].map(([name, file]): readonly [BytePath, CachedFile] => [inFolder(folder, name), file]),
  );
  const rowBytes = NUMBERS * 8 + HASH_BYTES;
  const rows = Buffer.allocUnsafe(4 + files.length * rowBytes);
  rows.writeUInt32LE(files.length);
  let at = 4;
  for (const [, { size, mtimeMs, ctimeMs, inode, hash }] of files) {
    rows.writeDoubleLE(size, at);
    rows.writeDoubleLE(mtimeMs, at + 8);
    rows.writeDoubleLE(ctimeMs, at + 16);
    rows.writeDoubleLE(inode, at + 24);
    rows.write(hash, at + 32, HASH_BYTES, "hex");
    at += rowBytes;
  }
  return Buffer.concat([rows, Buffer.from(files.map(([path]) => path).join("\0"), "latin1")]);
};

const decodeBody = (body: Buffer): StatCache => {
  const rowBytes = NUMBERS * 8 + HASH_BYTES;
  const count = body.readUInt32LE(0);
  const paths = count === 0 ? [] : body.toString("latin1", 4 + count * rowBytes).split("\0");
  const files: StatCache = new Map();
  for (const [index, path] of paths.entries()) {
    const at = 4 + index * rowBytes;
    const folder = parentOf(path);
    const names = files.get(folder) ?? new Map<string, CachedFile>();
    files.set(folder, names);
    names.set(path.slice(folder === "" ? 0 : folder.length + 1), {
      size: body.readDoubleLE(at),
      mtimeMs: body.readDoubleLE(at + 8),
      ctimeMs: body.readDoubleLE(at + 16),
      inode: body.readDoubleLE(at + 24),
      hash: body.toString("hex", at + 32, at + 32 + HASH_BYTES),
    });
  }
  return files;
};
