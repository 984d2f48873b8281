import { createReadStream, existsSync } from "node:fs";
import { hostname } from "node:os";
import { basename, resolve } from "node:path";
import type { EngineEvent } from "../schema/event.ts";
import { lockOwner } from "../session/journal-lock.ts";
import { NewerJournalError } from "../session/journal-read.ts";
import { NotReplayableError, type ReplayHead, type ReplayItem, readReplay } from "../session/recording-read.ts";
import { createReplayEnd } from "../session/replay-end.ts";
import { errorCode, systemMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { listSessions } from "./sessions-list.ts";
import { findSession } from "./sessions-store.ts";
import type { Setup } from "./setup.ts";

/** A recording or a journal that is open for reading. */
export type ReplaySource = {
  readonly path: string;
  /** As a person may be told it. */
  readonly name: string;
  readonly head: ReplayHead;
  /** To the end of the last run, which is an error where the file breaks off before. @throws UserError */
  readonly events: AsyncIterable<EngineEvent>;
  /** What to tell of lines that could not be understood; known when the events have ended. */
  readonly problem: () => string | undefined;
  /** Whether the file breaks off in a run; known then too. */
  readonly breaksOff: () => boolean;
};

/** Reading ends where `signal` aborts. @throws UserError (exit 42) for what is not there or is none */
export const openReplay = async (setup: Setup, asked: string, signal?: AbortSignal): Promise<ReplaySource> => {
  const strings = setup.strings.replay;
  const path = await pathOf(setup, asked);
  const items = readReplay(piecesOf(path, signal));
  const first = await next(items, path, strings);
  // Whoever reads them throws before anything else comes.
  if (first?.type !== "head") throw new Error("a replay without its head");
  let skipped = 0;
  let breaksOff = false;

  async function* events(): AsyncGenerator<EngineEvent> {
    const end = createReplayEnd();
    let isEmpty = true;
    for (let item = await next(items, path, strings); item; item = await next(items, path, strings)) {
      // A program that was killed leaves a torn line: that is no damage.
      if (item.type === "skipped" && !item.isTorn) skipped += 1;
      if (item.type !== "event") continue;
      isEmpty = false;
      end.add(item.event);
      yield item.event;
    }
    if (isEmpty) throw new UserError(strings.empty(path), { exitCode: EXIT.input });
    const missing = end.missing(strings.endsEarly);
    breaksOff = missing !== undefined;
    if (missing) yield missing;
  }

  return {
    path,
    name: basename(path),
    head: first.head,
    events: events(),
    problem: () => (skipped > 0 ? strings.skipped(path, skipped) : undefined),
    breaksOff: () => breaksOff,
  };
};

/** The first line of a recording or a journal is short; what has none, as a device, may have no end either. */
const MAX_HEAD_BYTES = 1_048_576;

async function* piecesOf(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let hasLine = false;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    if (signal?.aborted) return;
    hasLine ||= piece.includes("\n");
    bytes += piece.length;
    if (!hasLine && bytes > MAX_HEAD_BYTES) throw new NotReplayableError();
    yield piece;
  }
}

const next = async (
  items: AsyncGenerator<ReplayItem>,
  path: string,
  strings: Strings["replay"],
): Promise<ReplayItem | undefined> => {
  try {
    const { value, done } = await items.next();
    return done ? undefined : value;
  } catch (error) {
    throw new UserError(problemOf(error, path, strings), { exitCode: EXIT.input, cause: error });
  }
};

const problemOf = (error: unknown, path: string, strings: Strings["replay"]): string => {
  if (error instanceof NewerJournalError) return strings.newer(path, error.version);
  if (error instanceof NotReplayableError) return strings.notOne(path);
  if (errorCode(error) === undefined) throw error;
  return strings.unreadable(path, systemMessage(error));
};

/** A file of that name, else the session that is meant. */
const pathOf = async ({ cwd, paths, strings }: Setup, asked: string): Promise<string> => {
  const path = resolve(cwd, asked);
  if (existsSync(path)) return path;
  // A path is never meant for an id.
  const missing = (): UserError =>
    new UserError(strings.replay.notFound(asked), { exitCode: EXIT.input, hint: strings.replay.notFoundHint });
  if (/[/\\.]/.test(asked)) throw missing();
  if (asked !== "last") return findSession(paths, asked, strings.sessions).journal;
  const [newest] = await listSessions([paths.sessions], lockOwner(hostname()), strings.sessions);
  if (!newest) throw missing();
  return newest.journal;
};
