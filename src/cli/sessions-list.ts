import { contextTokens } from "../schema/model.ts";
import type { LockOwner } from "../session/journal-lock.ts";
import { NewerJournalError } from "../session/journal-read.ts";
import { errorCode, systemMessage } from "../text/error-message.ts";
import { printableJson } from "../text/printable-json.ts";
import { printableText } from "../text/printable-text.ts";
import type { Strings } from "../text/strings.ts";
import { formatCost, formatTokens } from "../ui/figures.ts";
import { cutRow, outputRow } from "../ui/rows.ts";
import { displayWidth } from "../ui/width.ts";
import { say } from "./say.ts";
import { isRunning, storedSessions } from "./sessions-store.ts";
import { type SessionSummary, summarize } from "./sessions-summary.ts";
import { localMinute } from "./sessions-time.ts";

export type ListedSession = SessionSummary & {
  readonly id: string;
  readonly isRunning: boolean;
  readonly journal: string;
};

/** The sessions of these folders that have had a run, the newest first; of one that cannot be read, standard error tells. */
export const listSessions = async (
  folders: readonly string[],
  self: LockOwner,
  strings: Strings["sessions"],
): Promise<readonly ListedSession[]> => {
  const listed: ListedSession[] = [];
  for (const session of folders.flatMap(storedSessions)) {
    if (!session.hasJournal) continue;
    const { id, journal } = session;
    try {
      const summary = await summarize(journal);
      if (summary) listed.push({ id, ...summary, isRunning: isRunning(session, self), journal });
    } catch (error) {
      say(readProblem(error, session, strings));
    }
  }
  return listed.sort((a, b) => (startOf(a) < startOf(b) ? 1 : -1));
};

/** Why a journal cannot be read. @throws what is neither the system's error nor about the version */
export const readProblem = (
  error: unknown,
  { id, journal }: { readonly id: string; readonly journal: string },
  strings: Strings["sessions"],
): string => {
  if (error instanceof NewerJournalError) return strings.newer(id, error.version);
  if (errorCode(error) === undefined) throw error;
  return strings.unreadable(journal, systemMessage(error));
};

// Ids are in local time and the same within a second; the header is exact.
const startOf = ({ createdAt, updatedAt, id }: ListedSession): string => `${createdAt || updatedAt} ${id}`;

export const listAsJson = (sessions: readonly ListedSession[]): string =>
  printableJson(
    sessions.map(({ id, workDir, createdAt, updatedAt, isRunning: runs, prompt, provider, model, ...rest }) => ({
      id,
      workDir,
      createdAt,
      updatedAt,
      isRunning: runs,
      prompt,
      provider,
      model,
      runs: rest.runs,
      turns: rest.turns,
      usage: rest.usage,
      costUsd: rest.costUsd,
      journal: rest.journal,
    })),
    { indent: 2 },
  );

export type ListOptions = {
  /** Names the work directories too. */
  readonly withFolder: boolean;
  /** Cells of a row, where the output is a terminal. */
  readonly width: number | undefined;
  readonly strings: Strings["sessions"];
};

/** A row of titles and one for each session. */
export const listRows = (
  sessions: readonly ListedSession[],
  { withFolder, width, strings }: ListOptions,
): readonly string[] => {
  const rows = sessions.map((session) => [
    session.id,
    localMinute(session.createdAt || session.updatedAt),
    String(session.turns),
    formatTokens(contextTokens(session.usage)),
    session.costUsd === null ? "-" : formatCost(session.costUsd),
    `${session.provider}/${session.model}`,
    [
      ...(session.isRunning ? [strings.running] : []),
      ...(withFolder ? [`[${session.workDir}]`] : []),
      session.prompt,
    ].join(" "),
  ]);
  return tableRows([strings.columns, ...rows]).map((row) => (width === undefined ? row : cutRow(row, width, "…")));
};

/** Rows of clean text with their cells below each other. */
export const tableRows = (rows: readonly (readonly string[])[]): readonly string[] => {
  const shown = rows.map((row) => row.map((cell) => outputRow(printableText(cell).replaceAll("\n", " "))));
  const widths = (shown[0] ?? []).map((_, column) =>
    Math.min(MAX_COLUMN, Math.max(...shown.map((row) => displayWidth(row[column] ?? "")))),
  );
  const padded = (cell: string, column: number): string =>
    cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell)));
  return shown.map((row) => row.map(padded).join("  ").trimEnd());
};

const MAX_COLUMN = 48;
