import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { errorCode } from "../text/error-message.ts";
import { type BytePath, diskPath, inFolder, parentOf, parentsOf } from "./byte-path.ts";
import { barrier, type Disk, diskState } from "./disk-state.ts";
import type { KeptState, RestoreAction } from "./restore-action.ts";
import { sameState } from "./tree.ts";

/** Somebody has put something else there this moment. */
export class PlaceTakenError extends Error {
  readonly isFolder: boolean;

  constructor(isFolder: boolean) {
    super("the place is taken");
    this.name = "PlaceTakenError";
    this.isFolder = isFolder;
  }
}

/** Puts a file or a link at a path, whole or not at all: written beside it first, and then only where nothing else has come. */
export const placeState = (disk: Disk, { path, from, to }: RestoreAction): void => {
  const { workDir } = disk;
  for (const folder of parentsOf(path)) makeFolder(diskPath(workDir, folder));
  if (from.type === "none" && to.type === "link") {
    unlessTaken(() => symlinkSync(Buffer.from(to.target, "latin1"), diskPath(workDir, path)));
    return;
  }
  const temporary = diskPath(workDir, temporaryBeside(path));
  try {
    write(disk, temporary, to);
    if (barrier(workDir, path) !== null) throw new PlaceTakenError(true);
    const now = diskState(disk, path);
    if (now.type === "folder" || !sameState(now, from)) throw new PlaceTakenError(now.type === "folder");
    const place = diskPath(workDir, path);
    if (from.type === "none" && to.type === "file") placeNew(temporary, place);
    else renameSync(temporary, place);
  } finally {
    rmSync(temporary, { force: true });
  }
};

const temporaryBeside = (path: BytePath): BytePath =>
  inFolder(parentOf(path), `.harness9-${randomBytes(8).toString("hex")}.tmp`);

const makeFolder = (place: string | Buffer): void => {
  try {
    mkdirSync(place);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
};

const write = ({ store }: Disk, temporary: string | Buffer, to: KeptState): void => {
  switch (to.type) {
    case "none":
      return;
    case "link":
      symlinkSync(Buffer.from(to.target, "latin1"), temporary);
      return;
    case "file": {
      const bytes = store.get(to.hash);
      // Nobody else reads it before it has its own mode.
      const descriptor = openSync(temporary, "wx", 0o600);
      try {
        writeFileSync(descriptor, bytes);
        fchmodSync(descriptor, to.mode);
      } finally {
        closeSync(descriptor);
      }
      return;
    }
    default:
      throw to satisfies never;
  }
};

/** Unlike a rename, a second name never replaces what is there. */
const placeNew = (temporary: string | Buffer, place: string | Buffer): void => {
  try {
    unlessTaken(() => linkSync(temporary, place));
  } catch (error) {
    // A file system without second names.
    if (!NO_LINKS.includes(errorCode(error))) throw error;
    renameSync(temporary, place);
  }
};

const NO_LINKS: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"];

const unlessTaken = (make: () => void): void => {
  try {
    make();
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? new PlaceTakenError(false) : error;
  }
};
