import { statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { newSessionId } from "../config/paths.ts";
import { LockedError, type LockOwner, lockOf, lockOwner, takeLock } from "../session/journal-lock.ts";
import { readJournal } from "../session/journal-read.ts";
import { type Past, readPast } from "../session/resume.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import type { ResumeRequest } from "./resume-request.ts";
import { readProblem } from "./sessions-list.ts";
import { findSession, isRunning, type StoredSession, storedSessions } from "./sessions-store.ts";
import { journalPieces, summarize } from "./sessions-summary.ts";
import type { Setup } from "./setup.ts";

/** A session that goes on. */
export type OpenedPast = Past & {
  /** The new one's for a fork. */
  readonly id: string;
  readonly forkOf?: { readonly id: string; readonly journal: string };
  /** Gives back the lock on its journal. Absent where that is not written to. */
  readonly release?: () => void;
};

/**
 * Reads the session that is to go on, and holds its lock unless it forks.
 * @throws UserError where there is none, it is another folder's, in use, or cannot be read
 */
export const openPast = async (setup: Setup, { session: wanted, asFork }: ResumeRequest): Promise<OpenedPast> => {
  const self = lockOwner(hostname());
  const found = wanted.type === "newest" ? await newestSession(setup, self, asFork) : await sessionOf(setup, wanted.id);
  const { id, journal } = found;
  const release = asFork ? undefined : lock(found, self, setup.strings.sessions);
  try {
    const past = await readPast(readJournal(journalPieces(journal)), {
      interrupted: setup.strings.sessions.interrupted,
      emptyOutput: setup.strings.engine.emptyOutput,
    });
    if (release) return { ...past, id, release };
    return { ...past, id: newSessionId(new Date(), Math.random), forkOf: { id, journal } };
  } catch (error) {
    release?.();
    throw unreadable(error, found, setup.strings.sessions);
  }
};

const unreadable = (error: unknown, session: StoredSession, strings: Strings["sessions"]): UserError =>
  new UserError(readProblem(error, session, strings), { exitCode: EXIT.input, cause: error });

const lock = (session: StoredSession, self: LockOwner, strings: Strings["sessions"]): (() => void) => {
  try {
    return takeLock(lockOf(session.journal), self);
  } catch (error) {
    if (error instanceof LockedError)
      throw new UserError(strings.heldBy(session.id, error.owner?.pid ?? null, error.owner?.host ?? ""), {
        exitCode: EXIT.failed,
        hint: strings.heldHint,
        cause: error,
      });
    throw unreadable(error, session, strings);
  }
};

/** The one of this folder that was worked in last and that nobody works in. */
const newestSession = async (
  { paths, strings: { sessions: strings } }: Setup,
  self: LockOwner,
  asFork: boolean,
): Promise<StoredSession> => {
  const written = ({ journal }: StoredSession): number => statSync(journal, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const candidates = storedSessions(paths.sessions)
    .filter(({ hasJournal }) => hasJournal)
    .map((session) => ({ session, writtenMs: written(session) }))
    .sort((a, b) => b.writtenMs - a.writtenMs);
  let inUse: string | undefined;
  for (const { session } of candidates) {
    if (!asFork && isRunning(session, self)) inUse ??= session.id;
    else if (await hasRun(session, strings)) return session;
  }
  const message = inUse === undefined ? strings.nothingToContinue : strings.allInUse(inUse);
  throw new UserError(message, { exitCode: EXIT.usage, hint: strings.nothingHint });
};

const hasRun = async (session: StoredSession, strings: Strings["sessions"]): Promise<boolean> => {
  try {
    for await (const item of readJournal(journalPieces(session.journal)))
      if (item.type === "entry" && item.entry.type === "run.started") return true;
    return false;
  } catch (error) {
    throw unreadable(error, session, strings);
  }
};

const sessionOf = async ({ paths, strings: { sessions: strings } }: Setup, asked: string): Promise<StoredSession> => {
  const found = findSession(paths, asked, strings);
  if (!found.hasJournal) throw new UserError(strings.noJournal(found.id), { exitCode: EXIT.input });
  if (dirname(found.journal) === paths.sessions) return found;
  const workDir = await folderOf(found, strings);
  const isThere = workDir !== "" && statSync(workDir, { throwIfNoEntry: false })?.isDirectory() === true;
  const hint = isThere ? strings.otherFolderHint(quoted(workDir), found.id) : strings.folderGoneHint(found.id);
  throw new UserError(strings.otherFolder(found.id, workDir, isThere), { exitCode: EXIT.input, hint });
};

/** As a shell takes it. */
const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const folderOf = async (session: StoredSession, strings: Strings["sessions"]): Promise<string> => {
  try {
    return (await summarize(session.journal))?.workDir ?? "";
  } catch (error) {
    throw unreadable(error, session, strings);
  }
};
