import { lstatSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { type BytePath, inFolder, parentOf } from "./byte-path.ts";
import { type ObjectHash, sha256 } from "./object-bytes.ts";
import type { ObjectStore } from "./object-store.ts";

/** What a file looks like from outside. */
export type SeenFile = {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
};

/** What a file looked like when it was read, and what it held. */
export type CachedFile = SeenFile & { readonly hash: ObjectHash };

/** By folder and name. */
export type StatCache = Map<BytePath, Map<string, CachedFile>>;

// Clocks of file systems are coarse (2 s on some) and may not be ours.
const RACY_MS = 2000;

/**
 * What to keep of a file that was read at `readAt`. Null where it changed so shortly before that a change right after the
 * reading might show the same times: it is read again next time.
 */
export const cachedFile = (stats: Stats, hash: ObjectHash, readAt: number): CachedFile | null => {
  const { size, mode, mtimeMs, ctimeMs, ino } = stats;
  if (Math.max(mtimeMs, ctimeMs) > readAt - RACY_MS) return null;
  return { size, mode, mtimeMs, ctimeMs, inode: ino, hash };
};

/** A new mode, or something that is no file any more, has another change time or inode. */
export const isUnchanged = (cached: SeenFile, stats: Stats): boolean =>
  cached.size === stats.size &&
  cached.mode === stats.mode &&
  cached.mtimeMs === stats.mtimeMs &&
  cached.ctimeMs === stats.ctimeMs &&
  cached.inode === stats.ino;

/** What stands at a path, links not followed. */
export const lookAt = (path: string | Buffer): Stats | "gone" | "unreadable" => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? "gone";
  } catch {
    // A folder that may be listed but not entered, or a path that is too long.
    return "unreadable";
  }
};

const FILE = "stat-cache";
const MAGIC = "harness9 stat 2\n";
const NUMBERS = 5;
const HASH_BYTES = 32;
const CHECK_BYTES = 32;

/** A cache, and as bytes: a check, then for each file its numbers and the hash, then the paths with NULs between them. */
export type StoredCache = { readonly cache: StatCache; readonly bytes: Buffer };

/** The cache as it was written last; null where there is none, or it is damaged. */
export const loadStatCache = (store: Pick<ObjectStore, "folder">): StoredCache | null => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(store.folder, FILE));
  } catch {
    // The first snapshot writes it.
    return null;
  }
  const body = bytes.subarray(CHECK_BYTES);
  if (sha256(body) !== bytes.toString("hex", 0, CHECK_BYTES)) return null;
  if (body.toString("latin1", 0, MAGIC.length) !== MAGIC) return null;
  return { cache: decode(bytes), bytes };
};

/** Replaces the cache whole. Returns the bytes. */
export const saveStatCache = (store: ObjectStore, cache: StatCache): Buffer => {
  const body = Buffer.concat([Buffer.from(MAGIC), encodeBody(cache)]);
  const bytes = Buffer.concat([Buffer.from(sha256(body), "hex"), body]);
  store.writeFile(FILE, bytes);
  return bytes;
};

const ROW_BYTES = NUMBERS * 8 + HASH_BYTES;

const encodeBody = (cache: StatCache): Buffer => {
  const files = [...cache].flatMap(([folder, names]) =>
    [...names].map(([name, file]): readonly [BytePath, CachedFile] => [inFolder(folder, name), file]),
  );
  const rows = Buffer.allocUnsafe(4 + files.length * ROW_BYTES);
  rows.writeUInt32LE(files.length);
  let at = 4;
  for (const [, { size, mode, mtimeMs, ctimeMs, inode, hash }] of files) {
    for (const [index, number] of [size, mode, mtimeMs, ctimeMs, inode].entries())
      rows.writeDoubleLE(number, at + index * 8);
    rows.write(hash, at + NUMBERS * 8, HASH_BYTES, "hex");
    at += ROW_BYTES;
  }
  return Buffer.concat([rows, Buffer.from(files.map(([path]) => path).join("\0"), "latin1")]);
};

/** What `saveStatCache` has written, in the same order. */
export type CacheRows = {
  readonly paths: readonly BytePath[];
  readonly seenAt: (index: number) => SeenFile;
  readonly hashAt: (index: number) => ObjectHash;
};

export const cacheRows = (bytes: Buffer): CacheRows => {
  const body = bytes.subarray(CHECK_BYTES + MAGIC.length);
  const count = body.readUInt32LE(0);
  return {
    paths: count === 0 ? [] : body.toString("latin1", 4 + count * ROW_BYTES).split("\0"),
    seenAt: (index) => {
      const at = 4 + index * ROW_BYTES;
      return {
        size: body.readDoubleLE(at),
        mode: body.readDoubleLE(at + 8),
        mtimeMs: body.readDoubleLE(at + 16),
        ctimeMs: body.readDoubleLE(at + 24),
        inode: body.readDoubleLE(at + 32),
      };
    },
    hashAt: (index) => {
      const at = 4 + index * ROW_BYTES + NUMBERS * 8;
      return body.toString("hex", at, at + HASH_BYTES);
    },
  };
};

const decode = (bytes: Buffer): StatCache => {
  const { paths, seenAt, hashAt } = cacheRows(bytes);
  const cache: StatCache = new Map();
  for (const [index, path] of paths.entries()) {
    const folder = parentOf(path);
    const names = cache.get(folder) ?? new Map<string, CachedFile>();
    cache.set(folder, names);
    const name = path.slice(folder === "" ? 0 : folder.length + 1);
    names.set(name, { ...seenAt(index), hash: hashAt(index) });
  }
  return cache;
};
