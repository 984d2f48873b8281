import { setTimeout as delay } from "node:timers/promises";

/** What ended the wait for a process; null = the process has ended by itself. */
export type StoppedBy = "timeout" | "cancel" | null;

/** Waits for what comes first: the exit, which never rejects, the time limit, or an abort. */
export const firstOf = (
  exit: Promise<void>,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<StoppedBy> =>
  new Promise((resolve) => {
    const settle = (by: StoppedBy): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      resolve(by);
    };
    const cancel = (): void => settle("cancel");
    const timer = setTimeout(settle, limitMs, "timeout");
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    void exit.then(() => settle(null));
  });

/** Waits for it, but not longer. */
export const within = (ms: number, promise: Promise<void>): Promise<void> =>
  Promise.race([promise, delay(ms, undefined, { ref: false })]);
