import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, CONTROLS, newPlace, openAIEnv, put, readLog, runProgram, toolCalls } from "../helpers/program.ts";

/** What a terminal would act on: clear, title, clipboard, link, device control, 8-bit, bell, backspace, return. */
const HOSTILE =
  "a\x1b[2Jb\x1b]0;title\x07c\x1b]52;c;ZXZpbA==\x1b\\d\x1bP1;2q#0\x1b\\e\x9b31mf\x07g\bh\rj\x1b[1A\x85k\x7f";

const CSI = "\x1b[2J\x1b[31m";

test("control sequences of the model, its calls and tools reach neither terminal nor log", async () => {
  const server = await modelServer([
    toolCalls([
      bash(`printf '${HOSTILE.replaceAll("'", "").replaceAll("\0", "")}'`),
      ["read_file", { path: `${CSI}name\x9b2J` }],
      [`bad${CSI}name`, { [`${CSI}key`]: HOSTILE }],
      ["bash", `not json ${CSI}\x9b2J`],
      ["write_file", { path: "out\x1b[2J.txt", content: HOSTILE }],
      bash("ls; cat hostile.txt"),
    ]),
    openAIAnswer(`Answer ${HOSTILE}.`),
  ]);
  const place = newPlace();
  put(place.workDir, "hostile.txt", HOSTILE);
  writeFileSync(join(place.workDir, `name${CSI}`), "x");
  const ended = await runProgram(["run", "--verbose", "-o", "answer.txt", "hello"], { place, env: openAIEnv(server) });
  expect(ended.exitCode).toBe(0);
  expect(ended.stdout).toMatch(/^Answer a/);
  const texts = [ended.stdout, ended.stderr, readLog(place), readFileSync(join(place.workDir, "answer.txt"), "utf8")];
  for (const text of texts) expect(text).not.toMatch(CONTROLS);
});

test.each(["json", "stream-json", "events"])("control characters above ASCII are escaped in %s", async (format) => {
  const server = await modelServer([
    toolCalls([bash("printf 'x\\302\\2332Jy'; true"), ["n\x9bo", {}]]),
    openAIAnswer("\x9b2J\x7f"),
  ]);
  const ended = await runProgram(["run", "--output-format", format, "he\x9bllo"], {
    place: newPlace(),
    env: openAIEnv(server),
  });
  expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  expect(ended.stdout).not.toMatch(CONTROLS);
  expect(ended.stdout).toContain('\\u009b2J\\u007f"');
});

test("a server's words cannot drive the terminal, whatever they are in", async () => {
  const message = `No ${HOSTILE} way`;
  const answers = [
    { status: 400, headers: { "content-type": "application/json" }, chunks: [JSON.stringify({ error: { message } })] },
    { status: 403, headers: { "content-type": "text/plain" }, chunks: [message] },
    { chunks: [`data: {"error":{"message":${JSON.stringify(message)}}}\n\n`] },
    { chunks: [`data: ${message}\n\n`] },
    { status: 302, headers: { location: "http://example.com/%1b[2J" } },
  ];
  await Promise.all(
    answers.map(async (answer) => {
      const server = await modelServer([answer]);
      const place = newPlace();
      const env = { ...openAIEnv(server), HARNESS9_ATTEMPTS: "1" };
      const ended = await runProgram(["run", "--verbose", "hello"], { place, env });
      expect(ended.exitCode).not.toBe(0);
      expect(ended.stdout).toBe("");
      for (const text of [ended.stderr, readLog(place)]) expect(text).not.toMatch(CONTROLS);
    }),
  );
});

test("a server's list of models cannot drive the terminal", async () => {
  const data = [{ id: `one${CSI}` }, { id: "two\x9b2J" }];
  const server = await modelServer([
    { headers: { "content-type": "application/json" }, chunks: [JSON.stringify({ data })] },
  ]);
  const { OPENAI_MODEL: _, ...env } = openAIEnv(server);
  const ended = await runProgram(["run", "hello"], { place: newPlace(), env });
  expect(ended).toMatchObject({ exitCode: 52, stdout: "", stderr: expect.stringContaining("one") });
  expect(ended.stderr).not.toMatch(CONTROLS);
});

test("a project's files cannot drive the terminal through warnings, settings or doctor", async () => {
  const place = newPlace();
  const settings = { [`evil${CSI}`]: 1, model: `gpt${CSI}`, allow: [`bash(${CSI})`], deny: [`bash(x\x9b2J)`] };
  put(place.workDir, ".harness9/settings.json", JSON.stringify(settings));
  put(place.workDir, ".env", `OPENAI_BASE_URL=http://127.0.0.1:1/${CSI}\x9b\nOPENAI_API_KEY=k\x1b[2J\n`);
  const commands = [
    ["run", "run echo hi"],
    ["run", "--provider", "openai", "-m", "x", "hello"],
    ["config"],
    ["config", "list"],
    ["config", "--json"],
    ["config", "get", "model"],
    ["config", "get", "deny"],
    ["config", "get", `x${CSI}`],
    ["doctor"],
    ["doctor", "--json"],
    ["tools"],
  ];
  const env = { HARNESS9_ATTEMPTS: "1" };
  const rows = await Promise.all(commands.map((command) => runProgram(command, { place, env })));
  for (const [index, { stdout, stderr }] of rows.entries())
    for (const text of [stdout, stderr]) expect(text, commands[index]?.join(" ") ?? "").not.toMatch(CONTROLS);
  expect(rows[0]?.stderr).toContain("evil");
});
