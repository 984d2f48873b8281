import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { type BytePath, diskPath, parentsOf } from "./byte-path.ts";
import { sha256 } from "./object-bytes.ts";
import type { ObjectStore } from "./object-store.ts";
import { readWhole } from "./read-file.ts";
import { bigState } from "./take-snapshot.ts";
import { NONE, type State } from "./tree.ts";

export type Disk = {
  /** A real path. */
  readonly workDir: string;
  readonly store: ObjectStore;
  readonly maxFileBytes: number;
};

/** What is on the disk now. A folder is none of the states: what restoring would do with it depends on what is in it. */
export type DiskState = State | { readonly type: "folder" };

export const diskState = (disk: Disk, path: BytePath): DiskState => {
  const place = diskPath(disk.workDir, path);
  const stats = lookAt(place);
  if (stats === null) return NONE;
  if (stats.isDirectory()) return { type: "folder" };
  if (stats.isSymbolicLink()) return linkState(place);
  if (!stats.isFile()) return { type: "out", reason: "special", detail: "" };
  const read = readWhole(place, disk.maxFileBytes);
  switch (read.type) {
    case "read":
      return {
        type: "file",
        hash: sha256(read.bytes),
        mode: read.stats.mode & 0o777,
        size: read.bytes.length,
      };
    case "big":
      return bigState(read.stats);
    case "gone":
      return NONE;
    case "not-a-file":
      return { type: "out", reason: "special", detail: "" };
    case "unreadable":
      return { type: "out", reason: "unreadable", detail: "" };
    default:
      throw read satisfies never;
  }
};

/** Puts the bytes that are on the disk now into the store, and says which they are. */
export const keepDiskState = (disk: Disk, path: BytePath): DiskState => {
  const state = diskState(disk, path);
  if (state.type !== "file" || disk.store.use(state.hash)) return state;
  const read = readWhole(diskPath(disk.workDir, path), disk.maxFileBytes);
  if (read.type === "read") disk.store.put(read.bytes);
  // What has changed in between is seen by who asks again before it replaces the file.
  return diskState(disk, path);
};

const linkState = (place: string | Buffer): State => {
  try {
    return { type: "link", target: readlinkSync(place, "latin1") };
  } catch {
    // Gone or replaced this moment; whoever compares finds it changed.
    return { type: "out", reason: "unreadable", detail: "" };
  }
};

/** The outermost thing on the way to the path that is no folder, such as a link. Null where the way is free, or ends. */
export const barrier = (workDir: string, path: BytePath): BytePath | null =>
  parentsOf(path).find((parent) => lookAt(diskPath(workDir, parent))?.isDirectory() === false) ?? null;

const lookAt = (place: string | Buffer): Stats | null => {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) ?? null;
  } catch {
    // Below something that is no folder, or out of reach.
    return null;
  }
};
