import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { createHistory } from "../../src/session/journal-history.ts";
import { entriesOf, readAll } from "../helpers/journal.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  CONTROLS,
  ENTRY,
  jsonLines,
  KEY,
  newPlace,
  openAIEnv,
  type Place,
  put,
  readEvents,
  runProgram,
  sessionFolder,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5 };

const namesIn = (place: Place, ending: string): readonly string[] =>
  readdirSync(sessionFolder(place))
    .filter((name) => name.endsWith(ending))
    .sort();

const onlyJournal = (place: Place): string => {
  const [name, ...more] = namesIn(place, ".jsonl");
  if (name === undefined || more.length > 0) throw new Error(`expected one journal, found ${name} ${more}`);
  return join(sessionFolder(place), name);
};

const idOf = (journal: string): string => basename(journal, ".jsonl");

const sessions = (place: Place, ...args: readonly string[]) => runProgram(["sessions", ...args], { place });

/** A run of the demonstration; returns the id of its session. */
const runOffline = async (place: Place, order: string): Promise<string> => {
  const before = existsSync(sessionFolder(place)) ? namesIn(place, ".jsonl") : [];
  expect((await runProgram(["run", order], { place })).exitCode).toBe(0);
  const [added] = namesIn(place, ".jsonl").filter((name) => !before.includes(name));
  return idOf(added ?? "");
};

test("a run's journal holds its events but for the deltas, the bytes of its system prompt, and no key", async () => {
  const place = newPlace();
  put(place.workDir, "a.txt", "first\nsecond\n");
  const server = await modelServer([
    toolCalls([["read_file", { path: "a.txt" }], bash('echo "$OPENAI_API_KEY ok"; true')]),
    openAIAnswer("All read.", "stop", USAGE),
  ]);
  const ended = await runProgram(["run", "--output-format", "events", "read it"], { place, env: openAIEnv(server) });
  expect(ended.exitCode).toBe(0);

  const journal = onlyJournal(place);
  // Where the states of the files stand is told elsewhere.
  const lines = jsonLines(readFileSync(journal, "utf8")).filter(({ type }) => type !== "snapshot");
  const deltas = ["text.delta", "thinking.delta", "tool.progress"];
  const events = readEvents(ended.stdout).filter(({ type }) => !deltas.includes(type));
  expect(lines.map(({ type }) => type)).toEqual(["session", "system", ...events.map(({ type }) => type), "totals"]);
  expect(lines.slice(2, -1)).toEqual(events);
  expect(lines[0]).toEqual({
    type: "session",
    version: 1,
    id: idOf(journal),
    workDir: place.workDir,
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    harness9: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
  expect(readFileSync(journal, "utf8")).not.toContain(KEY);

  const history = createHistory({ interrupted: () => "none" });
  for (const entry of entriesOf(await readAll([readFileSync(journal)]))) history.add(entry);
  const { messages: sent = [] } = (server.requests[1]?.body ?? {}) as {
    readonly messages?: readonly { readonly content: string | null }[];
  };
  expect(history.messages().map(({ content }) => content)).toEqual([
    ...sent.map(({ content }) => content ?? ""),
    "All read.",
  ]);

  expect([journal, dirname(journal), dirname(dirname(journal))].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o600, 0o700, 0o700,
  ]);
  expect(namesIn(place, ".lock")).toEqual([]);
});

test("a call's line is there before its tool runs; after kill -9 the journal reads to its last line", async () => {
  const place = newPlace();
  const server = await modelServer([toolCalls([bash("touch started; sleep 20"), bash("true")])]);
  const program = startProgram(["run", "--verbose", "go"], { place, env: openAIEnv(server) });
  await expect.poll(() => existsSync(join(place.workDir, "started")), { timeout: 20_000 }).toBe(true);
  expect(readFileSync(onlyJournal(place), "utf8")).toContain('"type":"tool.started","call":{"id":"call_1"');

  const running = await sessions(place, "list", "--json");
  expect(JSON.parse(running.stdout)).toMatchObject([{ isRunning: true, prompt: "go", runs: 1, turns: 1 }]);
  const id = idOf(onlyJournal(place));
  const refused = await sessions(place, "rm", id);
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`another process uses the session ${id}`),
  ]);
  expect((await sessions(place, "gc", "--older-than", "0d")).stdout).toBe("there is no old session to remove\n");

  program.child.kill("SIGKILL");
  await program.ended;
  appendFileSync(onlyJournal(place), '{"type":"tool.completed","toolCallId":"call_1","name":"ba');
  const listed = await sessions(place, "list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { id, isRunning: false, prompt: "go", model: "test-model", runs: 1, turns: 1 },
  ]);
  const shown = await sessions(place, "show", id);
  expect(shown.stdout.match(/this call has no result/g)).toHaveLength(1);
  expect(shown.stderr).toContain("skipped 1 line");
  expect((await sessions(place, "rm", id)).stdout).toBe(`removed ${id}\n`);
  expect(readdirSync(sessionFolder(place))).toEqual([]);
});

test("list shows this folder's sessions, the newest first, and --all those of every folder", async () => {
  const place = newPlace();
  const other = { ...place, workDir: join(place.workDir, "other") };
  mkdirSync(other.workDir);
  put(place.workDir, "README.md", "hello\n");
  expect(await sessions(place, "list")).toEqual({
    exitCode: 0,
    stdout: "this folder has no session yet; harness9 sessions --all lists those of all folders\n",
    stderr: "",
  });
  const first = await runOffline(place, "read README.md");
  const second = await runOffline(place, "write a.txt: x");
  const elsewhere = await runProgram(["run", "-C", other.workDir, "run pwd"], { place });
  expect(elsewhere.exitCode).toBe(0);

  const rows = (await sessions(place, "list")).stdout.trimEnd().split("\n");
  expect(rows[0]).toMatch(/^session +time +turns +tokens +cost +model +prompt$/);
  expect(rows.slice(1).map((row) => row.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, "TIME").split(/ {2,}/))).toEqual([
    [second, "TIME", "2", "0", "-", "offline/demo", "write a.txt: x"],
    [first, "TIME", "2", "0", "-", "offline/demo", "read README.md"],
  ]);
  expect((await sessions(place)).stdout.trimEnd().split("\n")).toEqual(rows);
  const all = JSON.parse((await sessions(place, "list", "--all", "--json")).stdout) as readonly Record<
    string,
    unknown
  >[];
  expect(all.map(({ prompt, workDir }) => [prompt, workDir])).toEqual([
    ["run pwd", other.workDir],
    ["write a.txt: x", place.workDir],
    ["read README.md", place.workDir],
  ]);
});

test("tokens, cost and turns of a session are in its list, as the model's server gave them", async () => {
  const place = newPlace();
  const server = await modelServer([openAIAnswer("Hi.", "stop", USAGE)]);
  put(
    place.home,
    ".harness9/config.json",
    '{"models": {"openai/test-model": {"prices": {"input": 1000, "output": 2000}}}}',
  );
  await runProgram(["run", "hello"], { place, env: openAIEnv(server) });
  const [listed] = JSON.parse((await sessions(place, "list", "--json")).stdout) as readonly Record<string, unknown>[];
  expect(listed).toMatchObject({ turns: 1, provider: "openai", model: "test-model", prompt: "hello", costUsd: 0.02 });
  expect((await sessions(place)).stdout).toMatch(/ 1 +15 +\$0\.02\d* +openai\/test-model +hello\n$/);
});

test("show takes an id, a part of it, or last; a wrong one names near ones, and none leads out of the folder", async () => {
  const place = newPlace();
  const id = await runOffline(place, "run echo shown");
  for (const name of [id, id.slice(0, 13), id.slice(-4), "last"]) {
    const { exitCode, stdout, stderr } = await sessions(place, "show", name);
    expect([exitCode, stderr], name).toEqual([0, ""]);
    expect(stdout, name).toContain("## You\n\nrun echo shown\n");
    expect(stdout, name).toContain("```\nshown\n```");
    expect(stdout, name).toMatch(/\n---\nended: completed, 2 turns, 0 tokens, -\n$/);
  }
  const near = `${id.slice(0, -1)}${id.endsWith("a") ? "b" : "a"}`;
  const wrong = await sessions(place, "show", near);
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    42,
    `harness9: there is no session '${near}'; did you mean ${id}?\n`,
  ]);
  put(dirname(sessionFolder(place)), "secret.jsonl", "{}\n");
  const wrongIds = ["../secret", "../../x", "/etc/passwd", "", ".", "9".repeat(100_000), "\x1b[2J"];
  await Promise.all(
    wrongIds.map(async (name) => {
      const { exitCode, stdout, stderr } = await sessions(place, "show", name);
      expect([exitCode, stdout, stderr.match(CONTROLS)]).toEqual([42, "", null]);
      expect(stderr.length).toBeLessThan(300);
    }),
  );
  const twin = `${id.slice(0, -4)}${id.endsWith("0000") ? "0001" : "0000"}`;
  put(sessionFolder(place), `${twin}.log`, "");
  const ambiguous = await sessions(place, "show", id.slice(0, 13));
  expect([ambiguous.exitCode, ambiguous.stderr]).toEqual([42, expect.stringContaining("is not unique")]);
  expect((await sessions(place, "show", twin)).stderr).toContain("has no journal");
});

test("show --json prints the journal's lines; --audit each decision with who made it, by which rule and on what", async () => {
  const place = newPlace();
  const server = await modelServer([
    toolCalls([bash("echo one"), bash("rm -rf /"), ["read_file", { path: "../x" }], bash("echo two")]),
    openAIAnswer("Done."),
  ]);
  await runProgram(["run", "--deny", "bash(echo two)", "--allow", "bash(echo one)", "go"], {
    place,
    env: openAIEnv(server),
  });
  const journal = onlyJournal(place);
  expect((await sessions(place, "show", "last", "--json")).stdout).toBe(readFileSync(journal, "utf8"));

  const audit = jsonLines((await sessions(place, "show", "last", "--audit", "--json")).stdout);
  const events = jsonLines(readFileSync(journal, "utf8")) as unknown as readonly EngineEvent[];
  const resolved = events.filter((event) => event.type === "permission.resolved");
  expect(audit.map(({ tool, decision, by, rule, mode }) => [tool, decision, by, rule, mode])).toEqual(
    resolved.map((event) => [event.name, event.decision, event.by, event.rule ?? null, "auto"]),
  );
  expect(audit.map(({ by }) => by)).toEqual(expect.arrayContaining(["rule", "guard", "mode"]));
  for (const line of audit)
    expect(line).toEqual({
      time: expect.stringMatching(/Z$/),
      sessionId: idOf(journal),
      turn: 1,
      toolCallId: expect.stringMatching(/^call_/),
      tool: expect.any(String),
      decision: expect.stringMatching(/^(allow|reject)$/),
      by: expect.any(String),
      mode: "auto",
      rule: line["rule"],
      scope: "once",
      askedBy: null,
      argumentsDigest: expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
      feedback: null,
    });

  const rows = (await sessions(place, "show", "last", "--audit")).stdout.trimEnd().split("\n");
  expect(rows).toHaveLength(audit.length);
  expect(rows.find((row) => row.includes("rule bash(echo two)"))).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}bash +refused +rule bash\(echo two\) +once +sha256:[0-9a-f]{16}$/,
  );
});

test("what stands in a journal cannot drive the terminal, change an object or take the memory", async () => {
  const place = newPlace();
  const id = await runOffline(place, "run true");
  const folder = sessionFolder(place);
  const hostile = "20200102-030405-evil";
  const at = { sessionId: hostile, time: "2020-01-02T03:04:05.000Z\x1b]0;x\x07" };
  const lines = [
    { type: "session", version: 1, id: "../../x", workDir: "/\x1b[2J", createdAt: at.time, harness9: "\x9b31m" },
    JSON.parse(readFileSync(join(folder, `${id}.jsonl`), "utf8").split("\n")[2] ?? "") as object,
    { type: "input.added", seq: 2, ...at, content: "a\x1b[2Jb\x9b1m\nc\u202e", source: "person" },
    {
      type: "permission.resolved",
      seq: 3,
      ...at,
      toolCallId: "x",
      name: "\x1b[2Jbash",
      decision: "allow",
      scope: "on\x1bce",
      by: "rule",
      rule: "bash(\x07)",
    },
    { type: "later", seq: 4, ...at, text: "\x7f" },
  ].map((line) => JSON.stringify(line));
  const pollution =
    '{"type":"notice","level":"info","text":"x","__proto__":{"json":true},"sessionId":"x","seq":9,"time":"t"}';
  writeFileSync(join(folder, `${hostile}.jsonl`), `${[...lines, pollution].join("\n")}\n`);
  const commands = [["list"], ["list", "--all"], ["list", "--json"]].concat(
    [[], ["--json"], ["--audit"], ["--audit", "--json"]].map((options) => ["show", hostile, ...options]),
  );
  await Promise.all(
    commands.map(async (args) => {
      const { exitCode, stdout, stderr } = await sessions(place, ...args);
      expect([exitCode, stdout.match(CONTROLS), stderr.match(CONTROLS)], args.join(" ")).toEqual([0, null, null]);
    }),
  );
  expect((await sessions(place, "show", hostile)).stdout).toContain("ab\nc");
  expect(jsonLines((await sessions(place, "show", hostile, "--json")).stdout)).toHaveLength(6);
});

test("a line without an end is passed over", async () => {
  const place = newPlace();
  const id = await runOffline(place, "run true");
  const journal = onlyJournal(place);
  const before = await sessions(place, "show", id);
  appendFileSync(journal, `${"x".repeat(70_000_000)}\n`);
  const stderr = `harness9: ${journal}: skipped 1 line that cannot be understood\n`;
  expect(await sessions(place, "show", id)).toEqual({ ...before, stderr });
});

test("a journal of a newer version is refused by name, and the others are still listed", async () => {
  const place = newPlace();
  const id = await runOffline(place, "run true");
  put(sessionFolder(place), "20300102-030405-next.jsonl", '{"type":"session","version":2}\n');
  const listed = await sessions(place, "list");
  expect([listed.exitCode, listed.stdout.includes(id)]).toEqual([0, true]);
  expect(listed.stderr).toContain("a newer harness9 wrote the session 20300102-030405-next (version 2)");
  expect((await sessions(place, "show", "next")).exitCode).toBe(42);
});

test("rm takes journal, log and outputs together, or nothing where one id is wrong", async () => {
  const place = newPlace();
  const [first, second] = [await runOffline(place, "run true"), await runOffline(place, "run seq 100000")];
  expect(namesIn(place, ".outputs")).toEqual([`${second}.outputs`]);
  expect((await sessions(place, "rm", first, "nobody")).exitCode).toBe(42);
  expect(namesIn(place, ".jsonl")).toHaveLength(2);
  expect(await sessions(place, "rm", second, second, "last")).toEqual({
    exitCode: 0,
    stdout: `removed ${second}\n`,
    stderr: "",
  });
  expect(readdirSync(sessionFolder(place)).sort()).toEqual([`${first}.jsonl`, `${first}.log`]);
});

test("gc removes what has not changed for long, after --dry-run has named it", async () => {
  const place = newPlace();
  const [old, fresh] = [await runOffline(place, "run true"), await runOffline(place, "run true")];
  const past = new Date(Date.now() - 40 * 86_400_000);
  for (const kind of ["jsonl", "log"]) utimesSync(join(sessionFolder(place), `${old}.${kind}`), past, past);
  expect((await sessions(place, "gc", "--older-than", "50d")).stdout).toBe("there is no old session to remove\n");
  expect((await sessions(place, "gc", "--dry-run")).stdout).toBe(`would remove ${old}\n`);
  expect(namesIn(place, ".jsonl")).toHaveLength(2);
  expect((await sessions(place, "gc")).stdout).toBe(`removed ${old}\n`);
  expect(readdirSync(sessionFolder(place)).sort()).toEqual([`${fresh}.jsonl`, `${fresh}.log`]);
  const wrong = await sessions(place, "gc", "--older-than", "soon");
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("'soon'")]);
});

test("--no-session writes no journal", async () => {
  const place = newPlace();
  expect((await runProgram(["run", "--no-session", "run true"], { place })).exitCode).toBe(0);
  expect([namesIn(place, ".jsonl"), namesIn(place, ".lock"), namesIn(place, ".log").length]).toEqual([[], [], 1]);
  expect((await sessions(place)).stdout).toContain("no session yet");
});

test("a journal that cannot be opened or goes on no longer is a notice, once, and the run goes on", async () => {
  const place = newPlace();
  put(place.home, ".harness9/sessions", "in the way");
  const ended = await runProgram(["run", "--log-file", join(place.home, "log"), "run echo on"], { place });
  expect([ended.exitCode, ended.stderr.match(/cannot write the journal/g)]).toEqual([0, ["cannot write the journal"]]);

  const full = newPlace();
  put(full.workDir, "big.txt", "x".repeat(3000));
  const read = "read big.txt then run cat big.txt then run cat big.txt then run cat big.txt";
  // Files that grow no further, as on a full disk: 8 KiB.
  const child = spawn(
    "bash",
    ["-c", 'ulimit -f 8; exec "$@"', "bash", process.execPath, ENTRY, "run", "--log-file", "/dev/null", read],
    {
      cwd: full.workDir,
      env: { PATH: process.env["PATH"], HOME: full.home },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let stderr = "";
  child.stderr?.on("data", (part: Buffer) => {
    stderr += part.toString("utf8");
  });
  const [exitCode] = (await once(child, "close")) as [number];
  expect([exitCode, stderr.match(/writing the journal .* failed/g)?.length]).toEqual([0, 1]);
  expect((await sessions(full, "show", "last")).stdout).toContain("## You\n\nread big.txt");
});

test("the sentences come in Chinese too", async () => {
  const place = newPlace();
  const env = { LANG: "zh_CN.UTF-8" };
  expect((await runProgram(["sessions"], { place, env })).stdout).toBe(
    "此目录还没有会话；harness9 sessions --all 列出所有目录的\n",
  );
  expect((await runProgram(["sessions", "show", "x"], { place, env })).stderr).toContain("没有会话 'x'");
});
