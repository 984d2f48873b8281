import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type Answer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  anthropicEnv,
  bash,
  CONTROLS,
  ENTRY,
  type Ended,
  KEY,
  newPlace,
  openAIEnv,
  type ProgramOptions,
  put,
  readLog,
  runProgram,
  sessionFolder,
  toolCalls,
} from "../helpers/program.ts";

const ONCE = { HARNESS9_ATTEMPTS: "1" };

/** A clear message: one of ours, short, without a stack, a key or a control character. */
const expectClear = (ended: Ended, exitCode: number, ...says: readonly string[]): void => {
  expect(ended).toEqual({ exitCode, stdout: "", stderr: expect.stringMatching(/^harness9: /) });
  for (const words of says) expect(ended.stderr).toContain(words);
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  expect(ended.stderr).not.toContain(KEY);
  expect(ended.stderr).not.toMatch(CONTROLS);
  expect(ended.stderr.length).toBeLessThan(1200);
};

const runWith = async (answer: Answer, more: Partial<ProgramOptions> = {}) => {
  const server = await modelServer([answer]);
  const place = newPlace();
  const { env, ...rest } = more;
  return {
    server,
    place,
    ended: await runProgram(["run", "hello"], { place, env: { ...openAIEnv(server), ...ONCE, ...env }, ...rest }),
  };
};

const refusal = (status: number, body: object | string): Answer => ({
  status,
  headers: { "content-type": typeof body === "string" ? "text/html" : "application/json" },
  chunks: [typeof body === "string" ? body : JSON.stringify(body)],
});

test("a provider or a model that is named without its key names the variable and the ways to give it", async () => {
  const rows = [
    { args: ["--provider", "openai"], variable: "OPENAI_API_KEY", provider: "openai" },
    { args: ["--model", "anthropic/claude-sonnet-4-5"], variable: "ANTHROPIC_API_KEY", provider: "anthropic" },
    { args: ["--provider", "deepseek"], variable: "DEEPSEEK_API_KEY", provider: "deepseek" },
    { args: ["-m", "claude-sonnet-4-5"], variable: "ANTHROPIC_API_KEY", provider: "anthropic" },
  ];
  await Promise.all(
    rows.map(async ({ args, variable, provider }) =>
      expect(await runProgram(["run", ...args, "hello"], { place: newPlace() })).toEqual({
        exitCode: 41,
        stdout: "",
        stderr: `harness9: Set the environment variable ${variable}\nor store it once with: harness9 config key ${provider}\n`,
      }),
    ),
  );
});

test("without a model an order outside the demonstration's grammar ends with 41 and says how to connect one", async () => {
  const ended = await runProgram(["run", "refactor everything"], { place: newPlace() });
  expect(ended).toMatchObject({ exitCode: 41, stdout: "", stderr: expect.stringContaining("ANTHROPIC_API_KEY") });
});

test("a wrong key is an auth error of the server's own words, without the key", async () => {
  const body = { error: { message: `Incorrect API key provided: ${KEY}`, code: "invalid_api_key" } };
  const { ended, place } = await runWith(refusal(401, body));
  expectClear(ended, 41, "openai (test-model): HTTP 401 Incorrect API key provided: [masked", "OPENAI_API_KEY");
  expect(readLog(place)).not.toContain(KEY);
});

test("an unknown model, a web page and broken JSON each say what came", async () => {
  const notFound = { error: { message: "The model `test-model` does not exist", code: "model_not_found" } };
  const [model, page, okPage, json] = await Promise.all([
    runWith(refusal(404, notFound)),
    runWith(refusal(404, "<!doctype html><html><body>Not here</body></html>")),
    runWith(refusal(200, "<!doctype html><html><body>Welcome</body></html>")),
    runWith({ chunks: ['data: {"choices": [{]}\n\n'] }),
  ]);
  expectClear(model.ended, 1, "HTTP 404 The model `test-model` does not exist", "test-model", "/v1");
  expectClear(page.ended, 1, "a web page", "base URL");
  expectClear(okPage.ended, 1, "a web page", "base URL");
  expectClear(json.ended, json.ended.exitCode ?? 0, "not JSON");
  expect([1, 75]).toContain(json.ended.exitCode);
});

test("what may pass later ends with 75: an unreachable host, an overloaded server, a rate limit, a broken stream", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await new Promise((resolve) => closed.close(resolve));
  const limit = { error: { message: "Slow down", code: "rate_limit_exceeded" } };
  const [unreachable, unknown, overloaded, limited, long, broken] = await Promise.all([
    runProgram(["run", "hello"], { place: newPlace(), env: { ...openAIEnv({ origin }), ...ONCE } }),
    runProgram(["run", "hello"], {
      place: newPlace(),
      env: { ...openAIEnv({ origin: "http://no-such-host.invalid" }), ...ONCE },
    }),
    runWith(refusal(503, { error: { message: "Busy" } })),
    runWith(refusal(429, limit)),
    runWith(
      { ...refusal(429, limit), headers: { "content-type": "application/json", "retry-after": "277403" } },
      {
        env: { HARNESS9_ATTEMPTS: "5" },
      },
    ),
    runWith({ chunks: openAIAnswer("partial").chunks?.slice(0, 1) ?? [], end: "reset" }),
  ]);
  expectClear(unreachable, 75, origin, "ECONNREFUSED");
  expectClear(unknown, 75, "http://no-such-host.invalid");
  expectClear(overloaded.ended, 75, "HTTP 503 Busy");
  expectClear(limited.ended, 75, "HTTP 429 Slow down");
  expectClear(long.ended, 75, "77h3m23s");
  expect(long.server.requests).toHaveLength(1);
  expectClear(broken.ended, 75, "openai (test-model)");
});

test("a spent quota is not waited for", async () => {
  const body = { error: { message: "You exceeded your current quota", code: "insufficient_quota" } };
  const { ended, server } = await runWith(refusal(429, body), { env: { HARNESS9_ATTEMPTS: "5" } });
  expectClear(ended, ended.exitCode ?? 0, "HTTP 429 You exceeded your current quota");
  expect(server.requests).toHaveLength(1);
});

test("a base URL that is none names its variable", async () => {
  const env = { ...openAIEnv({ origin: "" }), OPENAI_BASE_URL: "localhost:8080" };
  expectClear(await runProgram(["run", "hello"], { place: newPlace(), env }), 52, "OPENAI_BASE_URL");
});

test("a key that no header can carry is refused without being shown", async () => {
  const { ended, server } = await runWith(openAIAnswer("Done."), { env: { OPENAI_API_KEY: "secret\nvalue-12345" } });
  expectClear(ended, ended.exitCode ?? 0);
  expect([41, 52]).toContain(ended.exitCode);
  expect(ended.stderr).not.toContain("value-12345");
  expect(server.requests).toEqual([]);
});

test("a work directory that is missing, a file or deleted is an input error", async () => {
  const place = newPlace();
  put(place.workDir, "file.txt", "");
  const run = (dir: string) => runProgram(["run", "-C", dir, "read x"], { place });
  const [missing, file, below] = await Promise.all([run("nowhere"), run("file.txt"), run("file.txt/below")]);
  expectClear(missing, 42, `the work directory does not exist: ${join(place.workDir, "nowhere")}`);
  expectClear(file, 42, `the work directory is not a folder: ${join(place.workDir, "file.txt")}`);
  expectClear(below, 42, "file.txt/below");

  mkdirSync(join(place.workDir, "gone"));
  const script = 'cd gone && rmdir ../gone && exec "$0" "$@"';
  const child = spawn("sh", ["-c", script, process.execPath, ENTRY, "run", "read x"], {
    cwd: place.workDir,
    env: { PATH: process.env["PATH"], HOME: place.home },
  });
  const [stderr, exitCode] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  expectClear(
    { exitCode, stdout: "", stderr },
    42,
    `the work directory does not exist: ${join(place.workDir, "gone")}`,
  );
});

// Only root can become somebody else, and only somebody else than root can be refused.
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const system = (command: string, ...args: readonly string[]): void =>
  void execFileSync(command, args, { stdio: "ignore" });

test("a folder or file that an option names and that cannot be used is told with its path and the reason", async () => {
  const place = newPlace();
  const file = put(place.workDir, "file.txt", "x");
  const long = "x".repeat(300);
  const rows = [
    { args: ["--add-dir", file], code: 42, says: `--add-dir: there is no such folder: ${file}` },
    { args: ["--add-dir", "file.txt/below"], code: 42, says: `--add-dir: there is no such folder: ${file}/below` },
    { args: ["--add-dir", long], code: 42, says: `--add-dir: there is no such folder: ${join(place.workDir, long)}` },
    { args: ["-o", "."], code: 42, says: `cannot write ${place.workDir}: it is a directory` },
    { args: ["-o", "file.txt/below"], code: 42, says: `cannot write ${file}/below: not a directory` },
    { args: ["--config", "."], code: 52, says: `${place.workDir}: not an ordinary file, or too large` },
    { args: ["--config", "none.json"], code: 52, says: `--config: cannot read ${join(place.workDir, "none.json")}` },
    { args: ["--json-schema", "."], code: 42, says: `--json-schema: cannot read ${place.workDir}` },
    { args: ["--json-schema", "file.txt"], code: 42, says: `--json-schema: ${file} is no valid JSON Schema: ` },
  ];
  await Promise.all(
    rows.map(async ({ args, code, says }) =>
      expectClear(await runProgram(["run", ...args, "hello"], { place }), code, says),
    ),
  );
});

test.runIf(isRoot)("a work directory that cannot be written is a warning, and reading goes on", async () => {
  const place = newPlace();
  put(place.workDir, "readme.txt", "hello");
  chmodSync(join(place.workDir, ".."), 0o755);
  chmodSync(place.home, 0o777);
  const ended = await runProgram(["run", "read readme.txt then write new.txt: x"], { place, uid: NOBODY });
  expect(ended.stderr).toContain(`the work directory is not writable, changing files will fail: ${place.workDir}`);
  expect(ended.stdout).toContain("read readme.txt");
  expect(readdirSync(place.workDir)).toEqual(["readme.txt"]);
});

test.runIf(isRoot)("a home that cannot be written is a notice, and the run goes on without a log", async () => {
  const place = newPlace();
  chmodSync(join(place.workDir, ".."), 0o755);
  const ended = await runProgram(["run", "run echo hi"], { place, uid: NOBODY });
  expect(ended).toMatchObject({ exitCode: 0, stdout: "Done: ran echo hi.\n" });
  expect(ended.stderr).toContain(`cannot write to ${join(place.home, ".harness9")}`);
  expect(readdirSync(place.home)).toEqual([]);
});

test("a home of ours that is no folder is a notice, and the run goes on without a log", async () => {
  const place = newPlace();
  const file = put(place.home, "file", "kept");
  const ended = await runProgram(["run", "run echo hi"], { place, env: { HARNESS9_HOME: join(file, "below") } });
  expect(ended).toMatchObject({ exitCode: 0, stdout: "Done: ran echo hi.\n" });
  expect(ended.stderr).toContain("cannot write to");
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  expect(readFileSync(file, "utf8")).toBe("kept");
});

test("settings and keys that cannot be stored are said without a stack", async () => {
  const place = newPlace();
  const env = { HARNESS9_HOME: join(put(place.home, "file", ""), "below") };
  const [set, key] = await Promise.all([
    runProgram(["config", "set", "maxTurns", "5"], { place, env }),
    runProgram(["config", "key", "openai"], { place, env, stdin: KEY }),
  ]);
  expectClear(set, 1, "not a directory");
  expectClear(key, 1, "not a directory");
});

test("a --log-file that cannot be written ends with 52 before the model is asked", async () => {
  const server = await modelServer([openAIAnswer("Done.")]);
  const place = newPlace();
  const rows = await Promise.all(
    [place.workDir, "missing/x.log"].map((path) =>
      runProgram(["run", "--log-file", path, "hello"], { place, env: openAIEnv(server) }),
    ),
  );
  for (const row of rows) expectClear(row, 52, "cannot write the log");
  expect(server.requests).toEqual([]);
});

test("--log-file says where the log goes", async () => {
  const place = newPlace();
  const ended = await runProgram(["run", "--log-file", "run.log", "run echo hi"], { place });
  expect(ended.exitCode).toBe(0);
  expect(readFileSync(join(place.workDir, "run.log"), "utf8")).toContain("循环结束");
  expect(readdirSync(sessionFolder(place))).toEqual([expect.stringMatching(/\.jsonl$/)]);
});

test("broken settings name file, line and key", async () => {
  const broken = async (name: string, content: string, ...says: readonly string[]): Promise<void> => {
    const place = newPlace();
    const file = put(name.startsWith(".harness9/config") ? place.home : place.workDir, name, content);
    expectClear(await runProgram(["run", "run echo hi"], { place }), 52, file, ...says);
  };
  await Promise.all([
    broken(".harness9/config.json", '{\n  "maxTurns": "many"\n}', "config.json:2", "maxTurns"),
    broken(".harness9/config.json", '{\n  "maxTurns": 5,\n  oops\n}', "config.json:3"),
    broken(".harness9/config.json", "[1]", "config.json:1"),
    broken(".harness9/config.json", "\0\xff\xfe binary", "config.json:1"),
    broken(".harness9/settings.json", '{"toolTimeoutMs": -1}', "settings.json:1", "toolTimeoutMs"),
  ]);
});

test("a rule that cannot be read names where it stands; in a file it counts for its whole tool, and the start goes on", async () => {
  const place = newPlace();
  const file = put(place.workDir, ".harness9/settings.json", '{"deny": ["bash(a | b)"]}');
  const [flag, tools, settings] = await Promise.all([
    runProgram(["run", "--allow", "bash(", "run echo hi"], { place: newPlace() }),
    runProgram(["--deny", "bash('x)", "tools"], { place: newPlace() }),
    runProgram(["run", "run touch made"], { place }),
  ]);
  expectClear(flag, 52, "flag: allow: ", "'bash('");
  expectClear(tools, 52, "flag: deny: ", "'bash('x)'");
  expect(settings.stderr).toContain(`${file}:1: deny: `);
  expect(settings.stderr).toContain("'bash(a | b)'");
  expect(existsSync(join(place.workDir, "made"))).toBe(false);
});

test("with an empty HOME the work directory is not taken for the home", async () => {
  const { workDir } = newPlace();
  put(workDir, ".harness9/config.json", '{"maxTurns": 1}');
  const ended = await runProgram(["config", "get", "maxTurns"], { place: { home: "", workDir } });
  expect(ended).toEqual({ exitCode: 0, stdout: "50\n", stderr: "" });
});

test("an unknown setting is a warning that names the nearest one", async () => {
  const place = newPlace();
  const file = put(place.home, ".harness9/config.json", '{\n  // a comment\n  "maxTurn": 5,\n}');
  expect(await runProgram(["run", "run echo hi"], { place })).toEqual({
    exitCode: 0,
    stdout: "Done: ran echo hi.\n",
    stderr: `harness9: ${file}:3: unknown setting 'maxTurn'; did you mean 'maxTurns'?\nharness9: offline demonstration (no model)\n`,
  });
});

test.runIf(isRoot && process.platform === "linux")("a full disk ends the log, and the run goes on", async () => {
  const place = newPlace();
  // A device of our own: the program may change the mode of what it is given.
  const device = join(place.workDir, "full");
  system("mknod", device, "c", "1", "7");
  const ended = await runProgram(["run", "--log-file", device, "run echo hi"], { place });
  expect(ended).toMatchObject({ exitCode: 0, stdout: "Done: ran echo hi.\n" });
  expect(ended.stderr.match(/no space left on device/g)).toHaveLength(1);
});

test.runIf(isRoot && process.platform === "linux")(
  "an --output on a full disk is an error, and nothing half-written is left",
  async (context) => {
    const place = newPlace();
    const disk = join(place.workDir, "disk");
    mkdirSync(disk);
    try {
      system("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk);
    } catch {
      context.skip("this system mounts nothing for us");
    }
    try {
      put(disk, "old.txt", "kept");
      const server = await modelServer([openAIAnswer("x".repeat(100_000))]);
      const ended = await runProgram(["run", "-o", "disk/old.txt", "hello"], { place, env: openAIEnv(server) });
      expect(ended.exitCode).toBe(1);
      expect(ended.stderr).toContain("cannot write");
      expect(ended.stderr).toContain("no space left on device");
      expect(readdirSync(disk)).toEqual(["old.txt"]);
      expect(readFileSync(join(disk, "old.txt"), "utf8")).toBe("kept");
    } finally {
      system("umount", disk);
    }
  },
);

test("the log and the outputs are for their owner only, and --no-session keeps only the log", async () => {
  const server = () => modelServer([toolCalls([bash("head -c 20000 /dev/zero | tr '\\0' x")]), openAIAnswer("Done.")]);
  const [place, other] = [newPlace(), newPlace()];
  await runProgram(["run", "hello"], { place, env: openAIEnv(await server()) });
  await runProgram(["run", "--no-session", "hello"], { place: other, env: openAIEnv(await server()) });
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const home = join(place.home, ".harness9");
  const folder = sessionFolder(place);
  expect([home, join(home, "sessions"), folder].map(mode)).toEqual(["700", "700", "700"]);
  const [journal = "", log = "", outputs = ""] = readdirSync(folder).sort();
  expect(log).toMatch(/^\d{8}-\d{6}-[0-9a-z]{4}\.log$/);
  expect(outputs).toBe(log.replace(/log$/, "outputs"));
  expect(journal).toBe(log.replace(/log$/, "jsonl"));
  expect([journal, log].map((name) => mode(join(folder, name)))).toEqual(["600", "600"]);
  expect(mode(join(folder, outputs))).toBe("700");
  expect(readdirSync(join(folder, outputs)).map((name) => mode(join(folder, outputs, name)))).toEqual(["600"]);
  expect(readdirSync(sessionFolder(other))).toEqual([expect.stringMatching(/\.log$/)]);
});

test("the other dialect says the same of a wrong key", async () => {
  const body = { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } };
  const server = await modelServer([refusal(401, body)]);
  const ended = await runProgram(["run", "hello"], { place: newPlace(), env: { ...anthropicEnv(server), ...ONCE } });
  expectClear(ended, 41, "anthropic (test-model): HTTP 401 invalid x-api-key", "ANTHROPIC_API_KEY");
});
