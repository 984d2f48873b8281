import { createHash } from "node:crypto";
import { exitCode } from "../headless/exit-code.ts";
import { createPrinter, type HeadlessOptions } from "../headless/run-headless.ts";
import type { EngineEvent } from "../schema/event.ts";
import { EXIT } from "../text/exit.ts";

/**
 * Prints recorded events as `run` prints those that happen. A session has as many results as runs; `json` prints the
 * last one. Returns the exit code of the last run.
 */
export const printReplay = async (events: AsyncIterable<EngineEvent>, options: HeadlessOptions): Promise<number> => {
  const { stdout } = process;
  let result = "";
  const keepLast = {
    write: (line: string): boolean => {
      result = line;
      return true;
    },
  };
  const print = createPrinter({ ...options, uuid: uuidOf, ...(options.format === "json" && { stdout: keepLast }) });
  let code: number = EXIT.completed;
  for await (const event of events) {
    print(event);
    if (event.type === "run.completed" && event.parentToolCallId === undefined) code = exitCode(event);
    // A long recording must not pile up before a slow reader.
    if (stdout.writableNeedDrain) await roomIn(stdout);
  }
  if (result !== "") stdout.write(result);
  return code;
};

/** Resolves when the stream takes more, or takes nothing any more. */
const roomIn = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    const events = ["drain", "error", "close"];
    const settle = (): void => {
      for (const event of events) stream.off(event, settle);
      resolve();
    };
    for (const event of events) stream.on(event, settle);
  });

/** The same recording is the same output, to the byte. */
const uuidOf = ({ sessionId, seq }: EngineEvent): string => {
  const digest = createHash("sha256").update(`${sessionId}:${seq}`).digest("hex");
  // As a version 8 UUID, which leaves its bits to whoever makes it.
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
};
