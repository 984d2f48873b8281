import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import type { Strings } from "../../text/strings.ts";
import { FileError } from "./file-error.ts";

/** A path for the system, as safePath gave it, and for messages. */
export type NamedPath = { readonly real: string; readonly shown: string };

export type OpenFile = { readonly handle: FileHandle; readonly stats: Stats };

/**
 * Opens a regular file for reading; the caller closes it. Folders, FIFOs, sockets and devices are refused at once,
 * before the open (which a FIFO or a tape would act on) and after it (what was opened counts).
 * @throws FileError, or the system's error
 */
export const openRegularFile = async ({ real, shown }: NamedPath, strings: Strings["files"]): Promise<OpenFile> => {
  refuseSpecial(await lstat(real), shown, strings);
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    refuseSpecial(stats, shown, strings);
    return { handle, stats };
  } catch (error) {
    await handle.close();
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
