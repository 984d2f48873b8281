import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../text/error-message.ts";
import type { ObjectStore } from "./object-store.ts";
import { touch } from "./object-store.ts";
import { writeError } from "./snapshot-error.ts";
import type { SnapshotId } from "./snapshots.ts";

const TAKEN = "taken";

/** A file whose time is that of the newest snapshot with this content. */
export const takenPath = (folder: string, snapshot: SnapshotId): string => join(folder, TAKEN, snapshot);

/** Notes that a snapshot has been taken now. */
export const noteTaken = (store: ObjectStore, snapshot: SnapshotId): void => {
  if (!touch(takenPath(store.folder, snapshot))) store.writeFile(join(TAKEN, snapshot), Buffer.from("taken\n"));
};

/** Milliseconds since 1970; 0 where nobody has noted it. */
export const takenAt = (folder: string, snapshot: SnapshotId): number =>
  lstatSync(takenPath(folder, snapshot), { throwIfNoEntry: false })?.mtimeMs ?? 0;

export const listTaken = (folder: string): readonly SnapshotId[] => {
  try {
    return readdirSync(join(folder, TAKEN));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw writeError(error);
  }
};
