import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ensurePrivateDir, type HarnessPaths } from "../config/paths.ts";
import { LockedError, lockOwner, takeLock } from "../session/journal-lock.ts";
import { errorCode } from "../text/error-message.ts";

/** A change takes a moment only; whoever holds the lock longer is no reason to remember nothing. */
const MAX_WAIT_MS = 3000;
const RETRY_MS = 20;

/**
 * Waits until no other process of the person's changes the memory: each reads a file, and writes it whole. Resolves with
 * what ends the turn. Where no lock can be written, each goes on without.
 */
export const createMemoryTurn =
  ({ home }: Pick<HarnessPaths, "home">): ((signal: AbortSignal) => Promise<() => void>) =>
  async (signal) => {
    const self = lockOwner(hostname());
    try {
      await ensurePrivateDir(home);
      for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
        try {
          return takeLock(join(home, "memory.lock"), self);
        } catch (error) {
          if (!(error instanceof LockedError)) throw error;
          if (waitedMs >= MAX_WAIT_MS) return () => undefined;
        }
        await setTimeout(RETRY_MS, undefined, { signal });
      }
    } catch (error) {
      signal.throwIfAborted();
      if (errorCode(error) === undefined) throw error;
      return () => undefined;
    }
  };
