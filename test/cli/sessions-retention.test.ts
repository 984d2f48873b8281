import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newPlace, type Place, put, runProgram } from "../helpers/program.ts";

const DAY_MS = 86_400_000;

const marker = ({ home }: Place): string => join(home, ".harness9", "retention.json");

const checkedAgo = (place: Place, days: number): void =>
  void put(
    place.home,
    ".harness9/retention.json",
    JSON.stringify({ checkedAt: new Date(Date.now() - days * DAY_MS).toISOString() }),
  );

const idAt = (index: number): string => `20200101-0000${String(index).padStart(2, "0")}-aaaa`;

/** Sessions of a folder with journal, log and outputs; each is a day older than the one before. */
const sessionsOf = (place: Place, project: string, count: number, youngestDays: number): string => {
  const folder = join(place.home, ".harness9", "sessions", project);
  for (let index = 0; index < count; index += 1) {
    const id = idAt(index);
    const time = (Date.now() - (youngestDays + index) * DAY_MS) / 1000;
    mkdirSync(join(folder, `${id}.outputs`), { recursive: true });
    writeFileSync(join(folder, `${id}.outputs`, "x.txt"), "x");
    for (const kind of ["jsonl", "log", "outputs"]) {
      const path = join(folder, `${id}.${kind}`);
      if (kind !== "outputs") writeFileSync(path, "");
      utimesSync(path, time, time);
    }
  }
  return folder;
};

const left = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => name.slice(0, -6))
    .sort();

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => idAt(index));

const run = async (place: Place, ...args: readonly string[]): Promise<void> => {
  const ended = await runProgram(["run", ...args, "run true"], { place });
  expect([ended.exitCode, ended.stderr.includes("retention")]).toEqual([0, false]);
};

test("a session's end removes what is older than 90 days, but never the newest 20 of a folder, nor one that runs", async () => {
  const place = newPlace();
  const many = sessionsOf(place, "many-00000000", 30, 85);
  const few = sessionsOf(place, "few-00000000", 20, 500);
  const owner = { pid: process.pid, startedAt: null, host: hostname() };
  writeFileSync(join(many, `${idAt(25)}.lock`), JSON.stringify(owner));
  checkedAgo(place, 2);
  await run(place);
  expect(left(many)).toEqual([...ids(20), idAt(25)]);
  expect(left(few)).toEqual(ids(20));
  expect(readdirSync(many).filter((name) => name.startsWith(idAt(20)))).toEqual([]);
  const { checkedAt } = JSON.parse(readFileSync(marker(place), "utf8")) as { readonly checkedAt: string };
  expect(Date.now() - Date.parse(checkedAt)).toBeLessThan(DAY_MS);
});

test("days that are set count, and young sessions stay whatever their number", async () => {
  const place = newPlace();
  put(place.home, ".harness9/config.json", '{"retention.days": 400}');
  const folder = sessionsOf(place, "many-00000000", 40, 375);
  checkedAgo(place, 2);
  await run(place);
  expect(left(folder)).toEqual(ids(25));
});

test.each([
  ["the first check", undefined],
  ["a check today", 0.5],
  ["a check in the future, as after a clock was set back", -3],
  ["a check longer ago than the days, as after a clock ran ahead", 120],
])("%s removes nothing", async (_what, days) => {
  const place = newPlace();
  const folder = sessionsOf(place, "many-00000000", 30, 100);
  if (days !== undefined) checkedAgo(place, days);
  await run(place);
  expect(left(folder)).toEqual(ids(30));
  expect(existsSync(marker(place))).toBe(true);
});

test("a damaged marker is a first check", async () => {
  const place = newPlace();
  const folder = sessionsOf(place, "many-00000000", 30, 100);
  put(place.home, ".harness9/retention.json", "{");
  await run(place);
  expect(left(folder)).toEqual(ids(30));
  expect(JSON.parse(readFileSync(marker(place), "utf8"))).toEqual({ checkedAt: expect.any(String) });
});

test("null keeps all, and a project's files have no say", async () => {
  const place = newPlace();
  put(place.home, ".harness9/config.json", '{"retention.days": null}');
  put(place.workDir, ".harness9/settings.json", '{"retention.days": 1}');
  const folder = sessionsOf(place, "many-00000000", 30, 100);
  checkedAgo(place, 2);
  const ended = await runProgram(["run", "--trust", "run true"], { place });
  expect(ended.stderr).toContain("ignored 'retention.days'");
  expect(left(folder)).toEqual(ids(30));
  const { checkedAt } = JSON.parse(readFileSync(marker(place), "utf8")) as { readonly checkedAt: string };
  expect(Date.now() - Date.parse(checkedAt)).toBeLessThan(DAY_MS);
});

test("compiled code goes after a month, and nothing behind a link", async () => {
  const place = newPlace();
  const old = (Date.now() - 90 * DAY_MS) / 1000;
  const own = put(place.workDir, "own/old", "mine");
  utimesSync(own, old, old);
  mkdirSync(join(place.home, ".harness9", "compile-cache"), { recursive: true });
  symlinkSync(join(place.workDir, "own"), join(place.home, ".harness9", "compile-cache", "link"));
  const name = (days: number): string => `.harness9/compile-cache/v22-x64/${days}`;
  for (const days of [29, 31]) {
    const time = (Date.now() - days * DAY_MS) / 1000;
    utimesSync(put(place.home, name(days), "code"), time, time);
  }
  checkedAgo(place, 2);
  await run(place);
  expect([29, 31].map((days) => existsSync(join(place.home, name(days))))).toEqual([true, false]);
  expect(existsSync(own)).toBe(true);
});
