import { execFile } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readlinkSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "./child-env.ts";

/** A real pipe for one command: bash gets `writeEnd` as stdout and as stderr. */
export type OutputPipe = {
  readonly writeEnd: number;
  /** What a link to it in /proc says. */
  readonly name: string;
  /** Ends when the last process that holds the write end is gone. */
  readonly reader: Socket;
};

/**
 * Real pipes, one for stdout and stderr together, so that their order is true. Node's own "pipe" is a socket:
 * two of them lose the order, and `echo x > /dev/stderr` or `tee /dev/stdout` cannot open one on Linux.
 */
export interface OutputPipes {
  /** Makes the first ones now, so that the first command need not wait for them. */
  prepare(): void;
  /** Null where there are none; see `MERGED` in start-command.ts for the other way. */
  open(): Promise<OutputPipe | null>;
  close(): void;
}

const BATCH = 16;

/** Makes pipes with `mkfifo`, some at a time, and uses them again. Their names are gone from the disk at once. */
export const createOutputPipes = (env: Env, platform: NodeJS.Platform): OutputPipes => {
  let available = platform === "linux";
  let making: Promise<void> | null = null;
  // Read ends that keep the nameless pipes; /proc opens further ends of the same pipe.
  const free: number[] = [];

  const make = async (): Promise<void> => {
    try {
      free.push(...(await makeNamelessPipes(BATCH, env)));
    } catch {
      available = false; // no mkfifo, no place for it, or no /proc
    }
    making = null;
  };

  const open = (keeper: number): OutputPipe => {
    const path = `/proc/self/fd/${keeper}`;
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    let writeEnd: number;
    try {
      writeEnd = openSync(path, constants.O_WRONLY);
    } catch (error) {
      closeSync(readEnd);
      throw error;
    }
    const reader = new Socket({ fd: readEnd, readable: true, writable: false });
    let isEmpty = false;
    reader.once("end", () => {
      isEmpty = true;
    });
    // Only after the last writer has gone is there nothing of this command left in the pipe.
    reader.once("close", () => (isEmpty ? free.push(keeper) : closeSync(keeper)));
    return { writeEnd, reader, name: readlinkSync(path) };
  };

  return {
    prepare: () => {
      if (available && free.length === 0) making ??= make();
    },
    open: async () => {
      while (available) {
        const keeper = free.pop();
        if (keeper !== undefined) {
          try {
            return open(keeper);
          } catch (error) {
            free.push(keeper);
            throw error;
          }
        }
        making ??= make();
        await making;
      }
      return null;
    },
    close: () => {
      for (const keeper of free.splice(0)) closeSync(keeper);
    },
  };
};

const makeNamelessPipes = async (count: number, env: Env): Promise<number[]> => {
  const dir = mkdtempSync(join(tmpdir(), "harness9-pipes-"));
  const opened: number[] = [];
  try {
    const paths = Array.from({ length: count }, (_, index) => join(dir, String(index)));
    await new Promise<void>((resolve, reject) => {
      execFile("mkfifo", ["-m", "600", ...paths], { env: { ...env } }, (error) => (error ? reject(error) : resolve()));
    });
    for (const path of paths) opened.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    closeSync(openSync(`/proc/self/fd/${opened[0]}`, constants.O_RDONLY | constants.O_NONBLOCK));
    return opened;
  } catch (error) {
    for (const keeper of opened) closeSync(keeper);
    throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
