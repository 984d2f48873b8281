import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLogFile } from "../../src/logging/log-file.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const block = { maxOutputBytes: 512, indent: 8, inlineArguments: 80 };
const ignore = { block, onFailure: () => undefined };

test("the log is appended to and readable by its owner only, also when it existed wider", () => {
  const path = join(tempDir(), "run.log");
  writeFileSync(path, "before\n", { mode: 0o644 });
  const log = openLogFile(path, ignore);
  log.writeText("stack");
  log.close();
  log.writeText("too late");
  expect(readFileSync(path, "utf8")).toBe("before\nstack\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a stack that quotes somebody else is clean and holds no key", () => {
  const path = join(tempDir(), "run.log");
  const log = openLogFile(path, ignore);
  log.writeText("TypeError: \x1b[2Jsk-abcdefghijklmnopqrstuvwx\n    at run (run.ts:1:2)\n");
  log.close();
  expect(readFileSync(path, "utf8")).toBe("TypeError: [masked]\n    at run (run.ts:1:2)\n");
});

test("a pipe is not waited for, and keeps its mode", () => {
  const fifo = join(tempDir(), "fifo");
  execFileSync("mkfifo", ["-m", "666", fifo]);
  expect(() => openLogFile(fifo, ignore)).toThrow("ENXIO");
  const reader = openSync(fifo, "r+");
  openLogFile(fifo, ignore).close();
  closeSync(reader);
  expect(statSync(fifo).mode & 0o777).toBe(0o666);
});

test("a write that fails ends the log, is told once, and stops nothing", () => {
  const failures: unknown[] = [];
  const log = openLogFile("/dev/full", { block, onFailure: (error) => failures.push(error) });
  log.writeText("one");
  log.writeText("two");
  log.close();
  expect(failures.map((error) => (error as NodeJS.ErrnoException).code)).toEqual(["ENOSPC"]);
});
