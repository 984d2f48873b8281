import { hostname } from "node:os";
import { ensurePrivateDir, type SessionFiles } from "../config/paths.ts";
import { JOURNAL_VERSION } from "../session/journal.ts";
import { type JournalFile, openJournalFile } from "../session/journal-file.ts";
import { LockedError, lockOf, lockOwner, takeLock } from "../session/journal-lock.ts";
import { systemMessage } from "../text/error-message.ts";
import type { OpenedPast } from "./resume.ts";
import type { Setup } from "./setup.ts";

export type OpenJournalOptions = {
  readonly id: string;
  readonly files: SessionFiles;
  readonly version: string;
  readonly systemPrompt: string;
  /** Absent for a new session. */
  readonly past?: OpenedPast | undefined;
  /** False = `--no-session`. */
  readonly isWanted: boolean;
  /** Hears of a journal that ends early. */
  readonly tell: (text: string) => void;
};

/** The journal of a session. Where it cannot be written, the session goes on without it and says so once. */
export const openJournal = async (
  { paths, strings, workDir }: Setup,
  { id, files, version, systemPrompt, past, isWanted, tell }: OpenJournalOptions,
): Promise<{ readonly journal: JournalFile | null; readonly warnings: readonly string[] }> => {
  if (!isWanted) return { journal: null, warnings: [] };
  const path = files.journal;
  try {
    await ensurePrivateDir(paths.home);
    await ensurePrivateDir(paths.sessions);
    const session = {
      type: "session",
      version: JOURNAL_VERSION,
      id,
      workDir,
      createdAt: new Date().toISOString(),
      harness9: version,
      ...(past?.forkOf && { forkOf: past.forkOf.id }),
    } as const;
    const system = { type: "system", content: systemPrompt } as const;
    const journal = openJournalFile(path, {
      release: past?.release ?? takeLock(lockOf(path), lockOwner(hostname())),
      head: [session, system],
      copyOf: past?.forkOf?.journal,
      before: past?.totals,
      onFailure: (error) => tell(strings.sessions.journalStopped(path, systemMessage(error))),
    });
    const [before] = past?.messages ?? [];
    if (past && !(before?.role === "system" && before.content === systemPrompt)) journal.note(system);
    if (!past || past.untold === 0) return { journal, warnings: [] };
    journal.note({ type: "skipped", time: new Date().toISOString(), lines: past.skipped });
    return { journal, warnings: [strings.sessions.skipped(past.forkOf?.journal ?? path, past.untold)] };
  } catch (error) {
    const reason = error instanceof LockedError ? strings.sessions.inUse(id) : systemMessage(error);
    return { journal: null, warnings: [strings.sessions.journalUnwritable(path, reason)] };
  }
};
