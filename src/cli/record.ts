import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { EngineEvent } from "../schema/event.ts";
import { createSecretJoiner, RECORDING_VERSION, type RecordingHead, recordingLine } from "../session/recording.ts";
import type { Sink } from "../session/session.ts";
import { errorCode, systemMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { createMask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import type { RunOptions } from "./program.ts";
import type { Setup } from "./setup.ts";

/** The recording of a program's sessions: of one, or in the chat of one after the other. */
export interface Recorder {
  /** Opens the file where it is not open yet, and returns the sink of a session. @throws UserError */
  begin(head: Pick<RecordingHead, "provider" | "model" | "tools">): Sink;
  /** A recording without an event is taken away. */
  close(): void;
}

export type RecorderOptions = {
  readonly version: string;
  /** Looked up at each event: a login adds a key. */
  readonly setup: () => Pick<Setup, "secretValues" | "strings" | "cwd">;
  /** Hears once of a write that fails: the recording ends, and the session goes on. */
  readonly tell: (text: string) => void;
};

/** What `--record` asks for; undefined where it was not given. */
export const createRecorder = ({ record }: RunOptions, options: RecorderOptions): Recorder | undefined => {
  if (record === undefined) return undefined;
  const { version, setup, tell } = options;
  const { strings, cwd } = setup();
  const path = resolve(cwd, record);
  const joiner = createSecretJoiner(() => setup().secretValues.values());
  let file: number | undefined;
  let isOpened = false;
  let isEmpty = true;

  const append = (text: string): void => {
    if (file === undefined) return;
    try {
      writeAll(file, text);
    } catch (error) {
      end();
      tell(strings.replay.recordStopped(path, systemMessage(error)));
    }
  };
  const write = (events: readonly EngineEvent[]): void => {
    if (events.length === 0) return;
    const mask = createMask(setup().secretValues);
    isEmpty = false;
    append(events.map((event) => recordingLine(event, mask)).join(""));
  };
  const end = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };

  return {
    begin: (head) => {
      if (!isOpened) {
        const first = { type: "recording", version: RECORDING_VERSION, createdAt: new Date().toISOString() } as const;
        file = openNew(path, { ...first, harness9: version, ...head }, strings.replay);
        isOpened = true;
      }
      return (event) => write(joiner.push(event));
    },
    close: () => {
      write(joiner.flush());
      end();
      if (isOpened && isEmpty) rmSync(path, { force: true });
    },
  };
};

/** @throws UserError */
const openNew = (path: string, head: RecordingHead, strings: Strings["replay"]): number => {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    writeAll(
      file,
      recordingLine(head, (text) => text),
    );
    return file;
  } catch (error) {
    // As on a full disk: half a head would be in the way of the next try.
    if (file !== undefined) {
      closeSync(file);
      rmSync(path, { force: true });
    }
    const message =
      errorCode(error) === "EEXIST" ? strings.recordExists(path) : strings.recordUnwritable(path, systemMessage(error));
    throw new UserError(message, { exitCode: EXIT.config, cause: error });
  }
};

/** @throws the system's error; a short write is one on a disk that is filling up. */
const writeAll = (file: number, text: string): void => {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
};
