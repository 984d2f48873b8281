import { hostname } from "node:os";
import type { PastSession } from "../session/chat.ts";
import { lockOwner } from "../session/journal-lock.ts";
import { NewerJournalError } from "../session/journal-read.ts";
import { errorCode } from "../text/error-message.ts";
import { changedAt, isRunning, type StoredSession, storedSessions } from "./sessions-store.ts";
import { type SessionSummary, summarize } from "./sessions-summary.ts";

/** As many as anybody looks through. */
const MAX_LISTED = 500;

/** The sessions of a folder that nobody works in, the one that was worked in last first. What cannot be read is left out. */
export const resumableSessions = async (folder: string, nowMs: number): Promise<readonly PastSession[]> => {
  const self = lockOwner(hostname());
  const candidates = storedSessions(folder)
    .filter((session) => session.hasJournal && !isRunning(session, self))
    .map((session) => ({ session, changedMs: changedAt(session) }))
    .sort((a, b) => b.changedMs - a.changedMs)
    .slice(0, MAX_LISTED);
  const listed: PastSession[] = [];
  for (const { session, changedMs } of candidates) {
    const summary = await readable(session);
    if (summary) listed.push({ ...summary, id: session.id, ageMs: Math.max(0, nowMs - changedMs) });
  }
  return listed;
};

const readable = async ({ journal }: StoredSession): Promise<SessionSummary | undefined> => {
  try {
    return await summarize(journal);
  } catch (error) {
    if (error instanceof NewerJournalError || errorCode(error) !== undefined) return undefined;
    throw error;
  }
};
