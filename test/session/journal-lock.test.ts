import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { isLocked, LockedError, lockOf, lockOwner, takeLock } from "../../src/session/journal-lock.ts";
import { bundleSource } from "../helpers/bundle-source.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const self = lockOwner("here");
const newLock = (): string => join(tempDir(), "20260102-030405-abcd.lock");

/** The number of a process that has ended. */
const endedProcess = async (): Promise<number> => {
  const child = spawn("true");
  await once(child, "exit");
  return child.pid ?? 0;
};

test("a lock stands beside the journal, for its owner alone, and goes when it is given back", () => {
  expect(lockOf("/s/20260102-030405-abcd.jsonl")).toBe("/s/20260102-030405-abcd.lock");
  const path = newLock();
  expect(isLocked(path, self)).toBe(false);
  const release = takeLock(path, self);
  expect([isLocked(path, self), statSync(path).mode & 0o777]).toEqual([true, 0o600]);
  expect(() => takeLock(path, self)).toThrow(new LockedError(path, self));
  release();
  expect([isLocked(path, self), existsSync(path)]).toEqual([false, false]);
  takeLock(path, self)();
});

test("the lock of a process that has ended is taken over, and nothing of it stays", async () => {
  const path = newLock();
  writeFileSync(path, JSON.stringify({ ...self, pid: await endedProcess() }));
  expect(isLocked(path, self)).toBe(false);
  const release = takeLock(path, self);
  expect([JSON.parse(readFileSync(path, "utf8")), readdirSync(dirname(path)).length]).toEqual([self, 1]);
  release();
});

test.runIf(process.platform === "linux")("a process that has the number of the one before it holds nothing", () => {
  const path = newLock();
  writeFileSync(path, JSON.stringify({ ...self, startedAt: "1" }));
  expect(isLocked(path, self)).toBe(false);
});

test("a takeover that was itself killed does not stand in the way", async () => {
  const path = newLock();
  const ended = JSON.stringify({ ...self, pid: await endedProcess() });
  writeFileSync(path, ended);
  writeFileSync(`${path}.takeover`, ended);
  takeLock(path, self)();
  expect(readdirSync(dirname(path))).toEqual([]);
});

test("of a process on another machine nothing is known: it holds its lock", () => {
  const path = newLock();
  writeFileSync(path, JSON.stringify({ pid: 1, startedAt: null, host: "elsewhere" }));
  expect(isLocked(path, self)).toBe(true);
});

test.each(["", "{", "null", '{"pid":-1,"host":"here"}', '{"pid":"1"}', "[]"])(
  "the lock %j holds only while it may still be being written",
  (text) => {
    const path = newLock();
    writeFileSync(path, text);
    expect(isLocked(path, self)).toBe(true);
    const longAgo = new Date(Date.now() - 60_000);
    // A clock that was set back makes it one from the future.
    const ahead = new Date(Date.now() + 3_600_000);
    utimesSync(path, ahead, ahead);
    expect(isLocked(path, self)).toBe(false);
    utimesSync(path, longAgo, longAgo);
    expect(isLocked(path, self)).toBe(false);
  },
);

test("of many processes that find a stale lock at once, one gets it", async () => {
  const taker = await bundleSource(`import { lockOwner, takeLock } from "./src/session/journal-lock.ts";
process.stdin.once("data", () => {
  try { takeLock(process.argv[2], lockOwner("here")); console.log("taken"); } catch { console.log("refused"); }
});
process.stdin.on("end", () => process.exit());
console.log("ready");`);
  const path = newLock();
  writeFileSync(path, JSON.stringify({ ...self, pid: await endedProcess() }));
  const takers = Array.from({ length: 6 }, () =>
    spawn(process.execPath, [taker, path], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const next = async (child: (typeof takers)[number]): Promise<string> =>
    String((await once(child.stdout, "data"))[0]).trim();
  expect(await Promise.all(takers.map(next))).toEqual(takers.map(() => "ready"));
  for (const child of takers) child.stdin.write("go\n");
  const said = await Promise.all(takers.map(next));
  for (const child of takers) child.stdin.end();
  expect(said.sort()).toEqual([...takers.slice(1).map(() => "refused"), "taken"]);
});
