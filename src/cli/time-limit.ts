/** Runs what can be stopped, and stops it when the signal aborts or the time is up. */
export const withTimeLimit = async <T>(
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  // AbortSignal.any is not in the first releases of Node 20.
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  const timer = setTimeout(abort, limitMs);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await work(stop.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
};
