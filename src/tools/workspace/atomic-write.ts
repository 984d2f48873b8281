import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";
import { FileError } from "./file-error.ts";
import { type NamedPath, pinnedFolder, refuseMoved, refuseSpecial } from "./open-file.ts";

export type AtomicWrite = {
  readonly path: NamedPath;
  readonly bytes: Uint8Array;
  /** The file that is replaced, as lstat gave it; null for a new one. Its mode and owner stay. */
  readonly existing: Stats | null;
  readonly strings: Strings["files"];
  readonly signal?: AbortSignal;
  /** The path was judged by safePath: a folder that has become a link to elsewhere since is refused. */
  readonly isChecked?: boolean;
};

const NEW_FILE_MODE = 0o644;

// The folder takes no new file, or this file cannot be replaced (a mount point, another owner): it may still be writable.
const REPLACING_REFUSED = new Set(["EXDEV", "EPERM", "EBUSY", "EACCES", "EROFS"]);

/**
 * Replaces a file's content whole or not at all: a temporary file in the same folder, then a rename. Where that is
 * refused the file is written in place, with a copy of the old content until it is done. Nothing is left behind.
 * @throws FileError, or the system's error
 */
export const atomicWrite = async (write: AtomicWrite): Promise<void> => {
  const { path, bytes, existing, strings } = write;
  if (existing) await checkWritable(path, existing, strings);
  try {
    await replaceFile(write);
  } catch (error) {
    if (!existing || !REPLACING_REFUSED.has(errorCode(error) ?? "")) throw error;
    await writeInPlace(path, bytes, strings);
  }
};

const replaceFile = async (write: AtomicWrite): Promise<void> => {
  const { path, bytes, existing, strings } = write;
  const named = dirname(path.real);
  const handle = await open(named, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    if (write.isChecked) refuseMoved(handle.fd, { real: named, shown: path.shown }, strings);
    const folder = pinnedFolder(handle.fd, named);
    const temporary = join(folder, temporaryName("tmp"));
    try {
      await writeTemporary(temporary, bytes, existing);
      write.signal?.throwIfAborted();
      await rename(temporary, join(folder, basename(path.real)));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  } finally {
    await handle.close();
  }
};

/** A rename would replace a read-only file without asking, and root may write everything. */
const checkWritable = async ({ real, shown }: NamedPath, stats: Stats, strings: Strings["files"]): Promise<void> => {
  refuseSpecial(stats, shown, strings);
  if ((stats.mode & 0o222) === 0) throw new FileError("read-only", strings.readOnly(shown));
  await access(real, constants.W_OK);
};

const writeTemporary = async (path: string, bytes: Uint8Array, existing: Stats | null): Promise<void> => {
  // Never readable by more people than the file itself, not even for a moment.
  const handle = await open(path, "wx", existing ? 0o600 : NEW_FILE_MODE);
  try {
    await handle.writeFile(bytes);
    if (existing) {
      const own = await handle.stat();
      if (own.uid !== existing.uid || own.gid !== existing.gid) await handle.chown(existing.uid, existing.gid);
      await handle.chmod(existing.mode & 0o7777);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Writes over a file; if that fails the old content is put back, and where even that fails the error names its copy. */
export const writeInPlace = async (path: NamedPath, bytes: Uint8Array, strings: Strings["files"]): Promise<void> => {
  const handle = await open(path.real, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    refuseSpecial(await handle.stat(), path.shown, strings);
    refuseMoved(handle.fd, path, strings);
    const old = await handle.readFile();
    const copy = await keepCopy(path.real, old);
    try {
      await overwrite(handle, bytes);
    } catch (error) {
      await overwrite(handle, old).catch((cause: unknown) => {
        throw copy === null ? cause : new FileError("io", strings.restoreFailed(path.shown, copy), cause);
      });
      if (copy !== null) await rm(copy, { force: true });
      throw error;
    }
    if (copy !== null) await rm(copy, { force: true });
  } finally {
    await handle.close();
  }
};

/** Where the folder takes no new file the only copy is in memory. */
const keepCopy = async (path: string, old: Uint8Array): Promise<string | null> => {
  const copy = join(dirname(path), temporaryName("old"));
  try {
    await writeFile(copy, old, { flag: "wx", mode: 0o600 });
    return copy;
  } catch (error) {
    await rm(copy, { force: true });
    if (REPLACING_REFUSED.has(errorCode(error) ?? "")) return null;
    throw error;
  }
};

// The length is set last: until then the old blocks are there to write the old content back to.
const overwrite = async (handle: FileHandle, bytes: Uint8Array): Promise<void> => {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done, done)).bytesWritten;
  await handle.truncate(bytes.length);
  await handle.sync();
};

// Short: the file's own name may be as long as names can be.
const temporaryName = (extension: string): string => `.harness9-${randomBytes(6).toString("hex")}.${extension}`;
