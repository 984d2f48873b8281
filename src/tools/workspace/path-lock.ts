/** Gives the lock back. Calling it again does nothing. */
export type Release = () => void;

/**
 * Locks by real path: readers share, a writer excludes, in the order of asking, so that a waiting writer is not starved.
 * An aborted waiter leaves the queue and rejects with the signal's reason.
 */
export type PathLocks = {
  read(path: string, signal?: AbortSignal): Promise<Release>;
  write(path: string, signal?: AbortSignal): Promise<Release>;
  /** How many paths are held or waited for. */
  readonly size: number;
};

type Use = "read" | "write";
type Waiter = { readonly use: Use; readonly enter: () => void };
type Lock = { readers: number; writing: boolean; readonly queue: Waiter[] };

export const createPathLocks = (): PathLocks => {
  const locks = new Map<string, Lock>();

  const admit = (path: string, lock: Lock): void => {
    for (let next = lock.queue[0]; next && isFree(lock, next.use); next = lock.queue[0]) {
      lock.queue.shift();
      hold(lock, next.use);
      next.enter();
    }
    if (isFree(lock, "write")) locks.delete(path);
  };

  const releaseOnce = (path: string, lock: Lock, use: Use): Release => {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      if (use === "write") lock.writing = false;
      else lock.readers -= 1;
      admit(path, lock);
    };
  };

  const acquire = async (path: string, use: Use, signal?: AbortSignal): Promise<Release> => {
    signal?.throwIfAborted();
    const lock = locks.get(path) ?? { readers: 0, writing: false, queue: [] };
    locks.set(path, lock);
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        use,
        enter: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        lock.queue.splice(lock.queue.indexOf(waiter), 1);
        reject(signal?.reason);
        admit(path, lock);
      };
      signal?.addEventListener("abort", leave, { once: true });
      lock.queue.push(waiter);
      admit(path, lock);
    });
    return releaseOnce(path, lock, use);
  };

  return {
    read: (path, signal) => acquire(path, "read", signal),
    write: (path, signal) => acquire(path, "write", signal),
    get size() {
      return locks.size;
    },
  };
};

const isFree = (lock: Lock, use: Use): boolean => !lock.writing && (use === "read" || lock.readers === 0);

const hold = (lock: Lock, use: Use): void => {
  if (use === "write") lock.writing = true;
  else lock.readers += 1;
};
