import { lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { systemMessage } from "../text/error-message.ts";
import { type BytePath, diskPath, inFolder, parentsOf, shownPath } from "./byte-path.ts";
import { barrier, type Disk, diskState, keepDiskState } from "./disk-state.ts";
import { fileChange, type Patience, uncompared } from "./file-changes.ts";
import { PlaceTakenError, placeState } from "./place-state.ts";
import { parseAction, type RestoreAction } from "./restore-action.ts";
import { SnapshotError } from "./snapshot-error.ts";
import type { FileChange, RestorePlan } from "./snapshots.ts";
import { sameState } from "./tree.ts";

/** Why a path stays as it is. */
export type KeptReason =
  | { readonly type: "changed" }
  /** A link or a file stands on the way, or a folder that is not empty in its place. */
  | { readonly type: "blocked" }
  /** The store no longer has the bytes. */
  | { readonly type: "missing" }
  | { readonly type: "failed"; readonly detail: string };

export type Applied = {
  readonly restored: readonly string[];
  readonly kept: readonly { readonly path: string; readonly reason: KeptReason }[];
  readonly undo: RestorePlan;
};

/**
 * Carries out a plan, path by path. All bytes that it replaces are in the store before the first one is replaced; a
 * SnapshotError means that nothing has been changed. Files go before others come, so that a file can take a folder's place.
 */
export const applyPlan = async (disk: Disk, plan: RestorePlan, limit: Patience): Promise<Applied> => {
  const actions = plan.actions.map(parsed).sort(byPath);
  for (const { path } of actions) if (barrier(disk.workDir, path) === null) keepDiskState(disk, path);
  disk.store.flush();

  const done: RestoreAction[] = [];
  const kept: { path: BytePath; reason: KeptReason }[] = [];
  const attempt = (action: RestoreAction, act: (action: RestoreAction) => void): void => {
    const reason = failureOf(disk, action, act);
    if (reason === null) done.push(action);
    else kept.push({ path: action.path, reason });
  };
  for (const action of actions.toReversed()) if (action.to.type === "none") attempt(action, (one) => remove(disk, one));
  const emptied = foldersOf(done);
  for (const action of actions)
    if (action.to.type !== "none")
      attempt(action, (one) => {
        removeHollow(disk.workDir, one.path);
        placeState(disk, one);
      });
  removeEmptied(disk.workDir, emptied);

  done.sort(byPath);
  const undo = done.map(({ path, from, to }) => ({ path, from: to, to: from }));
  const changes: FileChange[] = [];
  for (const action of undo) changes.push(await changeOrUncompared(disk, action, limit));
  return {
    restored: done.map(({ path }) => shownPath(path)),
    kept: kept.sort(byPath).map(({ path, reason }) => ({ path: shownPath(path), reason })),
    undo: { changes, conflicts: [], actions: undo },
  };
};

const byPath = (a: { readonly path: BytePath }, b: { readonly path: BytePath }): number => (a.path < b.path ? -1 : 1);

/** The way back must not be lost because lines cannot be counted. */
const changeOrUncompared = async (disk: Disk, action: RestoreAction, limit: Patience): Promise<FileChange> => {
  try {
    return await fileChange(disk.store, action, limit);
  } catch (error) {
    if (error instanceof SnapshotError) return uncompared(action);
    throw error;
  }
};

const parsed = (value: unknown): RestoreAction => {
  const action = parseAction(value);
  if (action === null) throw new SnapshotError("damaged", "plan");
  return action;
};

/** Does it where the path is as the action expects it. Null when it is done. */
const failureOf = (disk: Disk, action: RestoreAction, act: (action: RestoreAction) => void): KeptReason | null => {
  try {
    if (barrier(disk.workDir, action.path) !== null) return { type: "blocked" };
    const now = diskState(disk, action.path);
    // A folder that empties makes room; placing fails where it does not.
    if (now.type === "folder" ? action.from.type !== "none" : !sameState(now, action.from)) return { type: "changed" };
    act(action);
    return null;
  } catch (error) {
    if (error instanceof PlaceTakenError) return { type: error.isFolder ? "blocked" : "changed" };
    if (error instanceof SnapshotError && (error.failure === "missing" || error.failure === "damaged"))
      return { type: "missing" };
    return { type: "failed", detail: systemMessage(error) };
  }
};

const remove = ({ workDir }: Disk, { path, from }: RestoreAction): void => {
  // An empty place stays empty, with or without a folder.
  if (from.type !== "none") unlinkSync(diskPath(workDir, path));
};

/** The folders of what has gone, the innermost first. */
const foldersOf = (removed: readonly RestoreAction[]): readonly BytePath[] =>
  [...new Set(removed.flatMap(({ path }) => parentsOf(path)))].sort().reverse();

/** Removes a folder in which there are folders only. */
const removeHollow = (workDir: string, folder: BytePath): void => {
  if (lstatSync(diskPath(workDir, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(diskPath(workDir, folder), "latin1")) removeHollow(workDir, inFolder(folder, name));
  removeEmptied(workDir, [folder]);
};

const removeEmptied = (workDir: string, folders: readonly BytePath[]): void => {
  for (const folder of folders) {
    const place = diskPath(workDir, folder);
    try {
      if (barrier(workDir, folder) === null && lstatSync(place).isDirectory()) rmdirSync(place);
    } catch {
      // Something is still in it, or it has gone: both are as they should be.
    }
  }
};
