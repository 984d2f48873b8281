import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { modelServer } from "../helpers/model-server.ts";
import {
  bash,
  newPlace,
  openAIEnv,
  type Place,
  type RunningProgram,
  readEvents,
  readLog,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";
import { eventually, processesIn } from "../helpers/run-bash.ts";

const start = (place: Place, origin: string, ...more: readonly string[]): RunningProgram =>
  startProgram(["run", "--output-format", "events", ...more, "hello"], { place, env: openAIEnv({ origin }) });

const lastLine = (text: string): string | undefined => text.trimEnd().split("\n").at(-1);

const SIGNALS = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const;

test.each(SIGNALS)(
  "%s in the middle of four parallel commands leaves no child, a whole log, and exits with %i",
  async (signal, exitCode) => {
    const commands = [
      "sleep 1000 & sleep 1000",
      "sleep 1000 | cat",
      "(trap '' TERM; sleep 1000)",
      "setsid sleep 1000 & sleep 1000",
    ];
    const server = await modelServer([toolCalls(commands.map(bash))]);
    const place = newPlace();
    const program = start(place, server.origin);
    await eventually(() => processesIn(place.workDir).filter((line) => line.startsWith("sleep")).length === 6);
    program.child.kill(signal);
    const ended = await program.ended;
    expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({
      exitCode,
      stderr: expect.stringMatching(/^(harness9: ended .*\n)?$/),
    });
    expect(processesIn(place.workDir)).toEqual([]);
    const events = readEvents(ended.stdout);
    expect(events.filter(({ type }) => type === "run.completed")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "run.completed", reason: "cancelled", error: { kind: "cancelled" } });
    expect(events.filter(({ type }) => type === "tool.completed")).toHaveLength(4);
    const log = readLog(place);
    expect(lastLine(log)).toMatch(/循环结束 │ 总Turns=1 .*reason=cancelled/);
    expect(log.match(/工具启动/g)).toHaveLength(4);
    expect(log.match(/工具失败|工具完成/g)).toHaveLength(4);
    expect(server.requests).toHaveLength(1);
  },
);

test("in text a cancelled run says so on stderr and nothing on stdout", async () => {
  const server = await modelServer([toolCalls([bash("sleep 1000")])]);
  const place = newPlace();
  const program = startProgram(["run", "hello"], { place, env: openAIEnv(server) });
  await eventually(() => processesIn(place.workDir).some((line) => line.startsWith("sleep")));
  program.child.kill("SIGINT");
  expect(await program.ended).toEqual({ exitCode: 130, stdout: "", stderr: "harness9: interrupted\n" });
});

test("a second signal ends the program at once, and its children", async () => {
  const server = await modelServer([
    toolCalls([bash("trap 'echo stopping' TERM; echo ready; while :; do sleep 0.05; done")]),
  ]);
  const place = newPlace();
  const program = start(place, server.origin);
  await program.said('"text":"ready');
  program.child.kill("SIGINT");
  await program.said("stopping\\n");
  program.child.kill("SIGINT");
  const ended = await program.ended;
  expect(ended).toMatchObject({ exitCode: 130 });
  // The first one alone would have waited for the command, and told how it ended.
  expect(ended.stdout).not.toContain("run.completed");
  await eventually(() => processesIn(place.workDir).length === 0);
});

test("SIGINT while the model is silent, and while it speaks, ends the request", async () => {
  for (const chunks of [[], ['data: {"choices":[{"index":0,"delta":{"content":"Well"}}]}\n\n']]) {
    const server = await modelServer([{ chunks, end: "open" }]);
    const place = newPlace();
    const program = start(place, server.origin);
    await (chunks.length > 0 ? program.said("Well") : eventually(() => server.requests.length > 0));
    program.child.kill("SIGINT");
    const ended = await program.ended;
    await server.cut;
    expect(ended).toMatchObject({ exitCode: 130, stderr: "" });
    expect(readEvents(ended.stdout).at(-1)).toMatchObject({ type: "run.completed", reason: "cancelled" });
    expect(lastLine(readLog(place))).toContain("reason=cancelled");
  }
});

test("SIGINT during a retry's wait ends the wait", async () => {
  const server = await modelServer([{ status: 503, headers: { "retry-after": "100" } }]);
  const place = newPlace();
  const program = start(place, server.origin);
  await program.said("provider.retrying");
  program.child.kill("SIGINT");
  const ended = await program.ended;
  expect(ended).toMatchObject({ exitCode: 130, stderr: "" });
  expect(readEvents(ended.stdout).at(-1)).toMatchObject({ type: "run.completed", reason: "cancelled" });
  expect(server.requests).toHaveLength(1);
});

test.each(SIGNALS)(
  "%s while standard input is awaited exits with %i and one final result",
  async (signal, exitCode) => {
    const server = await modelServer([{ chunks: [], end: "open" }]);
    const place = newPlace();
    const program = startProgram(["run", "--output-format", "events"], {
      place,
      env: openAIEnv(server),
      stdin: "open",
    });
    program.child.stdin?.write("the beginning of");
    await awaitsInput(program);
    program.child.kill(signal);
    const ended = await program.ended;
    expect(ended).toMatchObject({ exitCode, stderr: "" });
    expect(readEvents(ended.stdout)).toEqual([
      expect.objectContaining({ type: "run.completed", seq: 1, reason: "cancelled" }),
    ]);
    expect(server.requests).toEqual([]);
  },
);

/** Resolves when the program handles signals and has read what there was. */
const awaitsInput = async ({ pid }: RunningProgram): Promise<void> => {
  const SIGHUP_SIGINT_SIGTERM = 0x4003n;
  await eventually(() => {
    const caught = readFileSync(`/proc/${pid}/status`, "utf8").match(/^SigCgt:\s*([0-9a-f]+)/m)?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & SIGHUP_SIGINT_SIGTERM) === SIGHUP_SIGINT_SIGTERM;
  });
};

test("SIGINT while a server is asked for its models ends the wait", async () => {
  const server = await modelServer([{ chunks: [], end: "open" }]);
  const place = newPlace();
  const { OPENAI_MODEL: _, ...env } = openAIEnv(server);
  const program = startProgram(["run", "hello"], { place, env });
  await eventually(() => server.requests.length > 0);
  expect(server.requests[0]?.url).toBe("/v1/models");
  program.child.kill("SIGINT");
  expect(await program.ended).toEqual({ exitCode: 130, stdout: "", stderr: "harness9: interrupted\n" });
});

test("a background process that outlives its command ends with the run, and the run says so", async () => {
  const server = await modelServer([
    toolCalls([bash("sleep 1000 & echo started")]),
    { chunks: ['data: {"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}\n\n'] },
  ]);
  const place = newPlace();
  const program = startProgram(["run", "hello"], { place, env: openAIEnv(server) });
  expect(await program.ended).toEqual({
    exitCode: 0,
    stdout: "Done.\n",
    stderr: "harness9: ended 1 command that still ran in the background\n",
  });
  expect(processesIn(place.workDir)).toEqual([]);
});
