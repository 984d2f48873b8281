import type { Readable } from "node:stream";

/** A command that is being put into its sandbox. */
export type ConfinedStart = {
  /** Null when the command has begun; what the sandbox's program said when it ended without that. */
  readonly begun: Promise<string | null>;
  /** The program has ended, or has become the command itself. */
  readonly ended: Promise<void>;
  /** Listens no longer, and so holds nobody. */
  readonly ignore: () => void;
  /** Nothing of the command lives any more. */
  readonly release: () => void;
};

const MAX_SAID = 4096;

/** Reads what the sandbox's program says, up to the NUL character by which the command says that it begins. */
export const watchStart = (status: Readable, release: () => void): ConfinedStart => {
  let said = "";
  const closed = new Promise<void>((resolve) => status.once("close", resolve));
  const begun = new Promise<string | null>((resolve) => {
    status.on("data", (bytes: Buffer) => {
      const text = bytes.toString("utf8");
      if (text.includes("\0")) resolve(null);
      said = (said + text).slice(0, MAX_SAID);
    });
    status.on("error", () => status.destroy());
    void closed.then(() => resolve(said.trim())); // never rejects
  });
  return { begun, ended: closed, ignore: () => void status.destroy(), release };
};
