import { readdirSync, readlinkSync, type Stats } from "node:fs";
import { errorCode, systemMessage } from "../text/error-message.ts";
import { isAlwaysOut } from "./always-out.ts";
import { type BytePath, bytePath, diskPath, inFolder, isGitName, shownPath } from "./byte-path.ts";
import { gitignoreRules, ignoreAround, nestedRepositoryRules } from "./ignore-files.ts";
import { type IgnoreRules, isIgnored } from "./ignore-rules.ts";
import type { LookAhead } from "./look-ahead.ts";
import type { ObjectHash } from "./object-bytes.ts";
import type { ObjectStore } from "./object-store.ts";
import { readWhole } from "./read-file.ts";
import { SnapshotError } from "./snapshot-error.ts";
import type { Snapshot } from "./snapshots.ts";
import { type CachedFile, cachedFile, isUnchanged, lookAt, type StatCache } from "./stat-cache.ts";
import { noteTaken } from "./taken.ts";
import { encodeTree, type Leaf, type OutReason, type TreeEntry } from "./tree.ts";

export type Limits = {
  /** A bigger file is left out. */
  readonly maxFileBytes: number;
  /** Files and links of a snapshot. */
  readonly maxFiles: number;
  /** Of all files of a snapshot together. */
  readonly maxBytes: number;
  /** Names that are looked at before the rest is left out unseen. */
  readonly maxNames: number;
};

export const LIMITS: Limits = {
  maxFileBytes: 10 * 1024 * 1024,
  maxFiles: 50_000,
  maxBytes: 1024 * 1024 * 1024,
  maxNames: 250_000,
};

export type TakeOptions = {
  /** A real path. */
  readonly workDir: string;
  /** Real paths of folders that no snapshot looks into, such as harness9's own. */
  readonly leaveOut: readonly string[];
  readonly store: ObjectStore;
  readonly cache: StatCache;
  readonly lookAhead: LookAhead;
  readonly limits: Limits;
  readonly isCancelled: () => boolean;
  readonly now: () => number;
};

export type Taken = { readonly snapshot: Snapshot; readonly cache: StatCache };

/**
 * Keeps the work directory as it is, in objects and trees, and returns the cache for the next time. Throws a SnapshotError;
 * what has been written by then are whole objects that the next snapshot finds.
 */
export const takeSnapshot = (options: TakeOptions): Taken => {
  const { store } = options;
  store.refresh();
  try {
    const taken = walk(options);
    store.flush();
    // Another process may have removed what nothing but this snapshot needs.
    if (!store.keepYoung()) return takeSnapshot({ ...options, cache: taken.cache });
    noteTaken(store, taken.snapshot.id);
    return taken;
  } catch (error) {
    store.discard();
    throw error;
  }
};

type Folder = {
  readonly path: BytePath;
  /** The nearest first. */
  readonly rules: readonly IgnoreRules[];
};

/** A folder as it is visited. `known`: its files in the cache of before; `files`: in the one of now. */
type Here = {
  readonly names: readonly string[];
  readonly rules: readonly IgnoreRules[];
  readonly known: ReadonlyMap<string, CachedFile> | undefined;
  readonly files: Map<string, CachedFile>;
};

const walk = (options: TakeOptions): Taken => {
  const { workDir, store, limits, isCancelled, now } = options;
  const around = ignoreAround(workDir);
  const looks = options.lookAhead.begin(workDir);
  const leaveOut = new Set(options.leaveOut.map(bytePath));
  const workPath = bytePath(workDir.endsWith("/") ? workDir : `${workDir}/`);
  const cache: StatCache = new Map();
  const bigFiles: string[] = [];
  const unreadable: string[] = [];
  const count = { files: 0, bytes: 0, names: 0, beyond: 0 };

  const visitFolder = ({ path, rules: above }: Folder): ObjectHash | null => {
    const names = readNames(workDir, path);
    if (names === null) return null;
    const entries = new Map<string, TreeEntry>();
    const known = options.cache.get(path);
    const here: Here = { names, rules: ownRules(path, names, above), known, files: new Map() };
    // In the order of the walk.
    cache.set(path, here.files);
    let isComplete = true;
    for (const [index, name] of names.entries()) {
      if (isCancelled()) throw new SnapshotError("cancelled");
      if (isGitName(name)) continue;
      count.names += 1;
      if (count.names > limits.maxNames) {
        isComplete = false;
        count.beyond += names.length - index;
        break;
      }
      const entry = visit(inFolder(path, name), name, here);
      if (entry) entries.set(name, entry);
    }
    if (here.files.size === 0) cache.delete(path);
    // A folder is there for what is in it.
    return entries.size === 0 && isComplete ? null : store.put(encodeTree({ entries, isComplete }));
  };

  const ownRules = (path: BytePath, names: readonly string[], above: readonly IgnoreRules[]) => {
    const base = path === "" ? around.prefix : `${around.prefix}${path}/`;
    // A repository of its own: what the one around it says ends here.
    const inherited = path !== "" && names.includes(".git") ? nestedRepositoryRules(workDir, path, base) : above;
    const own = names.includes(".gitignore") ? gitignoreRules(diskPath(workDir, path), base) : [];
    return own.length === 0 ? inherited : [...own, ...inherited];
  };

  const visit = (path: BytePath, name: string, here: Here): TreeEntry | null => {
    const { names, rules, known } = here;
    const cached = known?.get(name);
    if (cached && cached.size <= limits.maxFileBytes && looks.vouchFor(cached) && store.use(cached.hash)) {
      if (isIgnored({ path: `${around.prefix}${path}`, name, isFolder: false }, rules)) return out("ignored");
      return isBeyond(cached.size) ? out("beyond") : counted(keepCached(name, cached, here));
    }
    const stats = lookAt(diskPath(workDir, path));
    if (stats === "gone") return null;
    if (stats === "unreadable") return noteUnreadable(path);
    const isFolder = stats.isDirectory();
    if (isFolder && (isAlwaysOut(name, names) || leaveOut.has(`${workPath}${path}`))) return out("ignored");
    if (isIgnored({ path: `${around.prefix}${path}`, name, isFolder }, rules)) return out("ignored");
    if (isFolder) {
      try {
        const hash = visitFolder({ path, rules });
        return hash === null ? null : { type: "folder", hash };
      } catch (error) {
        if (error instanceof SnapshotError) throw error;
        return noteUnreadable(path);
      }
    }
    if (!stats.isFile() && !stats.isSymbolicLink()) return out("special");
    if (stats.isFile() && stats.size > limits.maxFileBytes) return noteBig(path, stats);
    if (isBeyond(stats.size)) return out("beyond");
    return counted(stats.isFile() ? visitFile(path, name, stats, here) : visitLink(path));
  };

  const isBeyond = (size: number): boolean => {
    const isOver = count.files >= limits.maxFiles || count.bytes + size > limits.maxBytes;
    if (isOver) count.beyond += 1;
    return isOver;
  };

  const counted = (leaf: Leaf | null): Leaf | null => {
    if (leaf && leaf.type !== "out") {
      count.files += 1;
      if (leaf.type === "file") count.bytes += leaf.size;
    }
    return leaf;
  };

  const keepCached = (name: string, cached: CachedFile, { files }: Here): Leaf => {
    files.set(name, cached);
    return { type: "file", hash: cached.hash, mode: cached.mode & 0o777, size: cached.size };
  };

  const visitFile = (path: BytePath, name: string, stats: Stats, here: Here): Leaf | null => {
    const cached = here.known?.get(name);
    if (cached && isUnchanged(cached, stats) && store.use(cached.hash)) return keepCached(name, cached, here);
    const readAt = now();
    const read = readWhole(diskPath(workDir, path), limits.maxFileBytes);
    switch (read.type) {
      case "gone":
        return null;
      case "not-a-file":
        return out("special");
      case "big":
        return noteBig(path, read.stats);
      case "unreadable":
        return noteUnreadable(path);
      case "read": {
        const hash = store.put(read.bytes);
        const fresh = cachedFile(read.stats, hash, readAt);
        if (fresh) here.files.set(name, fresh);
        return { type: "file", hash, mode: read.stats.mode & 0o777, size: read.bytes.length };
      }
      default:
        throw read satisfies never;
    }
  };

  const visitLink = (path: BytePath): Leaf | null => {
    try {
      return { type: "link", target: readlinkSync(diskPath(workDir, path), "latin1") };
    } catch (error) {
      return errorCode(error) === "ENOENT" ? null : noteUnreadable(path);
    }
  };

  const noteBig = (path: BytePath, stats: Stats): Leaf => {
    bigFiles.push(shownPath(path));
    return bigState(stats);
  };
  const noteUnreadable = (path: BytePath): Leaf => {
    unreadable.push(shownPath(path));
    return out("unreadable");
  };

  let id: ObjectHash;
  try {
    id =
      visitRoot(visitFolder, around.rules, workDir) ?? store.put(encodeTree({ entries: new Map(), isComplete: true }));
  } finally {
    looks.end();
  }
  const leftOut = { bigFiles, unreadable, beyondLimit: count.beyond };
  return { snapshot: { id, files: count.files, leftOut }, cache };
};

const visitRoot = (
  visitFolder: (folder: Folder) => ObjectHash | null,
  rules: readonly IgnoreRules[],
  workDir: string,
): ObjectHash | null => {
  try {
    return visitFolder({ path: "", rules });
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw new SnapshotError("no-folder", `${workDir}: ${systemMessage(error)}`, error);
  }
};

const out = (reason: OutReason, detail = ""): Leaf => ({ type: "out", reason, detail });

/** A big file is not read, but whether it is another one shows from outside. */
export const bigState = ({ size, mtimeMs }: Stats): Leaf => out("big", `${size} ${mtimeMs}`);

/** Sorted by their bytes. Null where the folder has gone; throws where it cannot be read. */
const readNames = (workDir: string, path: BytePath): string[] | null => {
  try {
    return readdirSync(diskPath(workDir, path), "latin1").sort();
  } catch (error) {
    const code = errorCode(error);
    if (path !== "" && (code === "ENOENT" || code === "ENOTDIR")) return null;
    throw error;
  }
};
