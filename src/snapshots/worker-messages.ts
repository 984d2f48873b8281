import type { Applied } from "./apply-plan.ts";
import type { Collected } from "./collect.ts";
import type { SnapshotFailure } from "./snapshot-error.ts";
import type { FileChange, RestorePlan, Snapshot, SnapshotId, Step } from "./snapshots.ts";

/** What the worker is started with. */
export type WorkerPlaces = { readonly workDir: string; readonly folder: string; readonly harnessHome: string };

/** What is asked of the worker. */
export type Task =
  /** Cancelled as soon as the first number of the shared memory is not 0. */
  | { readonly type: "take"; readonly cancelled: Int32Array }
  | { readonly type: "changes" | "diff" | "plan"; readonly steps: readonly Step[] }
  | { readonly type: "apply"; readonly plan: RestorePlan }
  | { readonly type: "collect"; readonly keep: readonly SnapshotId[]; readonly maxBytes: number };

export type TaskResults = {
  take: Snapshot;
  changes: readonly FileChange[];
  diff: readonly { readonly change: FileChange; readonly diff: string }[];
  plan: RestorePlan;
  apply: Applied;
  collect: Collected;
};

export type WorkerRequest = { readonly id: number; readonly task: Task };

export type WorkerAnswer =
  | { readonly id: number; readonly type: "done"; readonly result: unknown }
  | { readonly id: number; readonly type: "failed"; readonly failure: SnapshotFailure; readonly detail: string }
  /** A defect, with its stack. */
  | { readonly id: number; readonly type: "defect"; readonly message: string };
