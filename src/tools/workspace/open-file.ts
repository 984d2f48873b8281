import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from "node:fs";
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
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
    throw error;
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
