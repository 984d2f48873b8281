import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { type LockOwner, lockOwner } from "../session/journal-lock.ts";
import { MAX_LINE_BYTES, NewerJournalError, readJournal } from "../session/journal-read.ts";
import { errorCode } from "../text/error-message.ts";
import { UserError } from "../text/user-error.ts";
import {
  changedAt,
  isRunning,
  removeSession,
  type StoredSession,
  sessionFolders,
  storedSessions,
} from "./sessions-store.ts";
import { journalPieces } from "./sessions-summary.ts";
import type { Setup } from "./setup.ts";

/** As many of each work directory stay, however old they are. */
const MIN_KEPT = 20;

/** Removes what has not changed since `limitMs`, in all work directories, and leaves what cannot be removed. */
export const removeOldSessions = async (setup: Setup, limitMs: number): Promise<void> => {
  const { paths } = setup;
  const self = lockOwner(hostname());
  for (const folder of sessionFolders(paths, true)) {
    const removed = oldSessions(folder, limitMs, MIN_KEPT).filter((session) => isRemoved(session, self, setup));
    if (removed.length > 0 || folder === paths.sessions) await collectOf(folder, setup).catch(unlessBug);
  }
};

/** Sessions of a folder in which nothing has changed since, but for the newest ones. */
export const oldSessions = (folder: string, limitMs: number, minKept: number): readonly StoredSession[] =>
  storedSessions(folder)
    .map((session) => ({ session, changedMs: changedAt(session) }))
    .sort((a, b) => b.changedMs - a.changedMs)
    .slice(minKept)
    .flatMap(({ session, changedMs }) => (changedMs <= limitMs ? [session] : []));

const isRemoved = (session: StoredSession, self: LockOwner, { strings }: Setup): boolean => {
  try {
    if (isRunning(session, self)) return false;
    removeSession(session, self, strings.sessions);
    return true;
  } catch (error) {
    // In use since, or not ours to remove.
    if (error instanceof UserError || errorCode(error) !== undefined) return false;
    throw error;
  }
};

/** The next check may do better. */
const unlessBug = (error: unknown): void => {
  if (!(error instanceof UserError) && errorCode(error) === undefined) throw error;
};

/**
 * Removes the snapshots that no session of a folder needs any more. Nothing where one of its journals cannot be read:
 * it may need any. @throws UserError
 */
export const collectOf = async (folder: string, { paths, strings, workDir }: Setup): Promise<void> => {
  const store = join(dirname(paths.snapshots), basename(folder));
  if (!existsSync(store)) return;
  const keep = await neededSnapshots(folder);
  if (keep === undefined) return;
  const { collectSnapshots } = await import("../snapshots/open-snapshots.ts");
  await collectSnapshots({ workDir, folder: store, harnessHome: paths.home, strings: strings.rewind }, keep);
};

const neededSnapshots = async (folder: string): Promise<ReadonlySet<string> | undefined> => {
  const needed = new Set<string>();
  try {
    for (const { journal } of storedSessions(folder).filter(({ hasJournal }) => hasJournal))
      for await (const item of readJournal(journalPieces(journal), MAX_LINE_BYTES, ["snapshot"]))
        if (item.type === "entry" && item.entry.type === "snapshot") needed.add(item.entry.id);
    return needed;
  } catch (error) {
    if (error instanceof NewerJournalError || errorCode(error) !== undefined) return undefined;
    throw error;
  }
};
