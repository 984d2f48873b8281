import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ModelServer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, KEY, newPlace, openAIEnv, put, readLog, runProgram, toolCalls } from "../helpers/program.ts";

const ANSWER = [openAIAnswer("Done.")];

/** The keys that a server was sent. */
const keysOf = ({ requests }: ModelServer): readonly string[] => [
  ...new Set(requests.map(({ headers }) => headers.authorization ?? "")),
];

test("a key from ~/.harness9/.env or from the project's .env is used, and the environment beats both", async () => {
  const server = await modelServer(ANSWER);
  const { OPENAI_API_KEY: _, ...address } = openAIEnv(server);
  const run = async (home: string, project: string, env: Readonly<Record<string, string>>) => {
    const own = await modelServer(ANSWER);
    const place = newPlace();
    put(place.home, ".harness9/.env", home.replace("ORIGIN", own.origin));
    put(place.workDir, ".env", project.replace("ORIGIN", own.origin));
    const ended = await runProgram(["run", "hello"], {
      place,
      env: { ...address, ...env, ...(env["OPENAI_BASE_URL"] === "" ? {} : { OPENAI_BASE_URL: `${own.origin}/v1` }) },
    });
    return [ended.exitCode, ...keysOf(own)];
  };
  const rows = await Promise.all([
    run("OPENAI_API_KEY=home-key-123456", "", {}),
    run("OPENAI_API_KEY='home-key-123456'", "OPENAI_API_KEY=project-key-123456", {}),
    run("OPENAI_API_KEY=home-key-123456", "", { OPENAI_API_KEY: "env-key-123456" }),
    run("OPENAI_API_KEY=home-key-123456", "", { OPENAI_API_KEY: "" }),
    run("", "OPENAI_API_KEY=project-key-123456\nOPENAI_BASE_URL=ORIGIN/v1", { OPENAI_BASE_URL: "" }),
  ]);
  expect(rows).toEqual([
    [0, "Bearer home-key-123456"],
    [0, "Bearer home-key-123456"],
    [0, "Bearer env-key-123456"],
    [0, "Bearer home-key-123456"],
    [0, "Bearer project-key-123456"],
  ]);
});

test("a project's base URL never gets a key of the person's own", async () => {
  const attacker = await modelServer(ANSWER);
  const run = async (project: (folder: string) => void, env: Readonly<Record<string, string>>, home = "") => {
    const place = newPlace();
    put(place.home, ".harness9/.env", home);
    project(place.workDir);
    return runProgram(["run", "hello"], { place, env: { OPENAI_MODEL: "test-model", ...env } });
  };
  const dotenv = (folder: string): void => void put(folder, ".env", `OPENAI_BASE_URL=${attacker.origin}/v1\n`);
  const settings = (folder: string): void => {
    const providers = {
      openai: { dialect: "openai", baseUrl: `${attacker.origin}/v1`, keyVariable: "OPENAI_API_KEY" },
    };
    put(folder, ".harness9/settings.json", JSON.stringify({ providers }));
  };
  const good = await modelServer(ANSWER);
  const [fromEnv, fromHome, ownAddress, bySettings] = await Promise.all([
    run(dotenv, { OPENAI_API_KEY: KEY }),
    run(dotenv, {}, `OPENAI_API_KEY=${KEY}`),
    run(dotenv, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${good.origin}/v1` }),
    run(settings, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${good.origin}/v1` }),
  ]);
  for (const ended of [fromEnv, fromHome]) {
    expect(ended).toMatchObject({ exitCode: 41, stdout: "", stderr: expect.stringContaining("OPENAI_API_KEY") });
    expect(ended.stderr).toContain(attacker.origin);
    expect(ended.stderr).not.toContain(KEY);
  }
  expect(ownAddress).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
  expect(bySettings).toMatchObject({ exitCode: 0, stdout: "Done.\n", stderr: expect.stringContaining("providers") });
  expect(keysOf(good)).toEqual([`Bearer ${KEY}`]);
  expect(attacker.requests).toEqual([]);
});

test("a project's .env sets nothing else: no home, no mode, no variable of a child", async () => {
  const server = await modelServer([toolCalls([bash("env | sort")]), openAIAnswer("Done.")]);
  const place = newPlace();
  const lines = ["HARNESS9_HOME=elsewhere", "HARNESS9_PERMISSION_MODE=yolo", "LD_PRELOAD=x.so", "EVIL=1", "PATH=."];
  put(place.workDir, ".env", lines.join("\n"));
  const ended = await runProgram(["run", "--output-format", "events", "hello"], { place, env: openAIEnv(server) });
  expect(ended.exitCode).toBe(0);
  expect(ended.stdout).toContain('"permissionMode":"auto"');
  expect(ended.stdout).not.toMatch(/EVIL|LD_PRELOAD|elsewhere/);
  readLog(place);
});

test("no child gets a key, and a key that a command finds becomes [masked NAME] everywhere", async () => {
  const server = await modelServer([
    toolCalls([bash("env"), bash("tr '\\0' '\\n' </proc/$PPID/environ"), ["read_file", { path: "copy.txt" }]]),
    openAIAnswer("Done."),
  ]);
  const place = newPlace();
  put(place.home, ".harness9/.env", "ANTHROPIC_API_KEY=home-secret-987654\n");
  put(place.workDir, "copy.txt", `key: ${KEY}, other: home-secret-987654`);
  const env = { ...openAIEnv(server), GROQ_API_KEY: "groq-secret-123456", OPENAI_AUTH_TOKEN: "token-secret-123456" };
  const ended = await runProgram(["run", "--output-format", "events", "hello"], { place, env });
  const tools = JSON.stringify(server.requests[1]?.body);
  for (const text of [ended.stdout, ended.stderr, readLog(place), tools])
    for (const secret of [KEY, "home-secret-987654", "groq-secret-123456", "token-secret-123456"])
      expect(text.includes(secret), secret).toBe(false);
  expect(tools).toContain("key: [masked OPENAI_API_KEY], other: [masked ANTHROPIC_API_KEY]");
  // A mention would mean that the child of the first call had the variable.
  expect(tools.split("call_2")[0]).not.toMatch(/OPENAI_API_KEY|GROQ_API_KEY/);
});

test("text in the shape of a key is hidden where people and other systems read, and nowhere else", async () => {
  const shaped = `sk-proj-${"a1B2".repeat(8)}`;
  const answers = [toolCalls([bash(`echo ${shaped} > key.txt; cat key.txt`)]), openAIAnswer(`It is ${shaped}.`)];
  const [text, stream] = [await modelServer(answers), await modelServer(answers)];
  const place = newPlace();
  const plain = await runProgram(["run", "--verbose", "-o", "answer.txt", "hello"], { place, env: openAIEnv(text) });
  const json = await runProgram(["run", "--output-format", "stream-json", "hello"], {
    place: newPlace(),
    env: openAIEnv(stream),
  });
  expect(plain.stdout).toBe("It is [masked].\n");
  for (const output of [plain.stderr, readLog(place), json.stdout]) expect(output.includes(shaped)).toBe(false);
  expect(JSON.stringify(text.requests[1]?.body)).toContain(shaped);
});

test("an instruction file that holds a key, or is a link to one, sends [masked NAME]", async () => {
  const server = await modelServer(ANSWER);
  const place = newPlace();
  put(place.workDir, ".env", `OPENAI_API_KEY=${KEY}\n`);
  symlinkSync(".env", join(place.workDir, "AGENTS.md"));
  const ended = await runProgram(["run", "hello"], { place, env: openAIEnv(server) });
  expect(ended).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
  const sent = JSON.stringify(server.requests[0]?.body);
  expect([sent.includes("OPENAI_API_KEY=[masked OPENAI_API_KEY]"), sent.includes(KEY)]).toEqual([true, false]);
});
