import { hostname } from "node:os";
import { type LockOwner, lockOwner } from "../session/journal-lock.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import type { RunOptions, SessionsRequest } from "./program.ts";
import { say } from "./say.ts";
import { listAsJson, listRows, listSessions, readProblem } from "./sessions-list.ts";
import { showAudit, showConversation, showLines } from "./sessions-show.ts";
import {
  changedAt,
  findSession,
  isRunning,
  removeSession,
  type StoredSession,
  sessionFolders,
  storedSessions,
} from "./sessions-store.ts";
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
    case "rm":
      await remove(setup, request.ids, self);
      return EXIT.completed;
    case "gc":
      collect(setup, request, self);
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
  try {
    const skipped = await (audit ? showAudit(shown, json) : json ? showLines(shown) : showConversation(shown));
    if (skipped > 0) say(strings.sessions.skipped(journal, skipped));
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

const collect = (
  { paths, strings: { sessions: strings } }: Setup,
  { olderThan, all, dryRun }: Request<"gc">,
  self: LockOwner,
): void => {
  const age = ageMs(olderThan);
  if (age === undefined) throw new UserError(strings.badAge(olderThan), { exitCode: EXIT.usage });
  const limit = Date.now() - age;
  const old = sessionFolders(paths, all)
    .flatMap(storedSessions)
    .filter((session) => changedAt(session) <= limit && !isRunning(session, self));
  if (old.length === 0) print([strings.noneOld]);
  for (const session of old) {
    if (!dryRun) removeSession(session, self, strings);
    print([dryRun ? strings.wouldRemove(session.id) : strings.removed(session.id)]);
  }
};

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const ageMs = (text: string): number | undefined => {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
};

const write = (text: string): void => void process.stdout.write(text);

const print = (lines: readonly string[]): void => write(lines.map((line) => `${line}\n`).join(""));
