import { readdirSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { newPlace, type Place, put, runProgram, sessionFolder } from "../helpers/program.ts";

/** The ids of the snapshots that the store knows. */
const snapshots = ({ home }: Place): readonly string[] =>
  readdirSync(join(home, ".harness9", "snapshots"), { recursive: true, encoding: "utf8" })
    .filter((name) => basename(dirname(name)) === "taken")
    .sort();

/** As if everything had been kept two hours ago: what is younger than one is never removed. */
const age = ({ home }: Place): void => {
  const store = join(home, ".harness9", "snapshots");
  const time = Date.now() / 1000 - 7200;
  for (const name of readdirSync(store, { recursive: true, encoding: "utf8" }))
    utimesSync(join(store, name), time, time);
};

test("gc removes the snapshots that no session needs, and leaves those of sessions that stay", async () => {
  const place = newPlace();
  put(place.workDir, "a.txt", "one");
  const gc = (...args: readonly string[]) => runProgram(["sessions", "gc", ...args], { place });
  expect((await runProgram(["run", "write a.txt: two"], { place })).exitCode).toBe(0);
  age(place);
  const kept = snapshots(place);
  expect(kept.length).toBeGreaterThan(0);
  expect((await gc()).stdout).toBe("there is no old session to remove\n");
  expect(snapshots(place)).toEqual(kept);
  expect((await gc("--older-than", "0m", "--dry-run")).stdout).toContain("would remove");
  expect(snapshots(place)).toEqual(kept);
  expect((await gc("--older-than", "0m")).stdout).toContain("removed");
  expect([snapshots(place), readdirSync(sessionFolder(place))]).toEqual([[], []]);
});

test("where a journal cannot be read, gc leaves the snapshots: it may need them", async () => {
  const place = newPlace();
  put(place.workDir, "a.txt", "one");
  expect((await runProgram(["run", "write a.txt: two"], { place })).exitCode).toBe(0);
  const id = readdirSync(sessionFolder(place)).find((name) => name.endsWith(".jsonl"));
  age(place);
  const kept = snapshots(place);
  const newer = '{"type":"session","version":99,"id":"x","workDir":"/","createdAt":"","harness9":"9"}\n';
  put(sessionFolder(place), id ?? "", newer);
  expect((await runProgram(["sessions", "gc"], { place })).exitCode).toBe(0);
  expect(snapshots(place)).toEqual(kept);
});
