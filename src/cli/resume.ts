import { statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { newSessionId } from "../config/paths.ts";
import { LockedError, type LockOwner, lockOf, lockOwner, takeLock } from "../session/journal-lock.ts";
import { MAX_LINE_BYTES, readJournal } from "../session/journal-read.ts";
import { type Past, readPast } from "../session/resume.ts";
import { errorCode } from "../text/error-message.ts";
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
  const { session, release } = await hold(setup, wanted, asFork);
  const { id, journal } = session;
  try {
    const past = await readPast(readJournal(journalPieces(journal)), {
      interrupted: setup.strings.sessions.interrupted,
      emptyOutput: setup.strings.engine.emptyOutput,
    });
    if (!asFork) return { ...past, id, ...(release && { release }) };
    return { ...past, id: newSessionId(new Date(), Math.random), forkOf: { id, journal } };
  } catch (error) {
    release?.();
    throw unreadable(error, session, setup.strings.sessions);
  }
};

/** A session, and what gives back its lock; that is absent for a fork, and where no lock can be written. */
type Held = { readonly session: StoredSession; readonly release?: (() => void) | undefined };

const hold = async (setup: Setup, wanted: ResumeRequest["session"], asFork: boolean): Promise<Held> => {
  const self = lockOwner(hostname());
  const take = (session: StoredSession) => (asFork ? undefined : lock(session, self));
  if (wanted.type === "newest") return newestSession(setup, { self, asFork, take });
  const session = await sessionOf(setup, wanted.id);
  try {
    return { session, release: take(session) };
  } catch (error) {
    if (error instanceof LockedError) throw inUse(session, error.owner, self, setup.strings.sessions);
    throw error;
  }
};

const unreadable = (error: unknown, session: StoredSession, strings: Strings["sessions"]): UserError =>
  new UserError(readProblem(error, session, strings), { exitCode: EXIT.input, cause: error });

/** @throws LockedError */
const lock = (session: StoredSession, self: LockOwner): (() => void) | undefined => {
  try {
    return takeLock(lockOf(session.journal), self);
  } catch (error) {
    // As in a home that is read only: the session can be read, and whoever opens its journal says that it goes on without.
    if (!(error instanceof LockedError) && errorCode(error) !== undefined) return undefined;
    throw error;
  }
};

const inUse = (
  { id }: StoredSession,
  owner: LockOwner | undefined,
  self: LockOwner,
  strings: Strings["sessions"],
): UserError => {
  if (owner?.pid === self.pid && owner.host === self.host)
    return new UserError(strings.isThisOne(id), { exitCode: EXIT.failed });
  return new UserError(strings.heldBy(id, owner?.pid ?? null, owner?.host ?? ""), {
    exitCode: EXIT.failed,
    hint: strings.heldHint,
  });
};

type Taking = {
  readonly self: LockOwner;
  readonly asFork: boolean;
  readonly take: (session: StoredSession) => Held["release"];
};

/** The one of this folder that was worked in last and that nobody works in, also where several look for it at once. */
const newestSession = async (
  { paths, strings: { sessions: strings } }: Setup,
  { self, asFork, take }: Taking,
): Promise<Held> => {
  const written = ({ journal }: StoredSession): number => statSync(journal, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const candidates = storedSessions(paths.sessions)
    .filter(({ hasJournal }) => hasJournal)
    .map((session) => ({ session, writtenMs: written(session) }))
    .sort((a, b) => b.writtenMs - a.writtenMs);
  let used: string | undefined;
  for (const { session } of candidates) {
    if (!asFork && isRunning(session, self)) used ??= session.id;
    else if (await hasRun(session, strings))
      try {
        return { session, release: take(session) };
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        used ??= session.id;
      }
  }
  const message = used === undefined ? strings.nothingToContinue : strings.allInUse(used);
  throw new UserError(message, { exitCode: EXIT.usage, hint: strings.nothingHint });
};

const hasRun = async (session: StoredSession, strings: Strings["sessions"]): Promise<boolean> => {
  try {
    for await (const item of readJournal(journalPieces(session.journal), MAX_LINE_BYTES, ["run.started"]))
      if (item.type === "entry" && item.entry.type === "run.started") return true;
    return false;
  } catch (error) {
    // Somebody has removed it meanwhile.
    if (errorCode(error) === "ENOENT") return false;
    throw unreadable(error, session, strings);
  }
};

const sessionOf = async ({ paths, strings: { sessions: strings } }: Setup, asked: string): Promise<StoredSession> => {
  const found = asked === "last" ? await lastSession(paths.sessions, strings) : findSession(paths, asked, strings);
  if (!found.hasJournal) throw new UserError(strings.noJournal(found.id), { exitCode: EXIT.input });
  if (dirname(found.journal) === paths.sessions) return found;
  const workDir = await folderOf(found, strings);
  const isThere = workDir !== "" && statSync(workDir, { throwIfNoEntry: false })?.isDirectory() === true;
  const hint = isThere ? strings.otherFolderHint(quoted(workDir), found.id) : strings.folderGoneHint(found.id);
  throw new UserError(strings.otherFolder(found.id, workDir, isThere), { exitCode: EXIT.input, hint });
};

/** The one that was begun last, as in `harness9 sessions show last`. */
const lastSession = async (folder: string, strings: Strings["sessions"]): Promise<StoredSession> => {
  for (const session of storedSessions(folder))
    if (session.hasJournal && (await hasRun(session, strings))) return session;
  throw new UserError(strings.nothingToContinue, { exitCode: EXIT.usage, hint: strings.nothingHint });
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
