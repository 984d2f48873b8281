import { errorCode, systemMessage } from "../text/error-message.ts";

/** Why the store could not do it. */
export type SnapshotFailure =
  /** The disk, or what one may use of it. */
  | "full"
  | "unwritable"
  /** What a snapshot needs is no longer kept. */
  | "missing"
  | "damaged"
  /** The work directory cannot be read. */
  | "no-folder"
  | "cancelled";

/** What goes wrong in the store, as the worker tells it. `detail` is the system's own word, or empty. */
export class SnapshotError extends Error {
  readonly failure: SnapshotFailure;
  readonly detail: string;

  constructor(failure: SnapshotFailure, detail = "", cause?: unknown) {
    super(`${failure}${detail === "" ? "" : `: ${detail}`}`, cause === undefined ? undefined : { cause });
    this.name = "SnapshotError";
    this.failure = failure;
    this.detail = detail;
  }
}

const FULL: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** A failure to write into the store. */
export const writeError = (error: unknown): SnapshotError =>
  new SnapshotError(FULL.includes(errorCode(error)) ? "full" : "unwritable", systemMessage(error), error);
