import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  KEY,
  newPlace,
  openAIEnv,
  type Place,
  put,
  runProgram,
  sessionFolder,
  toolCalls,
} from "../helpers/program.ts";

const DONE = openAIAnswer("All done.", "stop", { prompt_tokens: 10, completion_tokens: 5 });
const SHAPED = "sk-abcdefghijklmnopqrstuvwxyz0123";

const exporting = (place: Place, ...args: readonly string[]) => runProgram(["sessions", "export", ...args], { place });

/** A place with one session, in which things stand that look like keys. */
const begun = async () => {
  const place = newPlace();
  const server = await modelServer([toolCalls([bash(`echo ${SHAPED}`)]), DONE]);
  const ended = await runProgram(["run", `use ${SHAPED} \u001b[31mnow`], { place, env: openAIEnv(server) });
  expect(ended.exitCode).toBe(0);
  const [name = ""] = readdirSync(sessionFolder(place)).filter((one) => one.endsWith(".jsonl"));
  return { place, server, id: basename(name, ".jsonl") };
};

test("as Markdown, to standard output or a new file, with what looks like a key masked", async () => {
  const { place, id } = await begun();
  const ended = await exporting(place, "last");
  expect([ended.exitCode, ended.stderr]).toEqual([0, ""]);
  expect(ended.stdout).toBe(
    `${[
      `# harness9 ${id}`,
      `- ${place.workDir}\n- openai/test-model`,
      "## You",
      "use [masked] now",
      "## Model",
      "### bash",
      '```json\n{"command":"echo [masked]"}\n```',
      "Result:",
      "```\n[masked]\n```",
      "## Model",
      "All done.",
    ].join("\n\n")}\n`,
  );
  const first = await exporting(place, id, "-o", "talk.md");
  expect(first.stdout).toBe(`written to ${join(place.workDir, "talk.md")}\n`);
  const second = await exporting(place, id.slice(-4), "-o", "talk.md");
  expect(second.stdout).toBe(`written to ${join(place.workDir, "talk-1.md")}\n`);
  expect(readFileSync(join(place.workDir, "talk-1.md"), "utf8")).toBe(ended.stdout);
});

test("as JSON: the messages, the totals and each run", async () => {
  const { place, server, id } = await begun();
  await runProgram(["run", "-c", "more"], { place, env: openAIEnv(server) });
  const ended = await exporting(place, id, "--format", "json");
  expect(ended.exitCode).toBe(0);
  expect(ended.stdout).not.toContain(SHAPED);
  expect(ended.stdout).not.toContain(KEY);
  const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*Z$/);
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const run = { startedAt: time, endedAt: time, provider: "openai", model: "test-model", permissionMode: "auto" };
  const end = { reason: "completed", turns: 2, usage, costUsd: null, durationMs: expect.any(Number) };
  expect(JSON.parse(ended.stdout)).toEqual({
    version: 1,
    id,
    workDir: place.workDir,
    createdAt: time,
    forkOf: null,
    totals: {
      turns: 3,
      usage: { ...usage, inputTokens: 20, outputTokens: 10 },
      costUsd: null,
      provider: "openai",
      model: "test-model",
      prompt: expect.stringContaining("use [masked]"),
    },
    runs: [
      { ...run, end },
      { ...run, end: { ...end, turns: 1 } },
    ],
    messages: [
      { role: "system", content: expect.stringContaining(place.workDir) },
      { role: "user", content: "use [masked] now" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "call_1", name: "bash", arguments: '{"command":"echo [masked]"}' }],
      },
      { role: "user", toolCallId: "call_1", content: expect.stringContaining("[masked]"), isError: false },
      { role: "assistant", content: "All done.", toolCalls: [] },
      { role: "user", content: "more" },
      { role: "assistant", content: "All done.", toolCalls: [] },
    ],
  });
  put(place.workDir, "out/x", "");
  const named = await exporting(place, id, "--format", "json", "-o", "out");
  expect(named.stdout).toBe(`written to ${join(place.workDir, "out", `harness9-${id}.json`)}\n`);
  expect(readFileSync(join(place.workDir, "out", `harness9-${id}.json`), "utf8")).toBe(ended.stdout);
});

test("what cannot be exported says so and leaves no file", async () => {
  const { place, id } = await begun();
  const failed = async (exitCode: number, ...args: readonly string[]): Promise<string> => {
    const ended = await exporting(place, ...args);
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ""]);
    return ended.stderr;
  };
  expect(await failed(42, "20200101-000000-none")).toContain("there is no session '20200101-000000-none'");
  expect(await failed(2, id, "--format", "html")).toContain("html");
  expect(await failed(1, id, "-o", "missing/talk.md")).toContain(join(place.workDir, "missing/talk.md"));
  expect(existsSync(join(place.workDir, "missing"))).toBe(false);
  expect(statSync(join(sessionFolder(place), `${id}.jsonl`)).isFile()).toBe(true);
});
