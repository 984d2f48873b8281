import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const SOCKET_PATIENCE_MS = 500;
const NOTICE_AFTER_MS = 3000;

export type StdinOptions = {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number };
  /** Whether the command line already gives a prompt: then an input that never begins is left alone. */
  readonly hasPrompt: boolean;
  readonly notice: (text: string) => void;
  readonly strings: Strings["cli"];
};

/**
 * Standard input as text; undefined at a terminal or where there is none.
 * @throws UserError (exit 42) for input that is no UTF-8 text or too large.
 */
export const readStdin = async ({ stdin, hasPrompt, notice, strings }: StdinOptions): Promise<string | undefined> => {
  const source = stdinSource(stdin);
  if (source === "none") return undefined;
  const chunks = await readAll(stdin, {
    // A program that starts us often leaves a socket open as our input and never writes to it.
    patienceMs: source === "socket" && hasPrompt ? SOCKET_PATIENCE_MS : undefined,
    onSlow: () => notice(strings.waitingForStdin),
    tooLarge: () => new UserError(strings.stdinTooLarge(MAX_BYTES), { exitCode: EXIT.input }),
  });
  if (chunks === undefined) return undefined;
  const text = decode(Buffer.concat(chunks));
  if (text === undefined) throw new UserError(strings.stdinBinary, { exitCode: EXIT.input });
  return text;
};

/** UTF-8 text without its BOM; undefined for anything else. */
const decode = (bytes: Buffer): string | undefined => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
};

type Source = "none" | "file" | "pipe" | "socket";

const stdinSource = ({ isTTY, fd = 0 }: StdinOptions["stdin"]): Source => {
  if (isTTY) return "none";
  try {
    const stat = fstatSync(fd);
    if (stat.isFile()) return "file";
    if (stat.isFIFO()) return "pipe";
    return stat.isSocket() ? "socket" : "none";
  } catch {
    // Closed: there is no input.
    return "none";
  }
};

/** Undefined when nothing came within `patienceMs`. */
const readAll = (
  stdin: Readable,
  options: { patienceMs: number | undefined; onSlow: () => void; tooLarge: () => Error },
): Promise<Buffer[] | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const slow = setTimeout(options.onSlow, NOTICE_AFTER_MS);
    const patience =
      options.patienceMs === undefined
        ? undefined
        : setTimeout(() => settle(() => resolve(undefined)), options.patienceMs);
    const settle = (end: () => void): void => {
      clearTimeout(slow);
      clearTimeout(patience);
      stdin.removeAllListeners("data");
      stdin.removeAllListeners("end");
      stdin.pause();
      end();
    };
    stdin.on("data", (chunk: Buffer) => {
      clearTimeout(slow);
      clearTimeout(patience);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) settle(() => reject(options.tooLarge()));
      else chunks.push(chunk);
    });
    stdin.once("end", () => settle(() => resolve(chunks)));
    stdin.once("error", (error) => settle(() => reject(error)));
  });
