import { readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HarnessPaths } from "../config/paths.ts";
import { isLocked, LockedError, type LockOwner, lockOf, takeLock } from "../session/journal-lock.ts";
import { errorCode } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { editDistance } from "../text/nearest.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";

/** A session as its files: the journal may be missing, as after `--no-session`. */
export type StoredSession = {
  readonly id: string;
  readonly journal: string;
  readonly hasJournal: boolean;
  /** Whether a lock is there; `isRunning` says whether it is held. */
  readonly hasLock: boolean;
};

const SESSION_FILE = /^(\d{8}-\d{6}-[0-9a-z]{4})\.(jsonl|log|outputs|lock)$/;

/** The sessions of one work directory, the newest first. Only names of ours count, so no id leads out of the folder. */
export const storedSessions = (folder: string): readonly StoredSession[] => {
  const sessions = new Map<string, StoredSession>();
  for (const name of namesIn(folder)) {
    const [, id, kind] = SESSION_FILE.exec(name) ?? [];
    if (id === undefined) continue;
    const { hasJournal, hasLock } = sessions.get(id) ?? { hasJournal: false, hasLock: false };
    sessions.set(id, {
      id,
      journal: join(folder, `${id}.jsonl`),
      hasJournal: hasJournal || kind === "jsonl",
      hasLock: hasLock || kind === "lock",
    });
  }
  return [...sessions.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
};

/** Those of this work directory, or of all. */
export const sessionFolders = ({ sessions }: HarnessPaths, all: boolean): readonly string[] =>
  all ? namesIn(dirname(sessions)).map((project) => join(dirname(sessions), project)) : [sessions];

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    // No session has run here, or it is no folder.
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
};

/**
 * The one session that `text` means: an id, its beginning, or its last characters; of this work directory first.
 * @throws UserError that names near ones
 */
export const findSession = (paths: HarnessPaths, text: string, strings: Strings["sessions"]): StoredSession => {
  const everywhere = (): readonly StoredSession[] => sessionFolders(paths, true).flatMap(storedSessions);
  const here = matching(storedSessions(paths.sessions), text);
  const [found, ...more] = here.length > 0 ? here : matching(everywhere(), text);
  if (found === undefined)
    throw new UserError(strings.unknown(text.slice(0, MAX_SHOWN), near(everywhere(), text)), { exitCode: EXIT.input });
  if (more.length > 0) {
    const ids = [found, ...more].slice(0, MAX_NAMED).map(({ id }) => id);
    throw new UserError(strings.ambiguous(text, more.length < MAX_NAMED ? ids : [...ids, "…"]), {
      exitCode: EXIT.input,
    });
  }
  return found;
};

const MAX_SHOWN = 80;
const MAX_NAMED = 5;
const SUFFIX_LENGTH = 4;

const matching = (sessions: readonly StoredSession[], text: string): readonly StoredSession[] => {
  if (text === "") return [];
  const exact = sessions.filter(({ id }) => id === text);
  return exact.length > 0 ? exact : sessions.filter(({ id }) => id.startsWith(text) || id.endsWith(text));
};

const near = (sessions: readonly StoredSession[], text: string): readonly string[] => {
  if (text.length > MAX_SHOWN) return [];
  const distance = (id: string): number =>
    text.length <= SUFFIX_LENGTH + 1 ? editDistance(text, id.slice(-SUFFIX_LENGTH)) : editDistance(text, id);
  return sessions
    .map(({ id }) => ({ id, distance: distance(id) }))
    .filter((one) => one.distance <= 2)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ id }) => id);
};

export const isRunning = ({ journal, hasLock }: StoredSession, self: LockOwner): boolean =>
  hasLock && isLocked(lockOf(journal), self);

/** When any of its files was changed last, in milliseconds. */
export const changedAt = (session: StoredSession): number =>
  Math.max(...filesOf(session).map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0));

/** Removes journal, log and outputs together. @throws UserError for a session that runs */
export const removeSession = (session: StoredSession, self: LockOwner, strings: Strings["sessions"]): void => {
  const release = lockToRemove(session, self, strings);
  try {
    for (const path of filesOf(session)) rmSync(path, { recursive: true, force: true });
  } finally {
    release();
  }
};

const lockToRemove = ({ id, journal }: StoredSession, self: LockOwner, strings: Strings["sessions"]): (() => void) => {
  try {
    return takeLock(lockOf(journal), self);
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new UserError(strings.inUse(id), {
      exitCode: EXIT.failed,
      hint: strings.inUseHint(error.path),
      cause: error,
    });
  }
};

const filesOf = ({ journal }: StoredSession): readonly string[] =>
  ["jsonl", "log", "outputs"].map((kind) => journal.replace(/jsonl$/, kind));
