import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { cassette } from "../helpers/cassettes.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  CONTROLS,
  ENTRY,
  jsonLines,
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
import { runStarted } from "../helpers/run-started.ts";

const FOLDER = fileURLToPath(new URL("../cassettes/", import.meta.url));
const CASSETTES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => [basename(name, ".jsonl"), join(FOLDER, name)] as const);

const replay = (args: readonly string[], place: Place = newPlace()) => runProgram(["replay", ...args], { place });

const bashScript = (script: string, { home, workDir }: Place) =>
  promisify(execFile)("bash", ["-c", script], { cwd: workDir, env: { PATH: process.env["PATH"], HOME: home } });

const ID = "20260102-030405-abcd";
const TIME = "2026-01-02T03:04:05.000Z";
const HEAD = {
  type: "recording",
  version: 1,
  createdAt: TIME,
  harness9: "1.2.3",
  provider: "p",
  model: "m",
  tools: ["bash"],
};

/** A recording of these events. */
const recordingOf = (place: Place, bodies: readonly (EngineEventBody | string)[]): string => {
  const lines = bodies.map((body, index) =>
    typeof body === "string" ? body : JSON.stringify({ ...body, sessionId: ID, seq: index + 1, time: TIME }),
  );
  return put(place.home, "made.jsonl", [JSON.stringify(HEAD), ...lines, ""].join("\n"));
};

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const completed = (text: string): EngineEventBody => ({
  type: "run.completed",
  reason: "completed",
  text,
  turns: 1,
  contextMessages: 3,
  usage,
  costUsd: null,
  durationMs: 5,
  permissionDenials: [],
});

describe("what was recorded is printed again", () => {
  test.each(CASSETTES)("%s, as events: byte for byte, at any pace", async (_name, file) => {
    const [, ...lines] = readFileSync(file, "utf8").split("\n");
    const args = [file, "--output-format", "events"];
    const [first, second] = await Promise.all([replay(args), replay([...args, "--speed", "200"])]);
    expect(first.stdout).toBe(lines.join("\n"));
    expect(second).toEqual(first);
  });

  test.each(CASSETTES)("%s, as text and in the envelope", async (name, file) => {
    const place = newPlace();
    const formats = ["text", "json", "stream-json"];
    const all = await Promise.all(formats.map((format) => replay([file, "--output-format", format], place)));
    const golden = formats.map((format, index) => {
      const { stdout, stderr, exitCode } = all[index] ?? {};
      return `== ${format}, exit code ${exitCode}\n${stdout}-- standard error\n${stderr}`;
    });
    await expect(golden.join("\n")).toMatchFileSnapshot(`../cassettes/output/${name}.txt`);
  });

  test("no key, no network, no tool: the work directory stays as it is", async () => {
    const place = newPlace();
    put(place.workDir, "sum.mjs", "as it was\n");
    const { exitCode } = await replay([cassette("mended")], place);
    expect(exitCode).toBe(0);
    expect(readdirSync(place.workDir)).toEqual(["sum.mjs"]);
    expect(readFileSync(join(place.workDir, "sum.mjs"), "utf8")).toBe("as it was\n");
    expect(readdirSync(place.home)).toEqual([]);
  });

  test("the options of the program may stand before the command", async () => {
    const { stdout } = await runProgram(["--output-format", "events", "replay", cassette("thought")], {
      place: newPlace(),
    });
    expect(readEvents(stdout).at(-1)?.type).toBe("run.completed");
  });
});

describe("a session's own journal", () => {
  const session = async () => {
    const place = newPlace();
    const server = await modelServer([toolCalls([bash("echo one")]), openAIAnswer("The answer.")]);
    const args = ["run", "do it", "--output-format", "events"];
    const { stdout } = await runProgram(args, { place, env: openAIEnv(server) });
    return { place, events: readEvents(stdout), id: readEvents(stdout)[0]?.sessionId ?? "" };
  };
  const isKept = ({ type }: EngineEvent): boolean => !["text.delta", "thinking.delta", "tool.progress"].includes(type);

  test("is played by its path, its id, the end of that, and as the newest", async () => {
    const { place, events, id } = await session();
    for (const name of [join(sessionFolder(place), `${id}.jsonl`), id, id.slice(-4), "last"]) {
      const { stdout, exitCode } = await replay([name, "--output-format", "events"], place);
      expect([exitCode, readEvents(stdout)]).toEqual([0, events.filter(isKept)]);
    }
  });

  test("gives the answer as text", async () => {
    const { place, id } = await session();
    expect(await replay([id], place)).toEqual({ exitCode: 0, stdout: "The answer.\n", stderr: "" });
  });
});

test("of several runs text prints each answer, json the last result, and its exit code counts", async () => {
  const place = newPlace();
  const broken = { ...completed(""), reason: "max_turns", error: { kind: "input", message: "enough" } } as const;
  const bodies = [runStarted, completed("one"), runStarted, completed("two"), runStarted, broken];
  const file = recordingOf(place, bodies);
  expect(await replay([file], place)).toEqual({
    exitCode: 53,
    stdout: "one\ntwo\n",
    stderr: "harness9: enough\n",
  });
  const { stdout } = await replay([file, "--output-format", "json"], place);
  expect(jsonLines(stdout).map(({ subtype }) => subtype)).toEqual(["error_max_turns"]);
});

describe("a recording that breaks off", () => {
  const whole = readFileSync(cassette("mended"));

  test.each(["text", "json", "stream-json", "events"])("has one final result, an error: %s", async (format) => {
    const place = newPlace();
    // In the middle of a character of the file's last but one line.
    const cut = whole.subarray(0, whole.lastIndexOf('{"type":"run.completed"') - 40);
    const file = put(place.home, "cut.jsonl", cut);
    const ended = await replay([file, "--output-format", format], place);
    expect(ended.exitCode).toBe(42);
    expect(ended.stdout + ended.stderr).toContain("ends in the middle of a run");
    expect(await replay([file, "--output-format", format], place)).toEqual(ended);
    if (format === "text") return;
    const last = jsonLines(ended.stdout).filter(({ type }) => type === "result" || type === "run.completed");
    expect(last.length).toBe(1);
  });

  test("after its last run is whole", async () => {
    const place = newPlace();
    const file = put(place.home, "torn.jsonl", Buffer.concat([whole, Buffer.from('{"type":"run.sta')]));
    expect(await replay([file], place)).toEqual(await replay([cassette("mended")], place));
  });

  test("within is played on, and says so", async () => {
    const place = newPlace();
    const file = recordingOf(place, [runStarted, "{broken", completed("done"), "[1]"]);
    expect(await replay([file], place)).toEqual({
      exitCode: 0,
      stdout: "done\n",
      stderr: `harness9: ${file}: skipped 2 lines that cannot be understood\n`,
    });
  });
});

describe("what cannot be played", () => {
  const files: Readonly<Record<string, string | Buffer>> = {
    "empty.jsonl": "",
    "text.jsonl": "hello\n",
    "bytes.jsonl": Buffer.from([0, 1, 0xff, 10, 0xfe]),
    "newer.jsonl": `${JSON.stringify({ ...HEAD, version: 7 })}\n`,
    "head.jsonl": `${JSON.stringify(HEAD)}\n`,
    "event.jsonl": `${JSON.stringify({ ...runStarted, sessionId: ID, seq: 1, time: TIME })}\n`,
  };

  test.each([
    ["empty.jsonl", "is neither a recording nor the journal of a session"],
    ["text.jsonl", "is neither a recording nor the journal of a session"],
    ["bytes.jsonl", "is neither a recording nor the journal of a session"],
    ["event.jsonl", "is neither a recording nor the journal of a session"],
    // Without a line and without an end.
    ["/dev/zero", "is neither a recording nor the journal of a session"],
    ["newer.jsonl", "version 7"],
    ["head.jsonl", "there are no events in"],
    [".", "cannot read"],
    ["./missing.jsonl", "there is no file and no session './missing.jsonl'"],
    ["20260102-030405-abcd", "there is no session '20260102-030405-abcd'"],
    ["last", "there is no file and no session 'last'"],
  ])("%s: %s", async (name, message) => {
    const place = newPlace();
    for (const [path, content] of Object.entries(files)) put(place.workDir, path, content);
    const { exitCode, stdout, stderr } = await replay([name], place);
    expect([exitCode, stdout]).toEqual([42, ""]);
    expect(stderr).toContain(message);
    expect(stderr.split("\n").every((line) => !line.includes("    at "))).toBe(true);
  });

  test("has one final result in the other formats", async () => {
    for (const format of ["json", "stream-json", "events"]) {
      const { exitCode, stdout } = await replay(["./missing", "--output-format", format]);
      expect([exitCode, jsonLines(stdout).length]).toEqual([42, 1]);
    }
  });

  test("at a speed that is none: wrong usage", async () => {
    const speeds = ["0", "-1", "fast", "1e3", "99999", ""];
    const all = await Promise.all(speeds.map((speed) => replay([cassette("thought"), `--speed=${speed}`])));
    expect(all.map(({ exitCode, stderr }) => [exitCode, stderr.includes("--speed")])).toEqual(
      speeds.map(() => [2, true]),
    );
  });
});

test("text of a recording cannot drive the terminal, and what is shaped like a key is masked", async () => {
  const nasty = "\x1b]52;c;b3duZWQ=\x07\x1b[2J\x9b2J\x07 sk-abcdefghijklmnop1234 é";
  const place = newPlace();
  const call = { id: nasty, name: nasty, arguments: nasty };
  const message = { role: "assistant", content: nasty, toolCalls: [call] } as const;
  const file = recordingOf(place, [
    { ...runStarted, workDir: nasty, provider: nasty, sandbox: nasty } as EngineEventBody,
    { type: "input.added", content: nasty, source: "queue" },
    { type: "notice", level: "warning", text: nasty },
    { type: "message.completed", message, finishReason: "tool_calls", usage },
    { type: "tool.started", call, display: nasty },
    {
      type: "tool.completed",
      toolCallId: nasty,
      name: nasty,
      result: { output: nasty, isError: true },
      durationMs: 1,
    },
    {
      type: "provider.retrying",
      attempt: 1,
      maxAttempts: 2,
      delayMs: 1,
      error: { kind: "server", message: nasty },
      discard: false,
    },
    {
      ...completed(nasty),
      permissionDenials: [{ toolCallId: nasty, name: nasty, reason: nasty }],
      reason: "blocked",
      error: { kind: "server", message: nasty, hint: nasty },
    } as EngineEventBody,
  ]);
  for (const format of ["text", "json", "stream-json", "events"]) {
    const { stdout, stderr } = await replay([file, "--output-format", format], place);
    expect(stdout + stderr).toContain("é");
    expect(stdout + stderr).not.toMatch(CONTROLS);
    if (format !== "events") expect(stdout + stderr).not.toContain("sk-abcdef");
  }
});

test("a reader that has gone ends it without a word", async () => {
  const place = newPlace();
  const script = `"${process.execPath}" "${ENTRY}" replay "${cassette("mended")}" --output-format events --speed 50 | head -1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await bashScript(script, place);
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("0");
  expect(stderr).toBe("");
});

test("Ctrl+C ends it between two events", async () => {
  const place = newPlace();
  const later = new Date(Date.parse(TIME) + 3_600_000).toISOString();
  const file = recordingOf(place, [
    runStarted,
    JSON.stringify({ ...completed("late"), sessionId: ID, seq: 2, time: later }),
  ]);
  const running = startProgram(["replay", file, "--output-format", "events", "--speed", "1"], { place });
  await running.said("run.started");
  running.child.kill("SIGINT");
  const { exitCode, stdout } = await running.ended;
  expect([exitCode, readEvents(stdout).map(({ type }) => type)]).toEqual([130, ["run.started"]]);
});

test("100 MB pass through with little memory", async () => {
  const place = newPlace();
  const file = join(place.home, "huge.jsonl");
  const delta = (seq: number) =>
    `${JSON.stringify({ type: "text.delta", text: "x".repeat(10_000), turn: 1, sessionId: ID, seq, time: TIME })}\n`;
  writeFileSync(
    file,
    `${JSON.stringify(HEAD)}\n${JSON.stringify({ ...runStarted, sessionId: ID, seq: 1, time: TIME })}\n`,
  );
  for (let block = 0; block < 100; block += 1)
    writeFileSync(file, Array.from({ length: 100 }, (_, index) => delta(2 + block * 100 + index)).join(""), {
      flag: "a",
    });
  writeFileSync(file, `${JSON.stringify({ ...completed("end"), sessionId: ID, seq: 99_999, time: TIME })}\n`, {
    flag: "a",
  });
  for (const format of ["text", "events"]) {
    const script = `"${process.execPath}" --max-old-space-size=48 "${ENTRY}" replay "${file}" --output-format ${format} | tail -c 500; echo "\${PIPESTATUS[0]}"`;
    const { stdout } = await bashScript(script, place);
    expect(stdout).toContain("end");
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("0");
  }
}, 120_000);
