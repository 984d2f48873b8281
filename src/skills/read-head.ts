import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export type FileHead = {
  /** Whole characters of the beginning. */
  readonly text: string;
  /** Of the whole file. */
  readonly bytes: number;
};

/** The first bytes of an ordinary file; null for anything else. A pipe or a device does not hold it up. @throws the system's error */
export const readHead = (path: string, maxBytes: number): FileHead | null => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(maxBytes, stats.size));
    const text = bytes.toString("utf8", 0, readSync(file, bytes));
    // The last character may have been cut.
    return { text: stats.size > maxBytes ? text.replace(/\uFFFD+$/, "") : text, bytes: stats.size };
  } finally {
    closeSync(file);
  }
};
