import { statSync } from "node:fs";
import { journalBytes } from "../session/journal-copy.ts";
import { MAX_LINE_BYTES, readJournal } from "../session/journal-read.ts";
import { createUsageReader, USAGE_ENTRIES } from "../session/usage.ts";
import { createUsageTable, type UsageGroup } from "../session/usage-table.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import type { RunOptions, UsageRequest } from "./program.ts";
import { say } from "./say.ts";
import { readProblem } from "./sessions-list.ts";
import { type StoredSession, sessionFolders, storedSessions } from "./sessions-store.ts";
import { prepare, type Setup, type Surroundings } from "./setup.ts";
import { usageJson, usageRows } from "./usage-rows.ts";
import { sinceMs } from "./usage-since.ts";

/** `harness9 usage`: what all sessions have used. @throws UserError for a `--since` that is none */
export const printUsage = async (
  { by, since, json }: UsageRequest,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<void> => {
  const setup = await prepare(surroundings, options);
  const { usage: strings } = setup.strings;
  const fromMs = since === undefined ? null : sinceMs(since, new Date());
  if (fromMs === undefined) throw new UserError(strings.badSince(since ?? ""), { exitCode: EXIT.usage });
  const { table, problems } = await addUp(setup, by, fromMs);
  for (const problem of problems) say(problem);
  if (json) return print([usageJson(table, { by, fromMs, problems })]);
  if (table.rows.length === 0) return print([since === undefined ? strings.none : strings.noneSince(since)]);
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  print(usageRows(table, { by, width, strings }));
};

/** A journal's events are not older than its last write, but for clocks that were set meanwhile. */
const CLOCK_SLACK_MS = 86_400_000;

const addUp = async ({ paths, strings }: Setup, by: UsageGroup, fromMs: number | null) => {
  const reader = createUsageReader();
  const table = createUsageTable(by);
  const problems: string[] = [];
  for (const session of sessionFolders(paths, true).flatMap(storedSessions)) {
    if (!session.hasJournal || isBefore(session, fromMs)) continue;
    const read = reader.open();
    let skipped = 0;
    try {
      for await (const item of readJournal(journalBytes(session.journal), MAX_LINE_BYTES, USAGE_ENTRIES)) {
        if (item.type === "skipped" && item.reason !== "torn") skipped += 1;
        const record = item.type === "entry" ? read(item.entry) : undefined;
        if (record && (fromMs === null || Date.parse(record.time) >= fromMs)) table.add(record);
      }
    } catch (error) {
      problems.push(strings.usage.passedOver(readProblem(error, session, strings.sessions)));
    }
    if (skipped > 0) problems.push(strings.sessions.skipped(session.journal, skipped));
  }
  return { table: table.table(), problems };
};

/** Nothing in it can count. */
const isBefore = ({ journal }: StoredSession, fromMs: number | null): boolean => {
  const written = fromMs === null ? undefined : statSync(journal, { throwIfNoEntry: false })?.mtimeMs;
  return fromMs !== null && written !== undefined && written + CLOCK_SLACK_MS < fromMs;
};

const print = (lines: readonly string[]): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(""));
