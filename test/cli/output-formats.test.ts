import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { anthropicAnswer, modelServer, openAIAnswer, sse } from "../helpers/model-server.ts";
import {
  anthropicEnv,
  bash,
  jsonLines,
  newPlace,
  openAIEnv,
  put,
  readEvents,
  runProgram,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";
import { processesIn } from "../helpers/run-bash.ts";

const SERVERS = [
  { dialect: "openai", answer: openAIAnswer("The answer."), env: openAIEnv },
  { dialect: "anthropic", answer: anthropicAnswer("The answer."), env: anthropicEnv },
] as const;

test.each(SERVERS)("text: only the answer on stdout and nothing on stderr ($dialect)", async ({ answer, env }) => {
  const server = await modelServer([answer]);
  const ended = await runProgram(["run", "hello"], { place: newPlace(), env: env(server) });
  expect(ended).toEqual({ exitCode: 0, stdout: "The answer.\n", stderr: "" });
});

test("text: what is said between tool calls is not the answer, and comes on stderr only when asked for", async () => {
  const script = () => [
    { ...toolCalls([bash("echo hi")]), chunks: chunksWithText("Let me look.") },
    openAIAnswer("Done.\n"),
  ];
  const [server, other] = [await modelServer(script()), await modelServer(script())];
  const quiet = await runProgram(["run", "hello"], { place: newPlace(), env: openAIEnv(server) });
  expect(quiet).toEqual({ exitCode: 0, stdout: "Done.\n", stderr: "" });

  const loud = await runProgram(["run", "--verbose", "hello"], { place: newPlace(), env: openAIEnv(other) });
  expect(loud.stdout).toBe("Done.\n");
  expect(loud.stderr.replace(/ — .*/, " — time")).toBe(
    "harness9: openai/test-model: price and context window are unknown\n● Let me look.\n… bash echo hi\n✓ bash echo hi — time\n",
  );
});

const chunksWithText = (text: string): readonly string[] => {
  const [first = "", ...rest] = toolCalls([bash("echo hi")]).chunks as readonly string[];
  return [first.replace('"tool_calls":', `"content":${JSON.stringify(text)},"tool_calls":`), ...rest];
};

test("json: one object, the result of the envelope", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const server = await modelServer([toolCalls([bash("echo hi")]), openAIAnswer("Done.", "stop", usage)]);
  const ended = await runProgram(["run", "--output-format", "json", "hello"], {
    place: newPlace(),
    env: openAIEnv(server),
  });
  expect({ ...ended, stdout: jsonLines(ended.stdout) }).toEqual({
    exitCode: 0,
    stderr: "",
    stdout: [
      {
        type: "result",
        subtype: "success",
        is_error: false,
        result: "Done.",
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        session_id: expect.stringMatching(/^\d{8}-\d{6}-[0-9a-z]{4}$/),
        duration_ms: expect.any(Number),
        duration_api_ms: expect.any(Number),
        num_turns: 2,
        stop_reason: "end_turn",
        total_cost_usd: null,
        usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
        modelUsage: {
          "test-model": {
            inputTokens: 10,
            outputTokens: 5,
            cacheReadInputTokens: 0,
            cacheCreationInputTokens: 0,
            costUSD: null,
            contextWindow: null,
          },
        },
        permission_denials: [],
      },
    ],
  });
});

test("stream-json: init, assistant, user and one result, all of one session", async () => {
  const server = await modelServer([toolCalls([bash("echo hi"), ["nope", {}]]), openAIAnswer("Done.")]);
  const place = newPlace();
  const ended = await runProgram(["run", "--output-format", "stream-json", "hello"], { place, env: openAIEnv(server) });
  const lines = jsonLines(ended.stdout);
  expect(lines.map(({ type, subtype }) => [type, subtype])).toEqual([
    ["system", "init"],
    ["assistant", undefined],
    ["user", undefined],
    ["user", undefined],
    ["assistant", undefined],
    ["result", "success"],
  ]);
  expect(new Set(lines.map((line) => line["session_id"])).size).toBe(1);
  expect(new Set(lines.map((line) => line["uuid"])).size).toBe(lines.length);
  expect(lines[0]).toMatchObject({
    cwd: place.workDir,
    model: "test-model",
    permissionMode: "auto",
    tools: ["read_file", "write_file", "edit_file", "bash", "memory_read", "memory_write"],
    mcp_servers: [],
  });
  expect(lines[1]?.["message"]).toMatchObject({
    role: "assistant",
    stop_reason: "tool_use",
    content: [
      { type: "tool_use", id: "call_1", name: "bash", input: { command: "echo hi" } },
      { type: "tool_use", id: "call_2", name: "nope", input: {} },
    ],
  });
  const results = lines.slice(2, 4).flatMap((line) => (line["message"] as { content: object[] }).content);
  expect(results).toContainEqual({ type: "tool_result", tool_use_id: "call_1", content: "hi\n", is_error: false });
  expect(results).toContainEqual(expect.objectContaining({ tool_use_id: "call_2", is_error: true }));
});

test("events: numbered from 1, timed, and run.completed is the one last line", async () => {
  const server = await modelServer([toolCalls([bash("echo hi")]), openAIAnswer("Done.")]);
  const place = newPlace();
  const ended = await runProgram(["run", "--output-format", "events", "hello"], { place, env: openAIEnv(server) });
  const events = readEvents(ended.stdout);
  expect(ended.stderr).toBe("");
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  for (const { time } of events) expect(new Date(time).toISOString()).toBe(time);
  expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(events.map(({ type }) => type).filter((type) => type !== "tool.progress")).toEqual([
    "run.started",
    "input.added",
    "turn.started",
    "phase.started",
    "message.completed",
    "usage.updated",
    "tool.started",
    "permission.resolved",
    "tool.completed",
    "observations.added",
    "turn.started",
    "phase.started",
    "text.delta",
    "message.completed",
    "usage.updated",
    "run.completed",
  ]);
  expect(events.at(-1)).toMatchObject({ reason: "completed", text: "Done.", turns: 2, permissionDenials: [] });
});

test("the other dialect runs tools as well: one answer a call, in order, then the end", async () => {
  const call = (index: number, command: string): readonly unknown[] => [
    {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `t${index}`, name: "bash", input: {} },
    },
    {
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json: JSON.stringify({ command }) },
    },
    { type: "content_block_stop", index },
  ];
  const chunks = sse(
    { type: "message_start", message: { content: [], usage: { input_tokens: 25, output_tokens: 1 } } },
    ...call(0, "sleep 0.3; echo slow"),
    ...call(1, "echo quick"),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 15 } },
    { type: "message_stop" },
  );
  const server = await modelServer([{ chunks }, anthropicAnswer("Done.")]);
  const ended = await runProgram(["run", "--output-format", "events", "hello"], {
    place: newPlace(),
    env: anthropicEnv(server),
  });
  const events = readEvents(ended.stdout);
  expect(events.at(-1)).toMatchObject({ type: "run.completed", reason: "completed", text: "Done.", turns: 2 });
  expect(events.flatMap((event) => (event.type === "tool.completed" ? event.toolCallId : []))).toEqual(["t1", "t0"]);
  const second = server.requests[1]?.body as { messages: { content: object[] }[] } | undefined;
  expect(second?.messages.at(-1)?.content).toEqual([
    expect.objectContaining({ type: "tool_result", tool_use_id: "t0" }),
    expect.objectContaining({ type: "tool_result", tool_use_id: "t1" }),
  ]);
});

test("a run that cannot start has exactly one final result in every format, and says why on stderr in text", async () => {
  const failures = [
    { args: ["--provider", "openai"], exitCode: 41, kind: "auth", says: "OPENAI_API_KEY" },
    { args: ["-C", "missing"], exitCode: 42, kind: "input", says: "missing" },
    {
      args: ["--config", put(newPlace().home, "c.json", '{\n "maxTurns": 0\n}')],
      exitCode: 52,
      kind: "config",
      says: "maxTurns",
    },
  ] as const;
  await Promise.all(
    failures.map(async ({ args, exitCode, kind, says }) => {
      const place = newPlace();
      const run = (format: string) => runProgram(["run", "--output-format", format, ...args, "hello"], { place });
      const [text, json, stream, events] = await Promise.all(["text", "json", "stream-json", "events"].map(run));
      expect(text).toEqual({ exitCode, stdout: "", stderr: expect.stringContaining(says) });
      for (const ended of [json, stream]) {
        expect({ ...ended, stdout: jsonLines(ended?.stdout ?? "") }).toEqual({
          exitCode,
          stderr: "",
          stdout: [
            expect.objectContaining({
              type: "result",
              subtype: "error_during_execution",
              is_error: true,
              num_turns: 0,
              errors: [expect.stringContaining(says)],
            }),
          ],
        });
      }
      expect({ ...events, stdout: readEvents(events?.stdout ?? "") }).toEqual({
        exitCode,
        stderr: "",
        stdout: [
          expect.objectContaining({
            type: "run.completed",
            seq: 1,
            reason: "error",
            error: expect.objectContaining({ kind, message: expect.stringContaining(says) }),
          }),
        ],
      });
    }),
  );
});

test("a reader that goes while lines still come ends the run quietly, and no child is left", async () => {
  const server = await modelServer([
    toolCalls([bash("sleep 1000 & for i in $(seq 100); do echo $i; sleep 0.1; done")]),
    openAIAnswer("Done."),
  ]);
  const place = newPlace();
  const program = startProgram(["run", "--output-format", "events", "hello"], { place, env: openAIEnv(server) });
  await program.said("tool.started");
  program.child.stdout?.destroy();
  expect(await program.ended).toMatchObject({ exitCode: 0, stderr: "" });
  expect(processesIn(place.workDir)).toEqual([]);
  expect(server.requests).toHaveLength(1);
});

test.skipIf(process.platform !== "linux")("a standard output that is full is a failure, and says so", async () => {
  const server = await modelServer([openAIAnswer("The answer.")]);
  const full = openSync("/dev/full", "w");
  const options = { place: newPlace(), env: openAIEnv(server), stdout: full };
  const commands = [
    ["run", "hello"],
    ["run", "--output-format", "events", "hello"],
    ["run", "--output-format", "json", "hello"],
    ["tools"],
  ];
  for (const ended of await Promise.all(commands.map((command) => runProgram(command, options))))
    expect(ended).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "harness9: stdout: ENOSPC: no space left on device, write\n",
    });
  closeSync(full);
});

test("a command line that cannot be understood has its one final result in JSON, too", async () => {
  const place = newPlace();
  const [json, events, text] = await Promise.all([
    runProgram(["run", "--output-format", "json", "--nonsense", "hello"], { place }),
    runProgram(["run", "--output-format=events", "--max-turns"], { place }),
    runProgram(["run", "--nonsense", "hello"], { place }),
  ]);
  const words = "error: unknown option '--nonsense'";
  expect(jsonLines(json.stdout)).toMatchObject([{ type: "result", is_error: true, errors: [words] }]);
  expect(jsonLines(events.stdout)).toMatchObject([
    { type: "run.completed", reason: "error", error: { kind: "input" } },
  ]);
  expect([json.exitCode, events.exitCode, text.exitCode]).toEqual([2, 2, 2]);
  expect([text.stdout, text.stderr]).toEqual(["", `${words}\n`]);
});
