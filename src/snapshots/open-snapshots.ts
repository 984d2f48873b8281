import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import type { KeptReason } from "./apply-plan.ts";
import { type Collected, MAX_STORE_BYTES } from "./collect.ts";
import type { SnapshotFailure } from "./snapshot-error.ts";
import type { SnapshotId, Snapshots } from "./snapshots.ts";
import type { Task, TaskResults, WorkerAnswer, WorkerPlaces, WorkerRequest } from "./worker-messages.ts";

export type OpenSnapshotsOptions = {
  readonly workDir: string;
  /** The folder of the store; it is made by the first snapshot. */
  readonly folder: string;
  /** harness9's own folder, which no snapshot looks into. */
  readonly harnessHome: string;
  readonly strings: Strings["rewind"];
  /** The worker's program; default the one of this build. */
  readonly worker?: URL;
};

/**
 * The snapshots of a work directory, in a worker of its own. It holds the process only while something is
 * asked of it. A failure that a person can mend rejects with a `UserError`.
 */
export const openSnapshots = (options: OpenSnapshotsOptions): Snapshots => {
  const { strings } = options;
  const client = createClient(options);
  return {
    take: async (signal) => {
      signal?.throwIfAborted();
      const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const cancel = (): void => {
        Atomics.store(cancelled, 0, 1);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        return await client.ask({ type: "take", cancelled });
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
    changes: (steps) => client.ask({ type: "changes", steps }),
    diff: (steps) => client.ask({ type: "diff", steps }),
    plan: (steps) => client.ask({ type: "plan", steps }),
    apply: async (plan) => {
      const { restored, kept, undo } = await client.ask({ type: "apply", plan });
      return { restored, kept: kept.map(({ path, reason }) => ({ path, reason: reasonText(reason, strings) })), undo };
    },
    close: client.close,
  };
};

export type CollectSnapshotsOptions = OpenSnapshotsOptions & {
  /** Default 2 GiB. */
  readonly maxBytes?: number;
};

/**
 * Removes from the store what none of these snapshots needs, and the oldest snapshots beyond the limit, in a worker of its
 * own. Nothing that is younger than an hour goes, so other processes may use the store meanwhile.
 */
export const collectSnapshots = async (
  { maxBytes = MAX_STORE_BYTES, ...options }: CollectSnapshotsOptions,
  keep: Iterable<SnapshotId>,
): Promise<Collected> => {
  const client = createClient(options);
  try {
    return await client.ask({ type: "collect", keep: [...keep], maxBytes });
  } finally {
    await client.close();
  }
};

type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

type Client = {
  readonly ask: <Asked extends Task>(task: Asked) => Promise<TaskResults[Asked["type"]]>;
  readonly close: () => Promise<void>;
};

const createClient = (options: OpenSnapshotsOptions): Client => {
  const { workDir, folder, harnessHome, strings } = options;
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let isClosed = false;
  let asked = 0;

  const settle = (answer: WorkerAnswer): void => {
    const asker = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    switch (answer.type) {
      case "done":
        asker?.resolve(answer.result);
        return;
      case "failed":
        asker?.reject(failureError(answer.failure, answer.detail, options));
        return;
      case "defect":
        asker?.reject(new Error(answer.message));
        return;
      default:
        throw answer satisfies never;
    }
  };
  const rejectAll = (error: Error): void => {
    const askers = [...waiting.values()];
    waiting.clear();
    for (const { reject } of askers) reject(error);
  };
  const start = (): Worker => {
    const places: WorkerPlaces = { workDir, folder, harnessHome };
    const started = new Worker(options.worker ?? workerFile(), { workerData: places });
    // The next call starts another one.
    const end = (error: Error): void => {
      if (worker !== started) return;
      worker = null;
      rejectAll(error);
    };
    started.on("message", (answer: WorkerAnswer) => settle(answer));
    started.on("error", (error) => end(workerError(strings.storeWorkerEnded(error.message), error)));
    started.on("exit", (code) => end(workerError(strings.storeWorkerEnded(`exit ${code}`))));
    return started;
  };
  try {
    worker = start();
    worker.unref();
  } catch {
    // The system has no thread to give: the first call tries again, and tells.
  }
  return {
    ask: (task) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw workerError(strings.storeClosed);
        worker ??= start();
        worker.ref();
        asked += 1;
        // The worker answers each task with the result of its type.
        waiting.set(asked, { resolve: (result) => resolve(result as TaskResults[(typeof task)["type"]]), reject });
        worker.postMessage({ id: asked, task } satisfies WorkerRequest);
      }),
    close: async () => {
      isClosed = true;
      const ending = worker;
      worker = null;
      rejectAll(workerError(strings.storeClosed));
      await ending?.terminate();
    },
  };
};

const workerError = (message: string, cause?: unknown): UserError =>
  new UserError(message, { exitCode: EXIT.failed, ...(cause === undefined ? {} : { cause }) });

const WORKER_FILE = "snapshot-worker.js";

/** Beside this file or its folder of chunks; seen from the source, in what was built of it last. */
const workerFile = (): URL => {
  const beside = new URL(WORKER_FILE, import.meta.url);
  const others = [`../${WORKER_FILE}`, `../../dist/${WORKER_FILE}`].map((path) => new URL(path, import.meta.url));
  return [beside, ...others].find((url) => existsSync(fileURLToPath(url))) ?? beside;
};

type Words = { readonly workDir: string; readonly folder: string; readonly strings: Strings["rewind"] };

const failureError = (failure: SnapshotFailure, detail: string, { folder, strings }: Words): UserError =>
  workerError(failureText(failure, detail, { folder, strings }));

const failureText = (
  failure: SnapshotFailure,
  detail: string,
  { folder, strings }: Pick<Words, "folder" | "strings">,
): string => {
  switch (failure) {
    case "full":
      return strings.storeFull(folder);
    case "unwritable":
      return strings.storeUnwritable(folder, detail);
    case "missing":
      return strings.storeMissing;
    case "damaged":
      return strings.storeDamaged(folder);
    case "no-folder":
      return strings.storeNoFolder(detail);
    case "cancelled":
      return strings.storeCancelled;
    default:
      throw failure satisfies never;
  }
};

const reasonText = (reason: KeptReason, strings: Strings["rewind"]): string => {
  switch (reason.type) {
    case "changed":
      return strings.storeKeptChanged;
    case "blocked":
      return strings.storeKeptBlocked;
    case "missing":
      return strings.storeKeptMissing;
    case "failed":
      return reason.detail;
    default:
      throw reason satisfies never;
  }
};
