import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";
import type { EngineEvent } from "../schema/event.ts";
import { printableText } from "../text/printable-text.ts";
import { type BlockOptions, formatBlock } from "./format-block.ts";

export type LogFile = {
  readonly path: string;
  /** A sink of events. One block is one write, so that parallel tools do not mix. */
  readonly write: (event: EngineEvent) => void;
  /** A stack trace: never on the terminal, always here. Its message may quote anybody. */
  readonly writeText: (text: string) => void;
  readonly close: () => void;
};

/** @throws the system's error; a short write is one on a disk that is filling up. */
const writeAll = (file: number, bytes: Buffer): void => {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
};

/**
 * Opens the log (0600) and appends to it. A write that fails later, as on a full disk, ends the log and not the run:
 * `onFailure` hears of it once.
 * @throws the system's error when the file cannot be opened.
 */
export const openLogFile = (
  path: string,
  options: { readonly block: BlockOptions; readonly onFailure: (error: unknown) => void },
): LogFile => {
  // Without waiting: a FIFO that nobody reads would hold the start for ever.
  const file = openSync(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK,
    0o600,
  );
  // A device or a pipe keeps its own mode: it is not ours alone.
  if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
  let open = true;
  const append = (text: string): void => {
    if (!open) return;
    try {
      writeAll(file, Buffer.from(text));
    } catch (error) {
      open = false;
      closeSync(file);
      options.onFailure(error);
    }
  };
  return {
    path,
    write: (event) => {
      const block = formatBlock(event, options.block);
      if (block !== undefined) append(`${block}\n`);
    },
    writeText: (text) => append(`${printableText(text).replace(/\n$/, "")}\n`),
    close: () => {
      if (!open) return;
      open = false;
      closeSync(file);
    },
  };
};
