import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isJournaled } from "../../src/session/journal.ts";
import { type JournalFileOptions, openJournalFile } from "../../src/session/journal-file.ts";
import { LockedError, lockOf, lockOwner, takeLock } from "../../src/session/journal-lock.ts";
import { at, entriesOf, everyEvent, readAll } from "../helpers/journal.ts";
import { runStarted } from "../helpers/run-started.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const head = [
  { type: "session", version: 1, id: "20260102-030405-abcd", workDir: "/w", createdAt: "t", harness9: "1.2.3" },
  { type: "system", content: "Be brief." },
] as const;

const newPath = (): string => join(tempDir(), "20260102-030405-abcd.jsonl");

const open = (path: string, more: Partial<JournalFileOptions> = {}) =>
  openJournalFile(path, {
    release: takeLock(lockOf(path), lockOwner("here")),
    head,
    onFailure: (error) => {
      throw error;
    },
    ...more,
  });

const entriesIn = async (path: string) => entriesOf(await readAll([readFileSync(path)]));

test("each event is in the file when write returns, and a run ends with the session's totals", async () => {
  const path = newPath();
  const journal = open(path);
  let expected: unknown[] = [...head];
  for (const event of everyEvent) {
    journal.write(event);
    if (isJournaled(event)) expected = [...expected, event];
    if (event.type === "run.completed") {
      const { time, turns, usage, costUsd } = event;
      expected = [
        ...expected,
        { type: "totals", time, runs: 1, turns, usage, costUsd, provider: "p", model: "m", prompt: "你好" },
      ];
    }
    expect(await entriesIn(path)).toEqual(expected);
  }
  journal.close();
  expect([statSync(path).mode & 0o777, existsSync(lockOf(path))]).toEqual([0o600, false]);
});

test("a file that others could read is closed to them", () => {
  const path = newPath();
  writeFileSync(path, "");
  chmodSync(path, 0o644);
  open(path).close();
  const journal = open(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  journal.close();
});

test("a session in which nothing has happened leaves no journal", () => {
  const path = newPath();
  const journal = open(path);
  journal.note({ type: "mode", time: "t", mode: "plan" });
  journal.close();
  expect(existsSync(path)).toBe(false);
});

test("a change of mode is noted between the events", async () => {
  const path = newPath();
  const journal = open(path);
  const started = at(runStarted);
  journal.write(started);
  journal.note({ type: "mode", time: "t", mode: "plan" });
  journal.close();
  expect(await entriesIn(path)).toEqual([...head, started, { type: "mode", time: "t", mode: "plan" }]);
});

test("a journal that goes on keeps what it has, a torn line too, and its totals go on", async () => {
  const path = newPath();
  const first = open(path);
  for (const event of everyEvent) first.write(event);
  first.close();
  writeFileSync(path, `${readFileSync(path, "utf8")}{"type":"noti`);
  const totals = (await entriesIn(path)).findLast((entry) => entry.type === "totals");
  const second = open(path, totals?.type === "totals" ? { before: totals } : {});
  const again = [runStarted, everyEvent.at(-1)].flatMap((event) => (event ? [at(event)] : []));
  for (const event of again) second.write(event);
  second.close();
  const items = await readAll([readFileSync(path)]);
  expect(items.filter(({ type }) => type !== "entry")).toEqual([{ type: "skipped", reason: "corrupt" }]);
  expect(entriesOf(items).slice(-3)).toEqual([
    ...again,
    expect.objectContaining({ type: "totals", runs: 2, turns: 2, prompt: "你好" }),
  ]);
});

test("two processes never write one session, and who has given it back takes it from nobody", () => {
  const path = newPath();
  const journal = open(path);
  expect(() => open(path)).toThrow(LockedError);
  journal.close();
  const next = open(path);
  journal.close();
  expect(() => open(path)).toThrow(LockedError);
  next.close();
});

test("what cannot be opened is an error and leaves no lock", () => {
  const folder = newPath();
  mkdirSync(folder);
  expect(() => open(folder)).toThrow("EISDIR");
  const link = newPath();
  symlinkSync("/dev/null", link);
  expect(() => open(link)).toThrow("ELOOP");
  expect([existsSync(lockOf(folder)), existsSync(lockOf(link))]).toEqual([false, false]);
});
