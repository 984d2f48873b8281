import type { Session, Sink } from "../session/session.ts";
import type { FileStep } from "../session/turns.ts";
import { type Checkpoints, createCheckpoints } from "../snapshots/checkpoint.ts";
import type { FileChange, Restored, RestorePlan, Snapshots, Step } from "../snapshots/snapshots.ts";
import type { Strings } from "../text/strings.ts";
import type { Setup } from "./setup.ts";

/** The states that a session's work directory has had. */
export type FileHistory = Pick<Checkpoints, "middleware" | "settled"> & {
  /** Hears when a step ends. */
  readonly sink: Sink;
  readonly snapshots: Snapshots;
  /**
   * Restores files between two snapshots, so that it is taken back like a turn. `note` is called when the state before is
   * kept and no file is touched yet. @throws where that state cannot be kept, or where nothing could be restored
   */
  readonly restore: (plan: RestorePlan, note: () => void) => Promise<Restored>;
  /** What a step has changed. */
  readonly changes: (step: Step) => Promise<readonly FileChange[]>;
  /** Waits for what has begun, and ends. */
  readonly close: () => Promise<void>;
};

export type FileHistoryOptions = {
  readonly snapshots: Snapshots;
  /** It is made after the tools that keep its files. */
  readonly session: () => Session;
  readonly tell: (text: string) => void;
  /** Whether somebody hears too of what is only good to know. */
  readonly tellsAll: boolean;
  readonly strings: Strings["rewind"];
};

type OpenOptions = Omit<FileHistoryOptions, "snapshots" | "strings"> & { readonly isWanted: boolean };

/** `prepare`: a state may have to be kept soon. */
type PreparedHistory = FileHistory & { readonly prepare: () => void };

/** Null where the settings or `--no-session` say so. Nothing is started before it is needed. */
export const openFileHistory = (
  { config, workDir, paths, strings }: Setup,
  { isWanted, ...options }: OpenOptions,
): PreparedHistory | null => {
  if (!isWanted || !config.settings.rewind) return null;
  const places = { workDir, folder: paths.snapshots, harnessHome: paths.home };
  const snapshots = openedLater(async () => {
    const { openSnapshots } = await import("../snapshots/open-snapshots.ts");
    return openSnapshots({ ...places, strings: strings.rewind });
  });
  return { ...createFileHistory({ ...options, snapshots, strings: strings.rewind }), prepare: snapshots.prepare };
};

/** Loaded by the first call: most of what is asked of a model changes no file. */
const openedLater = (open: () => Promise<Snapshots>): Snapshots & { readonly prepare: () => void } => {
  let opened: Promise<Snapshots> | undefined;
  const store = (): Promise<Snapshots> => {
    opened ??= open();
    return opened;
  };
  return {
    // Whoever needs it hears of a failure.
    prepare: () => void store().catch(() => undefined),
    take: async (signal) => (await store()).take(signal),
    changes: async (steps) => (await store()).changes(steps),
    diff: async (steps) => (await store()).diff(steps),
    plan: async (steps) => (await store()).plan(steps),
    apply: async (plan) => (await store()).apply(plan),
    close: async () => (await opened)?.close(),
  };
};

export const createFileHistory = ({ snapshots, session, tell, tellsAll, strings }: FileHistoryOptions): FileHistory => {
  const note = (taken: { readonly id: string; readonly startedBy?: number }, at: "before" | "after"): void =>
    session().keep({ type: "snapshot", time: new Date().toISOString(), at, ...taken });
  const checkpoints = createCheckpoints({
    take: () => snapshots.take(),
    going: () => session().turns.going(),
    openStep: () => {
      const last = session().turns.steps().at(-1);
      return last?.after === null ? last.turn : undefined;
    },
    keep: note,
    tell,
    tellLeftOut: tellsAll ? tell : () => undefined,
    strings,
  });
  const changes = new Map<string, Promise<readonly FileChange[]>>();
  const restore: FileHistory["restore"] = async (plan, noteRestore) => {
    await checkpoints.settled();
    note({ id: (await snapshots.take()).id }, "before");
    noteRestore();
    try {
      return await snapshots.apply(plan);
    } finally {
      await checkpoints.settled();
    }
  };
  let restoring: Promise<void> = Promise.resolve();
  return {
    middleware: checkpoints.middleware,
    sink: ({ type }) => {
      if (type === "run.completed" || type === "tool.completed") checkpoints.stepMayHaveEnded();
    },
    settled: checkpoints.settled,
    snapshots,
    restore: (plan, noteRestore) => {
      const restored = restore(plan, noteRestore);
      // Who asked for it hears of its failure.
      restoring = restored.then(
        () => undefined,
        () => undefined,
      );
      return restored;
    },
    changes: (step) => {
      const key = `${step.before} ${step.after}`;
      const known = changes.get(key) ?? snapshots.changes([step]);
      changes.set(key, known);
      known.catch(() => changes.delete(key));
      return known;
    },
    close: async () => {
      await restoring;
      await checkpoints.idle();
      await snapshots.close();
    },
  };
};

/** The steps of which both ends are known, as the store takes them. */
export const wholeSteps = (steps: readonly FileStep[]): readonly Step[] =>
  steps.flatMap(({ before, after }) => (after === null ? [] : [{ before, after }]));
