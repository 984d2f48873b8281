import { hostname } from "node:os";
import { type LockOwner, lockOwner } from "../session/journal-lock.ts";
import { EXIT } from "../text/exit.ts";
import { createMask } from "../text/mask.ts";
import { UserError } from "../text/user-error.ts";
import { exportPath, writeNewFile } from "./chat-export.ts";
import type { RunOptions, SessionsRequest } from "./program.ts";
import { say } from "./say.ts";
import { exportText } from "./sessions-export.ts";
import { listAsJson, listRows, listSessions, readProblem } from "./sessions-list.ts";
import { collectOf, oldSessions } from "./sessions-removal.ts";
import { showAudit, showConversation, showLines } from "./sessions-show.ts";
import { findSession, isRunning, removeSession, type StoredSession, sessionFolders } from "./sessions-store.ts";
import { prepare, type Setup, type Surroundings } from "./setup.ts";

/** `harness9 sessions`. Returns the exit code. @throws UserError */
export const runSessions = async (
  request: SessionsRequest,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<number> => {
  const setup = await prepare(surroundings, options);
  const self = lockOwner(hostname());
  switch (request.type) {
    case "list":
      await list(setup, request, self);
      return EXIT.completed;
    case "show":
      await show(setup, request, self);
      return EXIT.completed;
    case "export":
      await exportSession(setup, request, self);
      return EXIT.completed;
    case "rm":
      await remove(setup, request.ids, self);
      return EXIT.completed;
    case "gc":
      await collect(setup, request, self);
      return EXIT.completed;
    default:
      return request satisfies never;
  }
};

type Request<T extends SessionsRequest["type"]> = Extract<SessionsRequest, { readonly type: T }>;

const list = async ({ paths, strings }: Setup, { all, json }: Request<"list">, self: LockOwner): Promise<void> => {
  const sessions = await listSessions(sessionFolders(paths, all), self, strings.sessions);
  if (json) return print([listAsJson(sessions)]);
  if (sessions.length === 0) return print([all ? strings.sessions.noneAtAll : strings.sessions.none]);
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  print(listRows(sessions, { withFolder: all, width, strings: strings.sessions }));
};

const show = async (setup: Setup, { id: asked, audit, json }: Request<"show">, self: LockOwner): Promise<void> => {
  const { strings } = setup;
  const session = await find(setup, asked, self);
  const { id, journal } = session;
  if (!session.hasJournal) throw new UserError(strings.sessions.noJournal(id), { exitCode: EXIT.input });
  const shown = { id, journal, strings, write };
  const work = audit ? showAudit(shown, json) : json ? showLines(shown) : showConversation(shown);
  const skipped = await reading(session, strings, work);
  if (skipped > 0) say(strings.sessions.skipped(journal, skipped));
};

const exportSession = async (
  setup: Setup,
  { id: asked, format, output }: Request<"export">,
  self: LockOwner,
): Promise<void> => {
  const { strings, cwd, homeDir, secretValues } = setup;
  const session = await find(setup, asked, self);
  const { id, journal } = session;
  if (!session.hasJournal) throw new UserError(strings.sessions.noJournal(id), { exitCode: EXIT.input });
  const { text, skipped } = await reading(
    session,
    strings,
    exportText({ id, journal, format, mask: createMask(secretValues), strings }),
  );
  if (skipped > 0) say(strings.sessions.skipped(journal, skipped));
  if (output === undefined) return write(text);
  const path = exportPath(output, { sessionId: id, workDir: cwd, homeDir, format });
  print([strings.replies.exported(await writeNewFile(path, text, strings.cli))]);
};

/** What the system says about a journal, as a UserError. */
const reading = async <T>(session: StoredSession, strings: Setup["strings"], work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const problem = readProblem(error, session, strings.sessions);
    throw new UserError(problem, { exitCode: EXIT.input, cause: error });
  }
};

/** `last` is the newest with a run in this work directory. */
const find = async ({ paths, strings }: Setup, asked: string, self: LockOwner): Promise<StoredSession> => {
  if (asked !== "last") return findSession(paths, asked, strings.sessions);
  const [newest] = await listSessions([paths.sessions], self, strings.sessions);
  if (newest === undefined) throw new UserError(strings.sessions.none, { exitCode: EXIT.input });
  const { id, journal } = newest;
  return { id, journal, hasJournal: true, hasLock: newest.isRunning };
};

const remove = async (setup: Setup, ids: readonly string[], self: LockOwner): Promise<void> => {
  const { sessions: strings } = setup.strings;
  // All are found before the first one goes: a wrong id removes nothing.
  const found: StoredSession[] = [];
  for (const id of ids) found.push(await find(setup, id, self));
  for (const session of new Map(found.map((one) => [one.journal, one])).values()) {
    removeSession(session, self, strings);
    print([strings.removed(session.id)]);
  }
};

const collect = async (setup: Setup, { olderThan, all, dryRun }: Request<"gc">, self: LockOwner): Promise<void> => {
  const { paths, strings } = setup;
  const age = ageMs(olderThan);
  if (age === undefined) throw new UserError(strings.sessions.badAge(olderThan), { exitCode: EXIT.usage });
  const limit = Date.now() - age;
  const folders = sessionFolders(paths, all);
  const old = folders.flatMap((folder) => oldSessions(folder, limit, 0)).filter((one) => !isRunning(one, self));
  if (old.length === 0) print([strings.sessions.noneOld]);
  for (const session of old) {
    if (!dryRun) removeSession(session, self, strings.sessions);
    print([dryRun ? strings.sessions.wouldRemove(session.id) : strings.sessions.removed(session.id)]);
  }
  if (!dryRun) for (const folder of folders) await collectOf(folder, setup);
};

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const ageMs = (text: string): number | undefined => {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
};

const write = (text: string): void => void process.stdout.write(text);

const print = (lines: readonly string[]): void => write(lines.map((line) => `${line}\n`).join(""));
