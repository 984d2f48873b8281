import type { Strings } from "../../text/strings.ts";
import { errorResult, type ToolMiddleware } from "../tool.ts";

/** A fair semaphore. */
export interface Slots {
  /** Resolves with the release function, in order of asking. Rejects with the signal's reason when it aborts first. */
  acquire(signal: AbortSignal): Promise<() => void>;
}

/** At most `count` holders at a time. */
export const createSlots = (count: number): Slots => {
  let free = count;
  // A Set keeps the order of insertion and lets one who gave up leave from the middle.
  const waiting = new Set<() => void>();

  const give = (): (() => void) => {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const [next] = waiting;
      if (next === undefined) free += 1;
      else next();
    };
  };

  return {
    acquire: (signal) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(give());
      }
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        const enter = (): void => {
          waiting.delete(enter);
          signal.removeEventListener("abort", leave);
          resolve(give());
        };
        waiting.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
  };
};

/**
 * Lets only so many commands run at once. Stands before the timeout middleware: a call that waits for its turn has
 * not begun, and its clock neither.
 */
export const limitProcesses =
  (slots: Slots, strings: Strings["registry"]): ToolMiddleware =>
  async (invocation, next) => {
    if (invocation.tool.kind !== "execute") return next(invocation);
    const { call, context } = invocation;
    let release: () => void;
    try {
      release = await slots.acquire(context.signal);
    } catch (error) {
      if (!context.signal.aborted) throw error;
      return errorResult(call, strings.cancelled(call.name));
    }
    try {
      return await next(invocation);
    } finally {
      release();
    }
  };
