import { realpathSync } from "node:fs";
import { systemMessage } from "../text/error-message.ts";
import { type Applied, applyPlan } from "./apply-plan.ts";
import type { Disk } from "./disk-state.ts";
import { changeWithDiff, patience } from "./file-changes.ts";
import { createLookAhead, type LookThread } from "./look-ahead.ts";
import { createObjectStore } from "./object-store.ts";
import { isUnknown, pathHistories } from "./path-histories.ts";
import { planRestore } from "./plan-restore.ts";
import { SnapshotError } from "./snapshot-error.ts";
import type { FileChange, RestorePlan, Snapshot, Step } from "./snapshots.ts";
import { loadStatCache, type StatCache, saveStatCache } from "./stat-cache.ts";
import { type Limits, takeSnapshot } from "./take-snapshot.ts";
import { sameState } from "./tree.ts";

export type CoreOptions = {
  readonly workDir: string;
  /** The folder of the store. */
  readonly folder: string;
  /** harness9's own folder, which no snapshot looks into. */
  readonly harnessHome: string;
  readonly limits: Limits;
  readonly now: () => number;
  /** Starts a thread for half of the looks in a big work directory. */
  readonly startLooking: () => LookThread;
};

/** What the worker does; `Snapshots` without the worker. */
export type SnapshotCore = {
  /** `save` keeps what makes the next snapshot fast; nobody needs to wait for it. */
  readonly take: (isCancelled: () => boolean) => { readonly snapshot: Snapshot; readonly save: () => void };
  readonly changes: (steps: readonly Step[]) => Promise<readonly FileChange[]>;
  readonly diff: (steps: readonly Step[]) => Promise<readonly { change: FileChange; diff: string }[]>;
  readonly plan: (steps: readonly Step[]) => Promise<RestorePlan>;
  readonly apply: (plan: RestorePlan) => Promise<Applied>;
};

/** Works synchronously on files: for a thread of its own. */
export const createSnapshotCore = (options: CoreOptions): SnapshotCore => {
  const { workDir, folder, harnessHome, limits, now } = options;
  const store = createObjectStore(folder);
  const lookAhead = createLookAhead(options.startLooking);
  let cache: StatCache | null = null;
  const disk = (): Disk => ({ workDir: realFolder(workDir), store, maxFileBytes: limits.maxFileBytes });
  const listChanges = async (steps: readonly Step[]) => {
    const limit = patience(now);
    let room = MAX_DIFF_CHARACTERS;
    const results: { change: FileChange; diff: string }[] = [];
    for (const { path, first, last } of pathHistories(store, steps))
      if (!sameState(first, last) && !isUnknown(last)) {
        const { change, diff } = await changeWithDiff(store, { path, from: first, to: last }, limit);
        const fits = diff.length <= room;
        if (fits) room -= diff.length;
        results.push({ change, diff: fits ? diff : "" });
      }
    return results;
  };
  const loadCache = (): StatCache => {
    const stored = loadStatCache(store);
    if (stored) lookAhead.learn(stored.cache, stored.bytes);
    return stored?.cache ?? new Map();
  };
  return {
    take: (isCancelled) => {
      const before = cache ?? loadCache();
      const leaveOut = [realOrSelf(harnessHome), realOrSelf(folder), ...SYSTEM_FOLDERS];
      const real = realFolder(workDir);
      const taken = takeSnapshot({
        ...{ workDir: real, leaveOut, store, cache: before },
        ...{ lookAhead, limits, isCancelled, now },
      });
      cache = taken.cache;
      return {
        snapshot: taken.snapshot,
        save: () => {
          if (!isSame(before, taken.cache)) lookAhead.learn(taken.cache, saveStatCache(store, taken.cache));
        },
      };
    },
    changes: async (steps) => (await listChanges(steps)).map(({ change }) => change),
    diff: listChanges,
    plan: (steps) => planRestore(disk(), steps, patience(now)),
    apply: (plan) => applyPlan(disk(), plan, patience(now)),
  };
};

/** Of all files together. More is not for eyes, and only fills the memory. */
const MAX_DIFF_CHARACTERS = 4_000_000;

/** Below a work directory as high up as `/`: no files of anybody's, and reading some of them does something. */
const SYSTEM_FOLDERS: readonly string[] = ["/proc", "/sys", "/dev", "/run"];

/** The entries of files that have not changed are the same objects. */
const isSame = (before: StatCache, after: StatCache): boolean =>
  before.size === after.size &&
  [...after].every(([folder, files]) => {
    const known = before.get(folder);
    return known?.size === files.size && [...files].every(([name, file]) => known.get(name) === file);
  });

const realFolder = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new SnapshotError("no-folder", `${path}: ${systemMessage(error)}`, error);
  }
};

const realOrSelf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    // Not made yet; then nothing is in it.
    return path;
  }
};
