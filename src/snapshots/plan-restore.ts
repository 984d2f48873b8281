import { lstatSync, readdirSync } from "node:fs";
import { type BytePath, diskPath, inFolder } from "./byte-path.ts";
import { barrier, type Disk, type DiskState, diskState } from "./disk-state.ts";
import { type Change, fileChange, type Patience, uncompared } from "./file-changes.ts";
import { isUnknown, type PathHistory, pathHistories } from "./path-histories.ts";
import type { KeptState, RestoreAction } from "./restore-action.ts";
import type { FileChange, RestorePlan, Step } from "./snapshots.ts";
import { NONE, type State, sameState } from "./tree.ts";

/**
 * How the work directory gets back to before the steps. A path that a step has changed goes back to its state before the
 * first such step, if it still is as the last one has left it and nobody else has changed it between two of them. Else it
 * is a conflict, unless it already is what it would become. Changes nothing.
 */
export const planRestore = async (disk: Disk, steps: readonly Step[], limit: Patience): Promise<RestorePlan> => {
  const { actions, conflicts } = sortOut(disk, pathHistories(disk.store, steps));
  const changes: FileChange[] = [];
  for (const action of actions) changes.push(await fileChange(disk.store, action, limit));
  return { changes, conflicts: conflicts.map(uncompared), actions };
};

type Sorted = { readonly actions: readonly RestoreAction[]; readonly conflicts: readonly Change[] };

const sortOut = (disk: Disk, histories: readonly PathHistory[]): Sorted => {
  const actions = new Map<BytePath, RestoreAction>();
  const conflicts: Change[] = [];
  // Files that would stand where a folder is now: only when all is known can be said whether the folder goes.
  const onFolders: RestoreAction[] = [];
  for (const { path, first, last, isBroken } of histories) {
    if (sameState(first, last) || (first.type === "none" && isUnknown(last))) continue;
    const now = stateFor(disk, path, actions);
    const state: State = now.type === "folder" || now.type === "blocked" ? NONE : now;
    if (sameState(state, first)) continue;
    const isTheirs = isBroken || !sameState(state, last);
    if (isTheirs || now.type === "blocked" || !isKept(first) || !isKept(state)) {
      conflicts.push({ path, from: state, to: first });
      continue;
    }
    const action = { path, from: state, to: first };
    actions.set(path, action);
    if (now.type === "folder") onFolders.push(action);
  }
  for (const { path, from, to } of onFolders) {
    if (isEmptied(disk.workDir, path, actions)) continue;
    actions.delete(path);
    conflicts.push({ path, from, to });
  }
  return { actions: [...actions.values()], conflicts };
};

const isKept = (state: State): state is KeptState => state.type !== "out";

/** `blocked`: nothing, and nothing can be put there. */
type FutureState = DiskState | { readonly type: "blocked" };

/** What will be on the disk at the path once the actions above it are done. */
const stateFor = (disk: Disk, path: BytePath, actions: ReadonlyMap<BytePath, RestoreAction>): FutureState => {
  const blocking = barrier(disk.workDir, path);
  if (blocking === null) return diskState(disk, path);
  // A file or a link stands where the folder was; the path is free again when that goes.
  return actions.get(blocking)?.to.type === "none" ? NONE : { type: "blocked" };
};

/** Whether nothing is in the folder but files that go, and folders. */
const isEmptied = (workDir: string, folder: BytePath, actions: ReadonlyMap<BytePath, RestoreAction>): boolean => {
  const isGoing = (path: BytePath): boolean =>
    actions.get(path)?.to.type === "none" ||
    (lstatSync(diskPath(workDir, path)).isDirectory() && namesIn(path).every(isGoing));
  const namesIn = (path: BytePath): BytePath[] =>
    readdirSync(diskPath(workDir, path), "latin1").map((name) => inFolder(path, name));
  try {
    return namesIn(folder).every(isGoing);
  } catch {
    // What cannot be looked into cannot be shown to be empty.
    return false;
  }
};
