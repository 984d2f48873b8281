import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type HookProgram, MAX_HOOK_OUTPUT_BYTES } from "../../src/hooks/run-hook.ts";
import { newRunner } from "../helpers/hooks.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const program = (command: string, more: Partial<HookProgram> = {}): HookProgram => ({
  command,
  input: { event: "stop" },
  timeoutMs: 20_000,
  signal: new AbortController().signal,
  ...more,
});

const run = (command: string, more?: Partial<HookProgram>) => newRunner().run(program(command, more));

const exited = (code: number, stdout = "", stderr = "") => ({
  type: "exited",
  code,
  stdout: { text: stdout, isCut: false },
  stderr: { text: stderr, isCut: false },
});

/** Polls for something that another process does. */
const until = async (holds: () => boolean): Promise<void> => {
  await expect.poll(holds, { timeout: 5000 }).toBe(true);
};

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test("a hook gets one line of JSON and says something on both streams", async () => {
  expect(await run("cat; echo no >&2; exit 2")).toEqual(exited(2, '{"event":"stop"}\n', "no\n"));
});

test("it runs in the work directory with the environment that it is given, and nothing else", async () => {
  const dir = tempDir();
  const end = await newRunner(dir, { PATH: "/usr/bin:/bin", ONLY: "this" }).run(
    program("pwd; env | grep -v '^_=' | sort"),
  );
  const lines = end.type === "exited" ? end.stdout.text.split("\n") : [];
  expect(lines.filter((line) => !/^(?:PWD|SHLVL|OLDPWD)=/.test(line))).toEqual([
    dir,
    "ONLY=this",
    "PATH=/usr/bin:/bin",
    "",
  ]);
});

test("a hook that reads nothing of a large input does not fail", async () => {
  expect(await run("exit 0", { input: { text: "x".repeat(4_000_000) } })).toEqual(exited(0));
});

test("of ten megabytes the beginning is kept, on a character boundary", async () => {
  const end = await run("head -c 10000000 /dev/zero | tr '\\0' x; printf é >&2; yes é | head -c 10000000 >&2");
  expect(end).toMatchObject({ type: "exited", code: 0 });
  if (end.type !== "exited") return;
  expect(end.stdout).toEqual({ text: "x".repeat(MAX_HOOK_OUTPUT_BYTES), isCut: true });
  expect(end.stderr.isCut).toBe(true);
  expect(end.stderr.text).not.toContain("\ufffd");
});

test("a missing program is exit code 127 with bash's own words", async () => {
  expect(await run("no-such-program-of-ours")).toMatchObject({ type: "exited", code: 127 });
});

test("a signal, a missing folder and a NUL are ends like others", async () => {
  expect(await run("kill -9 $$")).toEqual({ type: "killed", signal: "SIGKILL" });
  expect(await newRunner("/no/such/folder").run(program("true"))).toMatchObject({ type: "not-started" });
  expect(await run("true \0")).toMatchObject({ type: "not-started" });
  expect(await run(`: ${"x".repeat(3_000_000)}`)).toMatchObject({ type: "not-started" });
});

test("at the time limit the whole group is ended, also what ignores SIGTERM", async () => {
  const dir = tempDir();
  const command = `trap '' TERM; sleep 300 & echo $! $$ > ${dir}/pids; while :; do sleep 1; done`;
  expect(await newRunner(dir).run(program(command, { timeoutMs: 500 }))).toEqual({ type: "timed-out" });
  const pids = readFileSync(join(dir, "pids"), "utf8").trim().split(" ").map(Number);
  expect(pids).toHaveLength(2);
  await until(() => !pids.some(isAlive));
});

test("a cancelled hook is ended, and one that was cancelled before is not started", async () => {
  const dir = tempDir();
  const stop = new AbortController();
  const running = newRunner(dir).run(program("echo $$ > pid; sleep 300", { signal: stop.signal }));
  await until(() => existsSync(join(dir, "pid")) && readFileSync(join(dir, "pid"), "utf8") !== "");
  stop.abort();
  expect(await running).toEqual({ type: "cancelled" });
  await until(() => !isAlive(Number(readFileSync(join(dir, "pid"), "utf8"))));
  expect(await run("touch started", { signal: AbortSignal.abort() })).toEqual({ type: "cancelled" });
});

test("a child that holds the output does not hold the answer", async () => {
  const end = await run("echo done; sleep 30 & echo $! >&2");
  expect(end).toMatchObject({ type: "exited", code: 0, stdout: { text: "done\n", isCut: false } });
  if (end.type === "exited") process.kill(Number(end.stderr.text), "SIGKILL");
});

test("kill ends what runs at once", async () => {
  const dir = tempDir();
  const runner = newRunner(dir);
  const running = runner.run(program("trap '' TERM; touch ready; while :; do sleep 1; done"));
  await until(() => existsSync(join(dir, "ready")));
  runner.kill();
  expect(await running).toEqual({ type: "killed", signal: "SIGKILL" });
});

test("twenty run at the same time, each with its own answer", async () => {
  const runner = newRunner();
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, index) => runner.run(program("cat", { input: { index }, timeoutMs: 60_000 }))),
  );
  expect(ends).toEqual(Array.from({ length: 20 }, (_, index) => exited(0, `{"index":${index}}\n`)));
});
