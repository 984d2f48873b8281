/** Names the state of a work directory: the SHA-256 of its list of files, in hex. */
export type SnapshotId = string;

/** What is not in a snapshot, though nothing ignores it. Paths are relative to the work directory. */
export type LeftOut = {
  readonly bigFiles: readonly string[];
  /** Files that could not be read. */
  readonly unreadable: readonly string[];
  /** How many files there are beyond what a snapshot holds. */
  readonly beyondLimit: number;
};

export type Snapshot = {
  readonly id: SnapshotId;
  readonly files: number;
  readonly leftOut: LeftOut;
};

/** What happened between two snapshots. */
export type Step = { readonly before: SnapshotId; readonly after: SnapshotId };

export type FileChange = {
  /** For people; a name that is not UTF-8 is shown with its odd bytes escaped. */
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
  /** Lines; null where it is no text, or too long to compare. */
  readonly lines: { readonly added: number; readonly removed: number } | null;
};

/** What restoring would do. Plain data: it can be sent to the worker and back. */
export type RestorePlan = {
  readonly changes: readonly FileChange[];
  /** Files that somebody else has changed since: they would stay as they are. */
  readonly conflicts: readonly FileChange[];
  /** The store's own; opaque to everybody else. */
  readonly actions: readonly unknown[];
};

export type Restored = {
  readonly restored: readonly string[];
  /** What stayed as it is: changed meanwhile by others, or not writable, with the reason. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
  /** Takes it back: the bytes of before, where nobody has changed them since. */
  readonly undo: RestorePlan;
};

/** The states of one work directory, kept outside of it. All of it runs in a worker. */
export interface Snapshots {
  /** Keeps the work directory as it is now. */
  take(signal?: AbortSignal): Promise<Snapshot>;
  /** What the steps, the oldest first, have changed in sum. */
  changes(steps: readonly Step[]): Promise<readonly FileChange[]>;
  /** The same as one unified diff, by file; empty where it would be too long beside the others. */
  diff(steps: readonly Step[]): Promise<readonly { readonly change: FileChange; readonly diff: string }[]>;
  /** How the work directory would get back to before the steps, the oldest first. Changes nothing. */
  plan(steps: readonly Step[]): Promise<RestorePlan>;
  /** Does it. Looks at each file again first; writes each whole or not at all. */
  apply(plan: RestorePlan): Promise<Restored>;
  /** Ends the worker. Snapshots of sessions that are gone are removed by `collect`. */
  close(): Promise<void>;
}
