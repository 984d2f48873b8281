import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../text/error-message.ts";
import { isObjectHash, type ObjectHash } from "./object-bytes.ts";
import { createObjectStore, type ObjectStore, PACKS, type Pack, TEMPORARY } from "./object-store.ts";
import { createPackWriter, type PackWriter, readPacked } from "./pack-file.ts";
import { SnapshotError, writeError } from "./snapshot-error.ts";
import type { SnapshotId } from "./snapshots.ts";
import { listTaken, takenAt, takenPath } from "./taken.ts";
import { readTree } from "./tree.ts";

export const MAX_STORE_BYTES = 2 * 1024 * 1024 * 1024;
/** What is younger may belong to a snapshot that another process is taking now. */
const YOUNG_MS = 60 * 60_000;
// Many small packs become one.
const SMALL_BYTES = 4 * 1024 * 1024;
const MANY_SMALL = 32;

export type CollectOptions = {
  /** The folder of the store. */
  readonly folder: string;
  /** The snapshots that are still wanted. */
  readonly keep: readonly SnapshotId[];
  /** Of all objects; the oldest snapshots beyond it go though they are wanted. */
  readonly maxBytes: number;
  readonly now: number;
};

export type Collected = { readonly removedBytes: number; readonly keptBytes: number };

/**
 * Removes what no kept snapshot needs, and nothing that is younger than an hour: a process that takes a snapshot makes the
 * packs that it needs young before it says that it has one. Throws a SnapshotError.
 */
export const collect = (options: CollectOptions): Collected => {
  const { folder, now } = options;
  const store = createObjectStore(folder);
  const live = liveObjects(store, options);
  const old = [...store.packs().values()].filter(({ path }) => isOld(path, now));
  const before = bytesOf(store.packs().values());
  try {
    repack(folder, packsToEmpty(old, live), live, now);
  } catch (error) {
    throw error instanceof SnapshotError ? error : writeError(error);
  }
  for (const name of namesIn(join(folder, TEMPORARY))) removeOld(join(folder, TEMPORARY, name), now);
  for (const id of listTaken(folder)) if (!live.has(id)) removeOld(takenPath(folder, id), now);
  store.refresh();
  const keptBytes = bytesOf(store.packs().values());
  return { removedBytes: Math.max(0, before - keptBytes), keptBytes };
};

const bytesOf = (packs: Iterable<Pack>): number => {
  let bytes = 0;
  for (const { entries } of packs) for (const { length } of entries.values()) bytes += length;
  return bytes;
};

/** What the snapshots need, the newest first, as far as the limit goes; that of young ones in any case. */
const liveObjects = (store: ObjectStore, { folder, keep, maxBytes, now }: CollectOptions): ReadonlySet<ObjectHash> => {
  const young = listTaken(folder).filter((id) => isYoung(takenAt(folder, id), now));
  const newestFirst = [...new Set([...keep, ...young])]
    .filter(isObjectHash)
    .map((id) => ({ id, at: takenAt(folder, id) }))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1));
  const sizes = new Map<ObjectHash, number>();
  for (const { entries } of store.packs().values()) for (const [hash, { length }] of entries) sizes.set(hash, length);
  const live = new Set<ObjectHash>();
  let bytes = 0;
  for (const { id, at } of newestFirst) {
    const added = needed(store, id, live);
    for (const hash of added) bytes += sizes.get(hash) ?? 0;
    if (bytes > maxBytes && !isYoung(at, now)) break;
    for (const hash of added) live.add(hash);
  }
  return live;
};

/** The objects of a snapshot that are not among the known ones. */
const needed = (store: ObjectStore, id: SnapshotId, known: ReadonlySet<ObjectHash>): ReadonlySet<ObjectHash> => {
  const found = new Set<ObjectHash>();
  const visit = (hash: ObjectHash): void => {
    if (known.has(hash) || found.has(hash)) return;
    found.add(hash);
    for (const entry of entriesOf(store, hash)) {
      if (entry.type === "folder") visit(entry.hash);
      else if (entry.type === "file") found.add(entry.hash);
    }
  };
  visit(id);
  return found;
};

const entriesOf = (store: ObjectStore, hash: ObjectHash) => {
  try {
    return [...readTree(store, hash).entries.values()];
  } catch (error) {
    // A snapshot that has lost a folder still has the others.
    if (error instanceof SnapshotError) return [];
    throw error;
  }
};

/** The packs that hold nothing or little that is needed, and small ones where there are many. */
const packsToEmpty = (packs: readonly Pack[], live: ReadonlySet<ObjectHash>): readonly Pack[] => {
  const small = packs.filter((pack) => bytesOf([pack]) < SMALL_BYTES);
  const isDue = (pack: Pack): boolean => {
    let liveBytes = 0;
    for (const [hash, { length }] of pack.entries) liveBytes += live.has(hash) ? length : 0;
    return liveBytes <= bytesOf([pack]) / 2;
  };
  return packs.filter((pack) => isDue(pack) || (small.length > MANY_SMALL && small.includes(pack)));
};

/** What is needed goes into one new pack before the old ones go. */
const repack = (folder: string, packs: readonly Pack[], live: ReadonlySet<ObjectHash>, now: number): void => {
  let writer: PackWriter | null = null;
  const name = `${now}-${randomBytes(8).toString("hex")}`;
  try {
    for (const { path, entries } of packs)
      for (const [hash, entry] of entries) {
        if (!live.has(hash) || writer?.has(hash)) continue;
        const stored = readPacked(path, entry);
        writer ??= openWriter(folder, name);
        if (stored) writer.add(hash, stored);
      }
    writer?.finish(join(folder, PACKS, name));
  } catch (error) {
    writer?.discard();
    throw error;
  }
  for (const { path } of packs) removeOld(path, now);
};

const openWriter = (folder: string, name: string): PackWriter => {
  mkdirSync(join(folder, TEMPORARY), { recursive: true, mode: 0o700 });
  return createPackWriter(join(folder, TEMPORARY, `collect-${name}`));
};

const isYoung = (at: number, now: number): boolean => at > now - YOUNG_MS;

const isOld = (path: string, now: number): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !isYoung(stats.mtimeMs, now);
};

/** Looks at its time right before. */
const removeOld = (path: string, now: number): void => {
  if (!isOld(path, now)) return;
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw writeError(error);
  }
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw writeError(error);
  }
};
