import { appendFileSync, chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../text/error-message.ts";
import { byteLength, headBytes } from "../../text/utf8.ts";

/** Where a command's whole output is: not needed so far, in a file (`capped`: only its first part), or lost. */
export type OutputsFileState =
  | { readonly type: "unused" }
  | { readonly type: "saved"; readonly path: string; readonly capped: boolean }
  | { readonly type: "failed"; readonly reason: string };

/** One command's file in the session's outputs folder; made at the first append. Never throws: see `state`. */
export interface OutputsFile {
  append(text: string): void;
  state(): OutputsFileState;
  close(): void;
}

export type OutputsFileOptions = { readonly dir: string; readonly toolCallId: string; readonly maxBytes: number };

export const createOutputsFile = ({ dir, toolCallId, maxBytes }: OutputsFileOptions): OutputsFile => {
  let state: OutputsFileState = { type: "unused" };
  let descriptor: number | null = null;
  let left = maxBytes;

  const fail = (error: unknown): void => {
    state = { type: "failed", reason: errorMessage(error) };
  };
  const open = (): void => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
    const opened = openNew(dir, fileName(toolCallId));
    descriptor = opened.descriptor;
    state = { type: "saved", path: opened.path, capped: false };
  };
  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };

  return {
    append: (text) => {
      try {
        if (state.type === "unused") open();
        if (descriptor === null || state.type !== "saved") return;
        const bytes = byteLength(text);
        // Synchronous: the bytes are few and bounded, and the command must never wait for a queue of ours to empty.
        appendFileSync(descriptor, bytes <= left ? text : headBytes(text, left));
        left -= bytes;
        if (left >= 0) return;
        state = { ...state, capped: true };
        close();
      } catch (error) {
        close();
        fail(error);
      }
    },
    state: () => state,
    close,
  };
};

// Ids come from a model server: nothing in them may lead out of the folder.
const fileName = (toolCallId: string): string => toolCallId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100) || "call";

/** A file that did not exist: some servers use the same ids again in each turn. */
const openNew = (dir: string, name: string): { descriptor: number; path: string } => {
  for (let attempt = 1; ; attempt += 1) {
    const path = join(dir, attempt === 1 ? `${name}.txt` : `${name}-${attempt}.txt`);
    try {
      return { descriptor: openSync(path, "wx", 0o600), path };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
};
