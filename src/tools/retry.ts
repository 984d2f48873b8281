import { setTimeout as sleep } from "node:timers/promises";
import { RecoverableError, type ToolMiddleware } from "./tool.ts";

const FIRST_DELAY_MS = 1000;

export type RetryOptions = {
  /** Waits; rejects when the signal aborts. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

const defaultWait = (delayMs: number, signal: AbortSignal): Promise<void> => sleep(delayMs, undefined, { signal });

/** Tries again after 1 s, 2 s, 4 s …, but only recoverable failures of tools that declare themselves safe to repeat. */
export const retryRecoverable = ({ wait = defaultWait }: RetryOptions = {}): ToolMiddleware => {
  return async (invocation, next) => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await next(invocation);
      } catch (error) {
        if (!(error instanceof RecoverableError) || attempt >= invocation.tool.retries) throw error;
        await wait(FIRST_DELAY_MS * 2 ** attempt, invocation.context.signal);
      }
    }
  };
};
