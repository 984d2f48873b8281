import { diskPath } from "./byte-path.ts";
import { type CachedFile, type CacheRows, cacheRows, isUnchanged, lookAt, type StatCache } from "./stat-cache.ts";

/*
 * Looking at each file is most of what a snapshot does. In a big work directory a second thread does half of it: it goes
 * through the files that the cache knows from the last to the first, while the snapshot goes from the first to the last.
 */

/** Says what the second thread has found. */
export interface LookAhead {
  /** The files of the cache, and the same as bytes. */
  learn(cache: StatCache, bytes: Buffer): void;
  /** For one snapshot. */
  begin(workDir: string): Looks;
}

export type Looks = {
  /** Whether it has been found unchanged since `begin`. Asked once for each file; from then on the second thread leaves it alone. */
  readonly vouchFor: (file: CachedFile) => boolean;
  readonly end: () => void;
};

export type LookTask =
  | { readonly type: "files"; readonly bytes: Uint8Array }
  /** `marks`: one for each file, in shared memory, and one more for the end. */
  | { readonly type: "look"; readonly workDir: string; readonly marks: Uint8Array };

/** What the tasks are sent to. */
export type LookThread = { readonly postMessage: (task: LookTask, give?: readonly ArrayBuffer[]) => void };

// Fewer are looked at faster than they are told of.
const MANY_FILES = 5000;
/** So many files may be others before all are told anew. */
const MAX_OUTDATED = 0.1;

const OPEN = 0;
const UNCHANGED = 1;
const DONE = 2;

/** Without a second thread the snapshot looks at everything itself. */
const NOBODY: LookThread = { postMessage: () => undefined };

const started = (start: () => LookThread): LookThread => {
  try {
    return start();
  } catch {
    return NOBODY; // the system has no thread to give
  }
};

const NOTHING: Looks = { vouchFor: () => false, end: () => undefined };

export const createLookAhead = (start: () => LookThread): LookAhead => {
  let thread: LookThread | null = null;
  let order: ReadonlyMap<CachedFile, number> = new Map();
  return {
    learn: (cache, bytes) => {
      const files = [...cache.values()].flatMap((names) => [...names.values()]);
      if (files.length < MANY_FILES) return;
      const outdated = files.filter((file) => !order.has(file)).length;
      if (outdated <= files.length * MAX_OUTDATED) return;
      thread ??= started(start);
      order = new Map(files.map((file, index) => [file, index]));
      const own = new Uint8Array(bytes);
      thread.postMessage({ type: "files", bytes: own }, [own.buffer]);
    },
    begin: (workDir) => {
      if (thread === null) return NOTHING;
      const marks = new Uint8Array(new SharedArrayBuffer(order.size + 1));
      thread.postMessage({ type: "look", workDir, marks });
      return {
        vouchFor: (file) => {
          const index = order.get(file);
          return index !== undefined && Atomics.exchange(marks, index, DONE) === UNCHANGED;
        },
        end: () => void Atomics.store(marks, order.size, DONE),
      };
    },
  };
};

/** The second thread's part. */
export const createLooker = (): ((task: LookTask) => void) => {
  let rows: CacheRows | null = null;
  return (task) => {
    if (task.type === "files") rows = cacheRows(Buffer.from(task.bytes.buffer));
    else if (rows) lookFromTheEnd(rows, task);
  };
};

const lookFromTheEnd = (
  { paths, seenAt }: CacheRows,
  { workDir, marks }: Extract<LookTask, { type: "look" }>,
): void => {
  for (let index = paths.length - 1; index >= 0; index -= 1) {
    if (Atomics.load(marks, paths.length) === DONE) return;
    if (Atomics.load(marks, index) !== OPEN) continue;
    const stats = lookAt(diskPath(workDir, paths[index] ?? ""));
    if (typeof stats === "object" && isUnchanged(seenAt(index), stats))
      Atomics.compareExchange(marks, index, OPEN, UNCHANGED);
  }
};
