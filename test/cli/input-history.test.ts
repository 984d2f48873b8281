import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appendHistory, loadHistory } from "../../src/cli/input-history.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const line = (text: string): string => `${JSON.stringify({ text, time: "2026-01-01T00:00:00.000Z" })}\n`;
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("what is appended comes back, the newest last", async () => {
  const path = join(tempDir(), "home", "history.jsonl");
  expect(await loadHistory(path)).toEqual({ entries: [] });
  const time = new Date(0);
  expect(await appendHistory(path, "first", time)).toBeUndefined();
  expect(await appendHistory(path, "zwei\nZeilen 你好", time)).toBeUndefined();
  expect(readFileSync(path, "utf8")).toBe(
    '{"text":"first","time":"1970-01-01T00:00:00.000Z"}\n{"text":"zwei\\nZeilen 你好","time":"1970-01-01T00:00:00.000Z"}\n',
  );
  expect(await loadHistory(path)).toEqual({ entries: ["first", "zwei\nZeilen 你好"] });
});

test("nobody else can read it, also when somebody could", async () => {
  const home = join(tempDir(), "home");
  const path = join(home, "history.jsonl");
  mkdirSync(home, { mode: 0o755 });
  writeFileSync(path, line("old"));
  chmodSync(path, 0o644);
  await appendHistory(path, "secret");
  expect([mode(home), mode(path)]).toEqual(["700", "600"]);
});

test("broken lines are skipped, and a line that was cut off takes no other with it", async () => {
  const path = join(tempDir(), "history.jsonl");
  writeFileSync(path, `${line("a")}nonsense\n\n[1]\nnull\n{"text":7}\n${line("b")}{"text":"to`);
  await appendHistory(path, "c");
  expect(await loadHistory(path)).toEqual({ entries: ["a", "b", "c"] });
});

test("of a large file the end is read, from the first whole line on", async () => {
  const path = join(tempDir(), "history.jsonl");
  const entries = Array.from({ length: 4000 }, (_, index) => `${index} ${"你".repeat(30)}`);
  writeFileSync(path, entries.map(line).join(""));
  const loaded = (await loadHistory(path)).entries;
  expect(loaded.length).toBeGreaterThan(1000);
  expect(loaded).toEqual(entries.slice(-loaded.length));
});

test("past a megabyte the newest entries stay", async () => {
  const path = join(tempDir(), "history.jsonl");
  const entries = Array.from({ length: 5000 }, (_, index) => `${index} ${"x".repeat(200)}`);
  writeFileSync(path, entries.map(line).join(""));
  expect(await appendHistory(path, "newest")).toBeUndefined();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((each) => JSON.parse(each).text)).toEqual([...entries.slice(-999), "newest"]);
  expect([mode(path), existsSync(`${path}.lock`)]).toEqual(["600", false]);
});

test("a file of few and long entries ends below its limit as well", async () => {
  const path = join(tempDir(), "history.jsonl");
  writeFileSync(path, line("x".repeat(60_000)).repeat(20));
  await appendHistory(path, "newest");
  expect(statSync(path).size).toBeLessThan(600_000);
  expect((await loadHistory(path)).entries.at(-1)).toBe("newest");
});

test("while another process trims the file is only appended to; the lock of a dead one goes", async () => {
  const path = join(tempDir(), "history.jsonl");
  const lock = `${path}.lock`;
  writeFileSync(path, line("x".repeat(60_000)).repeat(20));
  writeFileSync(lock, "");
  await appendHistory(path, "one");
  expect([statSync(path).size > 1_000_000, existsSync(lock)]).toEqual([true, true]);
  utimesSync(lock, 0, 0);
  await appendHistory(path, "two");
  await appendHistory(path, "three");
  expect([statSync(path).size < 600_000, existsSync(lock)]).toEqual([true, false]);
  expect((await loadHistory(path)).entries.slice(-3)).toEqual(["one", "two", "three"]);
});

test("many at once: no line is lost or mixed", async () => {
  const path = join(tempDir(), "history.jsonl");
  const texts = Array.from({ length: 100 }, (_, index) => `${index} ${"x".repeat(index * 20)}`);
  expect(await Promise.all(texts.map((text) => appendHistory(path, text)))).toEqual(texts.map(() => undefined));
  expect([...(await loadHistory(path)).entries].sort()).toEqual([...texts].sort());
});

test("what is empty or a document is not kept", async () => {
  const path = join(tempDir(), "history.jsonl");
  expect([await appendHistory(path, " \n"), await appendHistory(path, "x".repeat(100_000))]).toEqual([
    undefined,
    undefined,
  ]);
  expect(existsSync(path)).toBe(false);
});

test("a folder in its place is a reason, and never an exception", async () => {
  const path = join(tempDir(), "history.jsonl");
  mkdirSync(path);
  const reason = "illegal operation on a directory";
  expect(await loadHistory(path)).toEqual({ entries: [], warning: reason });
  expect(await appendHistory(path, "a")).toBe(reason);
  expect(await appendHistory(join(path, "history.jsonl", "x", "\0"), "a")).toMatch(/./);
});

test("a link to the null device is a way to have no history, and a FIFO holds nothing", async () => {
  const folder = tempDir();
  const [none, fifo] = [join(folder, "none"), join(folder, "fifo")];
  symlinkSync("/dev/null", none);
  execFileSync("mkfifo", [fifo]);
  for (const path of [none, fifo]) {
    expect(await appendHistory(path, "a")).toBeUndefined();
    expect(await loadHistory(path)).toEqual({ entries: [] });
  }
});

test("a link to a file elsewhere stays a link", async () => {
  const folder = tempDir();
  const [path, target] = [join(folder, "history.jsonl"), join(folder, "elsewhere.jsonl")];
  writeFileSync(target, line("x".repeat(60_000)).repeat(20));
  symlinkSync(target, path);
  await appendHistory(path, "newest");
  appendFileSync(target, line("by another"));
  expect((await loadHistory(path)).entries.slice(-2)).toEqual(["newest", "by another"]);
});
