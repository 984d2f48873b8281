import { constants, type Stats } from "node:fs";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ensurePrivateDir, writePrivateFile } from "../config/paths.ts";
import { errorCode, systemMessage } from "../text/error-message.ts";

/** The history of the input, one `{"text", "time"}` a line; several processes may append. */
export type LoadedHistory = {
  /** The newest is the last. */
  readonly entries: readonly string[];
  /** Why the file could not be read. */
  readonly warning?: string;
};

const MAX_READ = 256 * 1024;
const MAX_FILE = 1024 * 1024;
// The file stays well below its limit after it is trimmed, and no entry fills what is read of it.
const KEPT_BYTES = 512 * 1024;
const KEPT_ENTRIES = 1000;
const MAX_LINE = 64 * 1024;
const STALE_LOCK_MS = 60_000;

/** What was sent before, as far as the end of the file tells. A file that is not there or broken is no failure. */
export const loadHistory = async (path: string): Promise<LoadedHistory> => {
  try {
    // Without waiting: a FIFO that nobody writes would hold the start for ever.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      // Reading a folder fails, and says why.
      const lines = stats.isFile() || stats.isDirectory() ? await lastLines(file, stats, MAX_READ) : [];
      return { entries: lines.map(textOf).filter((text) => text !== undefined) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return errorCode(error) === "ENOENT" ? { entries: [] } : { entries: [], warning: systemMessage(error) };
  }
};

/** Adds what was sent. An entry beyond 64 KB is left out: it is a document. Returns why it failed, if it did. */
export const appendHistory = async (path: string, text: string, time = new Date()): Promise<string | undefined> => {
  const line = Buffer.from(`${JSON.stringify({ text, time: time.toISOString() })}\n`);
  if (line.length > MAX_LINE || text.trim() === "") return undefined;
  try {
    await ensurePrivateDir(dirname(path));
    const size = await appendLine(path, line);
    if (size > MAX_FILE) await trim(path);
    return undefined;
  } catch (error) {
    return systemMessage(error);
  }
};

/** Returns the size of the file; 0 for a device, which somebody put there to have no history. */
const appendLine = async (path: string, line: Buffer): Promise<number> => {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o600);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return 0;
    if ((stats.mode & 0o777) !== 0o600) await file.chmod(0o600);
    // A line that was cut off by a crash must not take this one with it.
    const isTorn = stats.size > 0 && (await readFrom(file, stats.size - 1)).toString() !== "\n";
    await file.appendFile(isTorn ? Buffer.concat([Buffer.from("\n"), line]) : line);
    return stats.size + line.length;
  } finally {
    await file.close();
  }
};

/** Keeps the newest entries. One process at a time; what others append meanwhile is taken along. */
const trim = async (path: string): Promise<void> => {
  const lock = `${path}.lock`;
  if (!(await takeLock(lock))) return;
  try {
    const file = await open(path, constants.O_RDONLY);
    try {
      const stats = await file.stat();
      const lines = (await lastLines(file, stats, KEPT_BYTES)).slice(-KEPT_ENTRIES);
      await writePrivateFile(path, lines.map((line) => `${line}\n`).join(""));
      const late = await readFrom(file, stats.size);
      if (late.length > 0) await appendLine(path, late);
    } finally {
      await file.close();
    }
  } finally {
    await rm(lock, { force: true });
  }
};

const takeLock = async (lock: string): Promise<boolean> => {
  try {
    await (await open(lock, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    const taken = await stat(lock).catch(() => undefined);
    // Of a process that has died: the next append finds the way free.
    if (taken !== undefined && Date.now() - taken.mtimeMs > STALE_LOCK_MS) await rm(lock, { force: true });
    return false;
  }
};

/** The whole lines within the last `bytes` of the file. */
const lastLines = async (file: FileHandle, { size }: Stats, bytes: number): Promise<string[]> => {
  const start = Math.max(0, size - bytes);
  const text = (await readFrom(file, start, size)).toString();
  const lines = text.split("\n").filter((line) => line !== "");
  return start === 0 || text.startsWith("\n") ? lines : lines.slice(1);
};

const readFrom = async (file: FileHandle, start: number, end?: number): Promise<Buffer> => {
  const length = (end ?? (await file.stat()).size) - start;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, length)), 0, Math.max(0, length), start);
  return buffer.subarray(0, bytesRead);
};

const textOf = (line: string): string | undefined => {
  try {
    const entry: unknown = JSON.parse(line);
    const isEntry = typeof entry === "object" && entry !== null && "text" in entry && typeof entry.text === "string";
    return isEntry ? (entry as { readonly text: string }).text : undefined;
  } catch {
    // A line that a crash has cut off.
    return undefined;
  }
};
