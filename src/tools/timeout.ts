import type { ToolResult } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import { errorResult, type Invocation, type Next, type ToolMiddleware } from "./tool.ts";

/** How long a stopped tool may take to return what it has. */
const GRACE_MS = 3000;

export type TimeoutOptions = {
  /** For tools without a limit of their own; 0 = none. */
  readonly toolTimeoutMs: number;
  readonly strings: Strings["registry"];
  readonly graceMs?: number;
};

/**
 * Gives each call a clock of its own. A tool that is cancelled or out of time has a few seconds to return what it has;
 * after that it is answered for, so that nothing that ignores its signal can hold the run.
 */
export const limitTime = ({ toolTimeoutMs, strings, graceMs = GRACE_MS }: TimeoutOptions): ToolMiddleware => {
  return async (invocation, next) => {
    const { call, context } = invocation;
    const limitMs = ownLimit(invocation) ?? toolTimeoutMs;
    const stop = new AbortController();
    const { promise: overdue, resolve: giveUp } = withResolvers<ToolResult>();
    let timedOut = false;
    let grace: NodeJS.Timeout | undefined;

    const stopped = (): ToolResult =>
      errorResult(call, timedOut ? strings.timedOut(call.name, limitMs / 1000) : strings.cancelled(call.name));
    const halt = (): void => {
      if (stop.signal.aborted) return;
      grace = setTimeout(() => giveUp(stopped()), graceMs);
      stop.abort();
    };
    const deadline =
      limitMs > 0
        ? setTimeout(() => {
            timedOut = true;
            halt();
          }, limitMs)
        : undefined;
    context.signal.addEventListener("abort", halt, { once: true });
    if (context.signal.aborted) halt();

    try {
      const ran = runStoppable({ ...invocation, context: { ...context, signal: stop.signal } }, next, stopped);
      const result = await Promise.race([ran, overdue]);
      return timedOut && !result.isError ? { ...result, isError: true } : result;
    } finally {
      clearTimeout(deadline);
      clearTimeout(grace);
      context.signal.removeEventListener("abort", halt);
    }
  };
};

/** A throw after the stop is the stop's doing, whatever it says. */
const runStoppable = async (invocation: Invocation, next: Next, stopped: () => ToolResult): Promise<ToolResult> => {
  try {
    return await next(invocation);
  } catch (error) {
    if (invocation.context.signal.aborted) return stopped();
    throw error;
  }
};

const ownLimit = ({ tool, args }: Invocation): number | undefined => {
  if (tool.timeoutMs === null) return 0;
  return typeof tool.timeoutMs === "function" ? tool.timeoutMs(args) : tool.timeoutMs;
};

// Promise.withResolvers is not in Node 20.
const withResolvers = <T>(): { promise: Promise<T>; resolve: (value: T) => void } => {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
};
