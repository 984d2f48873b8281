import type { Readable } from "node:stream";
import { within } from "./await-exit.ts";

/** A command that has been put into its sandbox. */
export type ConfinedStart = {
  /** Once the sandbox's program has ended, by a signal or not: what it said where it could not begin the command, else null. */
  readonly failure: (signal: NodeJS.Signals | null) => Promise<string | null>;
  /** Nothing of the command lives any more. */
  readonly release: () => void;
};

export type ConfinedStreams = {
  /** Where the sandbox's program speaks. */
  readonly words: Readable;
  /** Where it notes the command's end; null for a program that becomes the command, and then has `words` for itself. */
  readonly status: Readable | null;
};

const MAX_CHARACTERS = 4096;
const NOTE_MS = 500;

export const watchStart = ({ words, status }: ConfinedStreams, release: () => void): ConfinedStart => {
  const said = beginning(words);
  const noted = status && beginning(status);
  const noteEnds = status && new Promise<void>((resolve) => status.once("close", resolve));
  return {
    failure: async (signal) => {
      // Somebody may hold it who has nothing to do with the command.
      if (noteEnds) await within(NOTE_MS, noteEnds);
      // A program that was killed has no more to note than that it was under way.
      const sign = signal === null ? '"exit-code"' : '"child-pid"';
      const hasBegun = noted === null ? signal !== null || said() === "" : noted().includes(sign);
      return hasBegun ? null : said() || (signal ?? "no message");
    },
    release,
  };
};

const beginning = (stream: Readable): (() => string) => {
  let text = "";
  stream.on("data", (bytes: Buffer) => {
    if (text.length < MAX_CHARACTERS) text += bytes.toString("utf8");
  });
  stream.on("error", () => stream.destroy());
  return () => text.slice(0, MAX_CHARACTERS).trim();
};
