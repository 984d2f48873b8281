import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import type { Strings } from "../../text/strings.ts";
import { FileError } from "./file-error.ts";

/** A path for the system, as safePath gave it, and for messages. */
export type NamedPath = { readonly real: string; readonly shown: string };

export type OpenFile = { readonly fd: number; readonly stats: Stats };

/**
 * Opens a regular file for reading; the caller closes it. Folders, FIFOs, sockets and devices are refused at once,
 * before the open (which a FIFO or a tape would act on) and after it (what was opened counts).
 * Synchronous: each trip through the thread pool costs more than all of these calls.
 * @throws FileError, or the system's error
 */
export const openRegularFile = ({ real, shown }: NamedPath, strings: Strings["files"]): OpenFile => {
  refuseSpecial(lstatSync(real), shown, strings);
  const fd = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    refuseSpecial(stats, shown, strings);
    refuseMoved(fd, { real, shown }, strings);
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};

/**
 * Refuses what is open at another place than the one that was checked: somebody put a link in the way since.
 * @throws FileError
 */
export const refuseMoved = (fd: number, { real, shown }: NamedPath, strings: Strings["files"]): void => {
  // Some file systems tell a name as it was made, in another case than it was asked for.
  const fold = (path: string): string => path.normalize("NFC").toLowerCase();
  const opened = fold(openedPath(fd, real));
  if (opened !== fold(real) && opened !== `${fold(real)} (deleted)`)
    throw new FileError("outside", strings.outside(shown));
};

/** A way to an open folder that stays, whatever becomes of its name; the name where the system has no such way. */
export const pinnedFolder = (fd: number, name: string): string => {
  const pinned = `/proc/self/fd/${fd}`;
  return existsSync(pinned) ? pinned : name;
};

const openedPath = (fd: number, path: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return realpathSync(path); // no /proc: the best that there is
  }
};

/** @throws FileError for everything but a regular file. */
export const refuseSpecial = (stats: Stats, shown: string, strings: Strings["files"]): void => {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new FileError("is-directory", strings.isDirectory(shown));
  throw new FileError("special-file", strings.specialFile(shown, strings.fileKinds[specialKind(stats)]));
};

const specialKind = (stats: Stats): keyof Strings["files"]["fileKinds"] => {
  if (stats.isFIFO()) return "fifo";
  if (stats.isSocket()) return "socket";
  if (stats.isSymbolicLink()) return "link";
  return "device";
};
