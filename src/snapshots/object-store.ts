import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../text/error-message.ts";
import { decodeObject, encodeObject, type ObjectHash, sha256 } from "./object-bytes.ts";
import { createPackWriter, type PackEntry, type PackWriter, readPacked, readPackIndex } from "./pack-file.ts";
import { SnapshotError, writeError } from "./snapshot-error.ts";

/**
 * Bytes by their SHA-256. What is put stands in a new pack when it is flushed, whole or not at all: a program that is killed
 * leaves nothing but a temporary file, and processes that write at once do not meet. Nothing is synchronized to the disk:
 * packs and objects are checked when they are read. Throws SnapshotErrors.
 */
export type ObjectStore = {
  readonly folder: string;
  readonly put: (bytes: Buffer) => ObjectHash;
  /** Makes what has been put last. */
  readonly flush: () => void;
  /** Forgets what has been put and not flushed. */
  readonly discard: () => void;
  /** Whether it is there. Until the next `refresh` it counts as used, as does what is put. */
  readonly use: (hash: ObjectHash) => boolean;
  readonly get: (hash: ObjectHash) => Buffer;
  /** Learns what other processes have written and removed. */
  readonly refresh: () => void;
  /** Keeps what has been used from being removed for a while. False where some of it has gone. */
  readonly keepYoung: () => boolean;
  /** Each pack by its name, and what it holds. */
  readonly packs: () => ReadonlyMap<string, Pack>;
  /** Writes a file of the store itself, whole or not at all. */
  readonly writeFile: (name: string, bytes: Buffer) => void;
};

export type Pack = { readonly path: string; readonly entries: ReadonlyMap<ObjectHash, PackEntry> };

type Place = { readonly pack: string; readonly entry: PackEntry };

// Less than what collecting takes for young, by far.
const KEEP_YOUNG_MS = 10 * 60_000;

export const PACKS = "packs";
export const TEMPORARY = "tmp";

/** Nothing is made before something is written. */
export const createObjectStore = (folder: string): ObjectStore => {
  const prefix = join(folder, TEMPORARY, `${process.pid}-${randomBytes(6).toString("hex")}`);
  const packs = new Map<string, Pack>();
  const youngAt = new Map<string, number>();
  const used = new Set<string>();
  let places = new Map<ObjectHash, Place>();
  let isLoaded = false;
  let writer: PackWriter | null = null;
  let count = 0;

  const newTemporary = (): string => {
    count += 1;
    return `${prefix}-${count}`;
  };
  const learn = (name: string, entries: Pack["entries"]): void => {
    packs.set(name, { path: join(folder, PACKS, name), entries });
    for (const [hash, entry] of entries) places.set(hash, { pack: name, entry });
  };
  const refresh = (): void => {
    isLoaded = true;
    used.clear();
    const names = new Set(packNames(folder));
    const gone = [...packs.keys()].filter((name) => !names.has(name));
    for (const name of gone) packs.delete(name);
    if (gone.length > 0) {
      places = new Map();
      for (const [name, { entries }] of packs) learn(name, entries);
    }
    for (const name of names) {
      const entries = packs.has(name) ? null : indexOf(join(folder, PACKS, name));
      if (entries) learn(name, entries);
    }
  };
  const load = (): void => {
    if (!isLoaded) refresh();
  };
  const find = (hash: ObjectHash): Place | undefined => {
    load();
    return places.get(hash);
  };
  const use = (hash: ObjectHash): boolean => {
    const place = find(hash);
    if (place) used.add(place.pack);
    return place !== undefined || writer?.has(hash) === true;
  };
  const discard = (): void => {
    const open = writer;
    writer = null;
    open?.discard();
  };
  /** Leaves nothing half written. */
  const writing = <Result>(write: () => Result): Result => {
    try {
      return write();
    } catch (error) {
      discard();
      throw writeError(error);
    }
  };
  const read = (hash: ObjectHash): Buffer | null => {
    const place = find(hash);
    const pack = place && packs.get(place.pack);
    try {
      const stored = place && pack && readPacked(pack.path, place.entry);
      return stored ? decodeObject(stored, hash) : null;
    } catch {
      // Packed anew by another process, or out of reach.
      return null;
    }
  };
  return {
    folder,
    use,
    refresh,
    discard,
    packs: () => {
      load();
      return packs;
    },
    put: (bytes) => {
      const hash = sha256(bytes);
      if (use(hash)) return hash;
      return writing(() => {
        writer ??= createPackWriter(inNewFolder(folder, newTemporary()));
        writer.add(hash, encodeObject(bytes));
        return hash;
      });
    },
    flush: () => {
      const open = writer;
      if (!open) return;
      const name = `${Date.now()}-${randomBytes(8).toString("hex")}`;
      writing(() => {
        learn(name, open.finish(inNewFolder(folder, join(folder, PACKS, name))));
        youngAt.set(name, Date.now());
        writer = null;
      });
    },
    get: (hash) => {
      const bytes = read(hash);
      if (bytes) return bytes;
      const wasThere = find(hash) !== undefined;
      refresh();
      const again = read(hash);
      if (again) return again;
      throw new SnapshotError(wasThere && find(hash) ? "damaged" : "missing", hash);
    },
    keepYoung: () => {
      const now = Date.now();
      for (const name of used) {
        if (now - (youngAt.get(name) ?? 0) < KEEP_YOUNG_MS) continue;
        const path = packs.get(name)?.path;
        if (path === undefined || !touch(path)) return false;
        youngAt.set(name, now);
      }
      return true;
    },
    writeFile: (name, bytes) => {
      const temporary = newTemporary();
      try {
        writeFileSync(inNewFolder(folder, temporary), bytes, { flag: "wx", mode: 0o600 });
        renameSync(temporary, inNewFolder(folder, join(folder, name)));
      } catch (error) {
        rmQuietly(temporary);
        throw writeError(error);
      }
    },
  };
};

const packNames = (folder: string): string[] => {
  try {
    return readdirSync(join(folder, PACKS));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw writeError(error);
  }
};

const indexOf = (path: string): Pack["entries"] | null => {
  try {
    return readPackIndex(path);
  } catch {
    // Removed this moment, or out of reach: as good as not there.
    return null;
  }
};

/** Whether the file is there; its time becomes now. */
export const touch = (path: string): boolean => {
  const now = Date.now() / 1000;
  try {
    utimesSync(path, now, now);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw writeError(error);
  }
};

/** The path, in a folder that is there, in a store that is private. */
const inNewFolder = (store: string, path: string): string => {
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  if ((statSync(store).mode & 0o777) !== 0o700) chmodSync(store, 0o700);
  return path;
};

const rmQuietly = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // It stays until it is collected.
  }
};
