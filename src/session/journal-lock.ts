import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { errorCode } from "../text/error-message.ts";

/** A process that holds a lock. */
export type LockOwner = {
  readonly pid: number;
  /** When it started, as the system counts: another process may get its number. Null where that cannot be known. */
  readonly startedAt: string | null;
  readonly host: string;
};

/** Another process has the session. */
export class LockedError extends Error {
  readonly path: string;
  /** Undefined while it is still writing its lock. */
  readonly owner: LockOwner | undefined;

  constructor(path: string, owner: LockOwner | undefined) {
    super(`${path} is held by process ${owner?.pid ?? "?"}`);
    this.path = path;
    this.owner = owner;
  }
}

/** The lock of a session stands beside its journal. */
export const lockOf = (journal: string): string => journal.replace(/\.jsonl$/, ".lock");

/** This process as the owner of a lock. */
export const lockOwner = (host: string): LockOwner => ({
  pid: process.pid,
  startedAt: startOf(process.pid),
  host,
});

/**
 * Takes the lock, also one whose process has ended, and returns what gives it back. A lock is replaced only by who
 * holds a lock on that: of several that find it stale, one gets it.
 * @throws LockedError, or the system's error where no lock can be written
 */
export const takeLock = (path: string, self: LockOwner): (() => void) => {
  if (!create(path, self)) {
    throwIfHeld(path, self);
    const release = takeLock(`${path}.takeover`, self);
    try {
      throwIfHeld(path, self);
      // At once, so that nobody finds it half written.
      const next = `${path}.${self.pid}`;
      try {
        writeFileSync(next, JSON.stringify(self), { mode: 0o600 });
        renameSync(next, path);
      } catch (error) {
        rmSync(next, { force: true });
        throw error;
      }
    } finally {
      release();
    }
  }
  return () => rmSync(path, { force: true });
};

/** Whether a process that lives holds the lock; false where there is none. */
export const isLocked = (path: string, self: LockOwner): boolean => {
  try {
    throwIfHeld(path, self);
    return false;
  } catch (error) {
    if (error instanceof LockedError) return true;
    throw error;
  }
};

const create = (path: string, self: LockOwner): boolean => {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
  try {
    writeFileSync(file, JSON.stringify(self));
  } catch (error) {
    // As on a full disk: it would hold everybody off for a while.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
};

const throwIfHeld = (path: string, self: LockOwner): void => {
  const lock = read(path);
  if (lock === undefined) return;
  if (lock.owner === undefined) {
    // Made and not written yet, unless its process was killed in between.
    if (lock.isFresh) throw new LockedError(path, undefined);
    return;
  }
  if (isAlive(lock.owner, self)) throw new LockedError(path, lock.owner);
};

type Lock = { readonly owner: LockOwner | undefined; readonly isFresh: boolean };

const WRITTEN_WITHIN_MS = 10_000;

/** Undefined where there is none. */
const read = (path: string): Lock | undefined => {
  try {
    const owner = parseOwner(readFileSync(path, "utf8"));
    // Either way: one from the future has been there since before a clock was set back.
    const ageMs = Math.abs(Date.now() - statSync(path).mtimeMs);
    return { owner, isFresh: owner === undefined && ageMs < WRITTEN_WITHIN_MS };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
};

const parseOwner = (text: string): LockOwner | undefined => {
  try {
    const { pid, startedAt, host } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0 || typeof host !== "string") return undefined;
    return { pid, startedAt: typeof startedAt === "string" ? startedAt : null, host };
  } catch {
    // No lock of ours, or one that is still being written.
    return undefined;
  }
};

/** Of a process on another machine nothing can be known: it counts as alive. */
const isAlive = ({ pid, startedAt, host }: LockOwner, self: LockOwner): boolean => {
  if (host !== self.host) return true;
  if (!isRunning(pid)) return false;
  return startedAt === null || startedAt === (startOf(pid) ?? startedAt);
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: somebody else's, as with sudo.
    return errorCode(error) !== "ESRCH";
  }
};

/** In ticks since the system's start, on Linux. */
const startOf = (pid: number): string | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may itself hold parentheses and blanks; the start is the 22nd field.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    // Another system, or the process has ended.
    return null;
  }
};
