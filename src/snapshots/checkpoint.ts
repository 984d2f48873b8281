import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import type { ToolMiddleware } from "../tools/tool.ts";
import type { LeftOut, Snapshot, Snapshots } from "./snapshots.ts";

/** The work goes on without a snapshot that takes longer. */
const SLOW_MS = 8000;

export type CheckpointOptions = {
  readonly take: Snapshots["take"];
  /** Names the run, or the person's own command, that goes on now. */
  readonly going: () => number | undefined;
  /** The newest step where it lacks the state after it; null for one in which files were restored. */
  readonly openStep: () => number | null | undefined;
  /** A snapshot is there; `startedBy` is the step that it stands before. */
  readonly keep: (taken: { readonly id: string; readonly startedBy?: number }, at: "before" | "after") => void;
  /** Hears at most once that a snapshot is missing. */
  readonly tell: (text: string) => void;
  /** Hears at most once of what snapshots leave out. */
  readonly tellLeftOut: (text: string) => void;
  readonly strings: Strings["rewind"];
  readonly slowMs?: number;
};

/** Keeps the work directory as it was before each step that may change files, and as it was after it. */
export interface Checkpoints {
  /** Takes the state before the first call of a step that may change something. Such calls wait for it. */
  readonly middleware: ToolMiddleware;
  /** To be called when a step may have ended: the state after it is taken in the background. */
  stepMayHaveEnded(): void;
  /** Resolves when all that has begun is done. */
  idle(): Promise<void>;
  /** Resolves when the newest step, if it has ended, has the state after it; that of a killed run too. */
  settled(): Promise<void>;
}

type OpenStep = { readonly step: number; readonly ready: Promise<void> };

export const createCheckpoints = (options: CheckpointOptions): Checkpoints => {
  const { take, going, keep, strings, slowMs = SLOW_MS } = options;
  const tellOnce = onlyOnce();
  let open: OpenStep | undefined;
  let queue: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(work);
    return queue;
  };

  /** Nothing where it fails or takes too long: the work does not depend on it. `late` gets the one that is no use any more as a state before. */
  const attempt = async (late?: (taken: Snapshot) => void): Promise<Snapshot | undefined> => {
    let timer: NodeJS.Timeout | undefined;
    const slow = new Promise<"slow">((resolve) => {
      timer = setTimeout(resolve, slowMs, "slow");
    });
    try {
      // A slow one goes on, so that the next finds less to do.
      const taking = take();
      const taken = await Promise.race([taking, slow]);
      if (taken === "slow") {
        // Where it fails after all, the next one tells.
        if (late) void taking.then(late, () => undefined);
        else tellOnce(options.tell, strings.snapshotSlow(slowMs / 1000));
        return undefined;
      }
      const text = leftOutText(taken.leftOut, strings);
      if (text !== undefined) tellOnce(options.tellLeftOut, text);
      return taken;
    } catch (error) {
      tellOnce(options.tell, strings.snapshotFailed(errorMessage(error)));
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

  const takeAfter = (): Promise<void> =>
    inTurn(async () => {
      const step = options.openStep();
      if (step === undefined || step === going()) return;
      const keepAfter = ({ id }: Snapshot): void => keep({ id }, "after");
      const taken = await attempt((late) => {
        if (options.openStep() === step && going() === undefined) keepAfter(late);
      });
      if (taken) keepAfter(taken);
    });

  const begin = (step: number): Promise<void> => {
    if (open?.step === step) return open.ready;
    const ready = inTurn(async () => {
      const taken = await attempt();
      if (taken) keep({ id: taken.id, startedBy: step }, "before");
    });
    open = { step, ready };
    return ready;
  };

  return {
    middleware: async (invocation, next) => {
      const step = invocation.tool.permission === "low" ? undefined : going();
      if (step !== undefined) await unlessAborted(begin(step), invocation.context.signal);
      return next(invocation);
    },
    stepMayHaveEnded: () => {
      if (!open || going() === open.step) return;
      open = undefined;
      void takeAfter();
    },
    idle: () => queue,
    settled: takeAfter,
  };
};

const unlessAborted = async (work: Promise<void>, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
  });
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([work, aborted]);
  signal.removeEventListener("abort", stop);
};

const onlyOnce = () => {
  const told = new Set<(text: string) => void>();
  return (tell: (text: string) => void, text: string): void => {
    if (told.has(tell)) return;
    told.add(tell);
    tell(text);
  };
};

const MAX_NAMED = 3;

const leftOutText = (
  { bigFiles, unreadable, beyondLimit }: LeftOut,
  strings: Strings["rewind"],
): string | undefined => {
  const parts = [
    ...(bigFiles.length === 0 ? [] : [strings.leftOutBig(bigFiles.length, bigFiles.slice(0, MAX_NAMED))]),
    ...(unreadable.length === 0 ? [] : [strings.leftOutUnreadable(unreadable.length, unreadable.slice(0, MAX_NAMED))]),
    ...(beyondLimit === 0 ? [] : [strings.leftOutBeyond(beyondLimit)]),
  ];
  return parts.length === 0 ? undefined : strings.leftOut(parts);
};
