import type { Readable } from "node:stream";

/** A command that has been put into its sandbox. */
export type ConfinedStart = {
  /** Once the sandbox's program has ended: what it said where it could not begin the command, else null. */
  readonly failure: () => Promise<string | null>;
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

export const watchStart = ({ words, status }: ConfinedStreams, release: () => void): ConfinedStart => {
  const said = beginning(words);
  const noted = status && beginning(status);
  const noteEnds = status && new Promise<void>((resolve) => status.once("close", resolve));
  return {
    failure: async () => {
      await noteEnds;
      const hasBegun = noted === null ? said() === "" : noted().includes('"exit-code"');
      return hasBegun ? null : said();
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
