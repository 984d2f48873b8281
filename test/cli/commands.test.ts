import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  jsonLines,
  KEY,
  newPlace,
  openAIEnv,
  put,
  runProgram,
  sessionFolder,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";

test("a single word near a command is a usage error that names it", async () => {
  const place = newPlace();
  const rows = [
    ["rnu", "run"],
    ["runn", "run"],
    ["confg", "config"],
    ["dcotor", "doctor"],
    ["Run", "run"],
  ] as const;
  await Promise.all(
    rows.map(async ([word, command]) =>
      expect(await runProgram([word], { place })).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: `harness9: there is no command '${word}'. Did you mean '${command}'? To send it as a prompt: harness9 run "${word}"\n`,
      }),
    ),
  );
});

test("wrong usage exits with 2, says what is wrong and prints nothing on stdout", async () => {
  const rows = [
    [["run", "--bogus", "x"], "--bogus"],
    [["--bogus"], "--bogus"],
    [["run", "--output-format", "xml", "x"], "xml"],
    [["run", "--model"], "--model"],
    [["config", "get"], "key"],
    [["config", "get", "maxTurn"], "maxTurns"],
    [["config", "nonsense"], "config"],
    [["completion"], "shell"],
    [["completion", "tcsh"], "tcsh"],
    [["logs", "-n", "many"], "many"],
    [["run", "--no-guard", "x"], "--yolo"],
    [["run", "--system-prompt", "a", "--system-prompt-file", "b", "x"], "--system-prompt-file"],
    [["fix", "the", "tests"], "run"],
    [[], "run"],
  ] as const;
  const place = newPlace();
  await Promise.all(
    rows.map(async ([args, says]) => {
      const ended = await runProgram(args, { place });
      expect(ended, args.join(" ")).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringContaining(says) });
      expect(ended.stderr).not.toMatch(/\n\s+at /);
    }),
  );
});

test("options after run belong to run, those before it too, and -p is the same as run", async () => {
  const place = newPlace();
  const commands = [
    ["run", "--max-turns", "1", "hi"],
    ["run", "hi", "--max-turns", "1"],
    ["--max-turns", "1", "run", "hi"],
    ["--max-turns", "9", "run", "--max-turns", "1", "hi"],
    ["-p", "--max-turns", "1", "hi"],
    ["--print", "hi", "--max-turns", "1"],
  ];
  await Promise.all(
    commands.map(async (command) => {
      const server = await modelServer([toolCalls([bash("true")]), openAIAnswer("Done.")]);
      expect(await runProgram(command, { place, env: openAIEnv(server) }), command.join(" ")).toEqual({
        exitCode: 53,
        stdout: "",
        stderr: "harness9: reached the turn limit (1), stopped\n",
      });
    }),
  );
});

test("--help and --version print on stdout and exit with 0", async () => {
  const place = newPlace();
  const [help, runHelp, version, long] = await Promise.all(
    [["--help"], ["run", "--help"], ["-v"], ["--version"]].map((args) => runProgram(args, { place })),
  );
  for (const ended of [help, runHelp, version, long]) expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help?.stdout).toContain("completion");
  expect(runHelp?.stdout).toContain("--json-schema");
  expect(version?.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(long?.stdout).toBe(version?.stdout);
});

test("the system prompt can be replaced and added to, from words and from files", async () => {
  const place = newPlace();
  put(place.workDir, "prompt.txt", "From a file.");
  const systemOf = async (...options: readonly string[]): Promise<unknown> => {
    const server = await modelServer([openAIAnswer("Done.")]);
    expect(await runProgram(["run", ...options, "hi"], { place, env: openAIEnv(server) })).toMatchObject({
      exitCode: 0,
    });
    const [message] =
      (server.requests[0]?.body as { messages: { role: string; content: unknown }[] } | undefined)?.messages ?? [];
    return message?.content;
  };
  const [plain, replaced, file, both] = await Promise.all([
    systemOf(),
    systemOf("--system-prompt", "Mine."),
    systemOf("--system-prompt-file", "prompt.txt"),
    systemOf("--system-prompt", "Mine.", "--append-system-prompt-file", "prompt.txt"),
  ]);
  expect(plain).toContain(`Your working directory is: ${place.workDir}\n`);
  expect([replaced, file, both]).toEqual(["Mine.", "From a file.", "Mine.\n\nFrom a file."]);
});

test("config shows, gets and sets, with where each value comes from", async () => {
  const place = newPlace();
  const run = (...args: readonly string[]) =>
    runProgram(["config", ...args], { place, env: { HARNESS9_ATTEMPTS: "2" } });
  const file = join(place.home, ".harness9/config.json");
  expect(await run("set", "maxTurns", "7")).toEqual({ exitCode: 0, stdout: `saved maxTurns in ${file}\n`, stderr: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await run("set", "--project", "maxTurns", "3")).toMatchObject({ exitCode: 0 });
  const [get, list, json, invalid, unknown] = await Promise.all([
    run("get", "maxTurns"),
    run("list"),
    run("--json"),
    run("set", "maxTurns", "none"),
    run("set", "maxTurn", "1"),
  ]);
  expect(get).toEqual({ exitCode: 0, stdout: "3\n", stderr: "" });
  expect(list.stdout).toMatch(/^attempts +2 +env HARNESS9_ATTEMPTS$/m);
  expect(list.stdout).toMatch(/^bashTimeoutMs +30000 +default$/m);
  const entries = JSON.parse(json.stdout) as { key: string; value: unknown; origin: string }[];
  expect(entries.find(({ key }) => key === "maxTurns")).toMatchObject({
    value: 3,
    origin: expect.stringContaining("settings.json"),
  });
  expect(invalid).toMatchObject({ exitCode: 52, stdout: "", stderr: expect.stringContaining("maxTurns") });
  expect(unknown).toMatchObject({ stdout: "", stderr: expect.stringContaining("maxTurns") });
  expect(unknown.exitCode).not.toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ maxTurns: 7 });
});

test("config key stores a key once, for its owner only, and never shows it", async () => {
  const place = newPlace();
  const mine = { dialect: "openai", baseUrl: "http://127.0.0.1:1/v1" };
  put(place.home, ".harness9/config.json", JSON.stringify({ providers: { mine } }));
  const store = (provider: string, stdin: string) => runProgram(["config", "key", provider], { place, stdin });
  const file = join(place.home, ".harness9/.env");
  const stored = await store("openai", `${KEY}\n`);
  expect(stored).toEqual({ exitCode: 0, stdout: `stored OPENAI_API_KEY in ${file}\n`, stderr: "" });
  expect(readFileSync(file, "utf8")).toBe(`OPENAI_API_KEY=${KEY}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [empty, lines, unknown, local] = await Promise.all([
    store("anthropic", "\n"),
    store("anthropic", "one\ntwo\n"),
    store("opnai", KEY),
    store("mine", KEY),
  ]);
  expect(empty).toMatchObject({ exitCode: 42, stdout: "" });
  expect(lines).toMatchObject({ exitCode: 42, stdout: "" });
  expect(unknown).toMatchObject({ exitCode: 52, stdout: "", stderr: expect.stringContaining("'openai'") });
  expect(local).toMatchObject({ exitCode: 2, stdout: "" });
  expect(readFileSync(file, "utf8")).toBe(`OPENAI_API_KEY=${KEY}\n`);

  const server = await modelServer([openAIAnswer("Done.")]);
  const { OPENAI_API_KEY: _, ...env } = openAIEnv(server);
  expect(await runProgram(["run", "hi"], { place, env })).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
});

test("tools lists what the model may call", async () => {
  const place = newPlace();
  const [text, json] = await Promise.all([
    runProgram(["tools"], { place }),
    runProgram(["tools", "--json"], { place }),
  ]);
  const names = ["read_file", "write_file", "edit_file", "bash", "memory_read", "memory_write"];
  expect(text).toMatchObject({ exitCode: 0, stderr: "" });
  expect(text.stdout.match(/^\w+$/gm)).toEqual(names);
  expect((JSON.parse(json.stdout) as { name: string }[]).map(({ name }) => name)).toEqual(names);
});

test("logs shows path and end of the newest log, and -f what comes after", async () => {
  const place = newPlace();
  expect(await runProgram(["logs"], { place })).toMatchObject({ exitCode: 42, stdout: "" });
  await runProgram(["run", "run echo hi"], { place });
  const [all, two] = await Promise.all([runProgram(["logs"], { place }), runProgram(["logs", "-n", "2"], { place })]);
  const [path = "", ...lines] = all.stdout.trimEnd().split("\n");
  expect(path.startsWith(sessionFolder(place))).toBe(true);
  expect(lines.at(-1)).toContain("循环结束");
  expect(two.stdout.trimEnd().split("\n")).toEqual([path, ...lines.slice(-2)]);

  const follower = startProgram(["logs", "-f"], { place });
  await follower.said("循环结束");
  appendFileSync(path, "something new\n");
  await follower.said("something new");
  follower.child.kill("SIGINT");
  expect(await follower.ended).toMatchObject({ exitCode: 130, stderr: "" });
});

test("doctor tells what works, names keys without showing them, and asks each endpoint", async () => {
  const server = await modelServer([
    { headers: { "content-type": "application/json" }, chunks: ['{"data":[{"id":"one"}]}'] },
  ]);
  const ended = await runProgram(["doctor", "--json"], { place: newPlace(), env: openAIEnv(server) });
  const { checks } = JSON.parse(ended.stdout) as { checks: { id: string; status: string; summary: string }[] };
  const found = new Map(checks.map((check) => [check.id, check]));
  expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  expect(ended.stdout).not.toContain(KEY);
  expect(found.get("node")).toMatchObject({ status: "ok", summary: process.version });
  expect(found.get("keys")).toMatchObject({ status: "ok", summary: "OPENAI_API_KEY (env OPENAI_API_KEY)" });
  expect(found.get("endpoint openai")).toMatchObject({ status: "ok", summary: expect.stringContaining(server.origin) });
  for (const id of ["shell", "git", "log"]) expect(found.get(id)?.status).toBe("ok");
});

test("completion prints scripts that the shells can parse", async () => {
  const place = newPlace();
  const [bashScript, zsh, fish] = await Promise.all(
    ["bash", "zsh", "fish"].map((shell) => runProgram(["completion", shell], { place })),
  );
  for (const ended of [bashScript, zsh, fish]) expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  execFileSync("bash", ["-n"], { input: bashScript?.stdout });
  const complete = 'COMP_WORDS=(harness9 ru) COMP_CWORD=1; _harness9; echo "$COMPREPLY"';
  const words = execFileSync("bash", ["-c", `${bashScript?.stdout}\n${complete}`], {
    cwd: place.workDir,
    encoding: "utf8",
  });
  expect(words).toBe("run\n");
  expect(fish?.stdout).toContain("complete -c harness9");
});

test("a reader that does not read is no failure of a command", async () => {
  const place = newPlace();
  for (const args of [["completion", "bash"], ["tools"], ["config"], ["--help"]]) {
    const program = startProgram(args, { place });
    program.child.stdout?.destroy();
    expect(await program.ended, args.join(" ")).toMatchObject({ exitCode: 0, stderr: "" });
  }
});

test("the demonstration works without a model, and says that it is one", async () => {
  const place = newPlace();
  const ended = await runProgram(["run", 'write a.txt: hi then replace "hi" with "ho" in a.txt then run cat a.txt'], {
    place,
  });
  expect(ended).toMatchObject({ exitCode: 0, stderr: "harness9: offline demonstration (no model)\n" });
  expect(readFileSync(join(place.workDir, "a.txt"), "utf8")).toBe("ho");
  const json = await runProgram(["run", "--output-format", "json", "run false"], { place });
  expect(jsonLines(json.stdout)).toHaveLength(1);
});
