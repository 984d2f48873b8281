import { execFileSync } from "node:child_process";
import { mkdirSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  type Ended,
  jsonLines,
  newPlace,
  openAIEnv,
  type Place,
  put,
  runProgram,
  toolCalls,
} from "../helpers/program.ts";

const run = async (args: readonly string[], answers: readonly Answer[], place: Place = newPlace()): Promise<Ended> => {
  const server = await modelServer(answers);
  return runProgram(["run", ...args, "hello"], { place, env: openAIEnv(server) });
};

const result = ({ stdout }: Ended): Readonly<Record<string, unknown>> => {
  const lines = jsonLines(stdout);
  expect(lines).toHaveLength(1);
  return lines[0] ?? {};
};

const USAGE = { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1000 };

test("--output writes the answer to a file as well, as it is printed", async () => {
  const place = newPlace();
  const old = put(place.workDir, "old.txt", "a much longer text than the answer");
  const fifo = join(place.workDir, "fifo");
  execFileSync("mkfifo", [fifo]);
  const reader = openSync(fifo, "r+");
  const [fresh, replaced, device] = await Promise.all([
    run(["-o", "answer.txt"], [openAIAnswer("The \x1b[31manswer.")], place),
    run(["--output", old, "--output-format", "json"], [openAIAnswer("The answer.")], place),
    run(["-o", "fifo"], [openAIAnswer("The answer.")], place),
  ]);
  expect(fresh).toEqual({ exitCode: 0, stdout: "The answer.\n", stderr: "" });
  expect(replaced).toMatchObject({ exitCode: 0, stderr: "" });
  expect(device).toMatchObject({ exitCode: 0, stderr: "" });
  const received = Buffer.alloc(100);
  expect(received.toString("utf8", 0, readSync(reader, received))).toBe("The answer.\n");
  expect(readFileSync(join(place.workDir, "answer.txt"), "utf8")).toBe("The answer.\n");
  expect(readFileSync(old, "utf8")).toBe("The answer.\n");
  expect(readdirSync(place.workDir).sort()).toEqual(["answer.txt", "fifo", "old.txt"]);
});

test("an --output that cannot be written is said before the model is asked", async () => {
  const place = newPlace();
  mkdirSync(join(place.workDir, "folder"));
  const server = await modelServer([openAIAnswer("Done.")]);
  const options = { place, env: openAIEnv(server) };
  const rows = await Promise.all(
    ["folder", "missing/answer.txt", "/proc/self/nothing/x"].map((path) =>
      runProgram(["run", "-o", path, "hi"], options),
    ),
  );
  for (const row of rows)
    expect(row).toEqual({ exitCode: 42, stdout: "", stderr: expect.stringContaining("cannot write") });
  expect(server.requests).toEqual([]);
});

test("a run that gives no answer leaves the --output file as it was", async () => {
  const place = newPlace();
  const old = put(place.workDir, "old.txt", "kept");
  const ended = await run(["-o", old, "--max-turns", "1"], [toolCalls([bash("true")])], place);
  expect(ended.exitCode).toBe(53);
  expect(readFileSync(old, "utf8")).toBe("kept");
});

test("an --output that fails at the end is an error, and the file keeps its old content", async () => {
  const place = newPlace();
  put(place.workDir, "folder/old.txt", "kept");
  const answers = [toolCalls([bash("mv folder elsewhere")]), openAIAnswer("Done.")];
  const ended = await run(["-o", "folder/old.txt"], answers, place);
  expect(ended).toEqual({ exitCode: 1, stdout: "Done.\n", stderr: expect.stringContaining("cannot write") });
  expect(readFileSync(join(place.workDir, "elsewhere/old.txt"), "utf8")).toBe("kept");
});

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { count: { type: "integer" } },
  required: ["count"],
  additionalProperties: false,
});

test("--json-schema: an answer that fits is the structured output, also out of a code fence", async () => {
  const place = newPlace();
  put(place.workDir, "schema.json", SCHEMA);
  put(place.workDir, "draft7.json", SCHEMA.replace("{", '{"$schema":"http://json-schema.org/draft-07/schema#",'));
  const [text, json] = await Promise.all([
    run(["--json-schema", "schema.json", "-o", "out.json"], [openAIAnswer('```json\n{ "count": 3 }\n```')], place),
    run(["--json-schema", "draft7.json", "--output-format", "json"], [openAIAnswer('{"count": 3}')], place),
  ]);
  expect(text).toEqual({ exitCode: 0, stdout: '{"count":3}\n', stderr: "" });
  expect(readFileSync(join(place.workDir, "out.json"), "utf8")).toBe('{"count":3}\n');
  expect(result(json)).toMatchObject({ subtype: "success", structured_output: { count: 3 }, num_turns: 1 });
});

test("--json-schema: an answer that misses it is corrected, at most twice", async () => {
  const place = newPlace();
  put(place.workDir, "schema.json", SCHEMA);
  const args = ["--json-schema", "schema.json", "--output-format", "json"];
  const [corrected, never] = await Promise.all([
    run(args, [openAIAnswer("three"), openAIAnswer('{"count":"3"}'), openAIAnswer('{"count":3}')], place),
    run(args, [openAIAnswer('{"count":1.5}')], place),
  ]);
  expect(corrected.exitCode).toBe(0);
  expect(result(corrected)).toMatchObject({ subtype: "success", structured_output: { count: 3 }, num_turns: 3 });
  expect(never.exitCode).toBe(1);
  expect(result(never)).toMatchObject({
    subtype: "error_max_structured_output_retries",
    is_error: true,
    num_turns: 3,
    errors: [expect.stringContaining("/count: must be integer")],
  });
});

test("--json-schema: a schema that cannot be used is an input error", async () => {
  const place = newPlace();
  put(place.workDir, "list.json", "[]");
  put(place.workDir, "broken.json", "{");
  put(place.workDir, "wrong.json", '{"type":"nonsense"}');
  put(place.workDir, "remote.json", '{"$ref":"https://example.com/schema.json"}');
  const names = ["list.json", "broken.json", "wrong.json", "remote.json", "missing.json", "."];
  const rows = await Promise.all(names.map((name) => run(["--json-schema", name], [openAIAnswer("{}")], place)));
  for (const row of rows)
    expect(row).toEqual({ exitCode: 42, stdout: "", stderr: expect.stringContaining("--json-schema") });
});

test("--max-turns ends a run that goes on with 53", async () => {
  const args = ["--max-turns", "2"];
  const [text, json] = await Promise.all([
    run(args, [toolCalls([bash("date +%N")])]),
    run([...args, "--output-format", "json"], [toolCalls([bash("date +%N")])]),
  ]);
  expect(text).toEqual({ exitCode: 53, stdout: "", stderr: "harness9: reached the turn limit (2), stopped\n" });
  expect(json.exitCode).toBe(53);
  expect(result(json)).toMatchObject({ subtype: "error_max_turns", is_error: true, num_turns: 2 });
});

test("--max-tokens and --max-cost end a run with 55", async () => {
  const place = newPlace();
  put(
    place.home,
    ".harness9/config.json",
    JSON.stringify({ models: { "openai/test-model": { prices: { input: 10, output: 10 } } } }),
  );
  const answers = [{ ...openAIAnswer(call("echo 1"), "tool_calls", USAGE) }];
  const [tokens, cost] = await Promise.all([
    run(["--max-tokens", "1000", "--output-format", "json"], answers),
    run(["--max-cost", "0.01", "--output-format", "json"], answers, place),
  ]);
  for (const ended of [tokens, cost]) {
    expect(ended.exitCode).toBe(55);
    expect(result(ended)).toMatchObject({ subtype: "error_max_budget_usd", is_error: true, num_turns: 1 });
  }
  expect(result(cost)).toMatchObject({ total_cost_usd: 0.01 });
});

const call = (command: string): object => ({
  tool_calls: [{ index: 0, id: "call_1", function: { name: "bash", arguments: JSON.stringify({ command }) } }],
});

test("--max-cost with an unknown price ends with 52 and says how to give prices", async () => {
  const ended = await run(["--max-cost", "1"], [openAIAnswer("Done.")]);
  expect(ended).toEqual({
    exitCode: 52,
    stdout: "",
    stderr:
      "harness9: the price of openai/test-model is unknown, so --max-cost cannot work\n" +
      'Give prices (US dollars per million tokens) in the config: "models": {"openai/test-model": {"prices": {"input": 1, "output": 2}}}\n',
  });
});

test("--max-time ends a run in a tool and while it waits for the model with 55, and no child is left", async () => {
  const [tool, model] = await Promise.all([
    run(["--max-time", "1s"], [toolCalls([bash("sleep 1000")])]),
    run(["--max-time", "1s"], [{ chunks: [], end: "open" }]),
  ]);
  for (const ended of [tool, model])
    expect(ended).toEqual({ exitCode: 55, stdout: "", stderr: "harness9: reached the time limit (1s), stopped\n" });
});

test("limits that are no limits are refused, with their name", async () => {
  const rows = await Promise.all(
    [
      ["--max-turns", "0"],
      ["--max-turns", "many"],
      ["--max-cost", "-1"],
      ["--max-tokens", "1.5"],
      ["--max-time", "10 parsecs"],
      ["--thinking", "hard"],
      ["--permission-mode", "wild"],
    ].map((args) => run(args, [openAIAnswer("Done.")])),
  );
  for (const row of rows) {
    expect(row).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^harness9: .*(max|thinking|permission)/) });
    expect([2, 52]).toContain(row.exitCode);
  }
});

test("a call that nobody can confirm ends a run with 54, unless a later one succeeds", async () => {
  const guarded = toolCalls([bash("rm -rf /")]);
  const [blocked, recovered, json] = await Promise.all([
    run([], [guarded, openAIAnswer("I could not.")]),
    run([], [guarded, toolCalls([bash("true")]), openAIAnswer("I found a way.")]),
    run(["--output-format", "json"], [guarded, openAIAnswer("I could not.")]),
  ]);
  expect(blocked).toEqual({ exitCode: 54, stdout: "I could not.\n", stderr: expect.stringContaining("bash") });
  expect(recovered).toEqual({ exitCode: 0, stdout: "I found a way.\n", stderr: "" });
  expect(json.exitCode).toBe(54);
  expect(result(json)).toMatchObject({
    is_error: true,
    permission_denials: [{ tool_name: "bash", tool_use_id: "call_1", tool_input: { command: "rm -rf /" } }],
  });
});

test("a call that is repeated with the same result ends a run with 1", async () => {
  const ended = await run([], [toolCalls([bash("echo same")])]);
  expect(ended).toEqual({ exitCode: 1, stdout: "", stderr: expect.stringContaining("repeated 5 times") });
});

test("two hundred turns and eight calls at once finish, and the memory stays flat", async () => {
  const peak = async (turns: number): Promise<number> => {
    const place = newPlace();
    put(place.workDir, "long.txt", "0123456789\n".repeat(500));
    const server = await modelServer((_request, count) => {
      const read = ["read_file", { path: "long.txt", offset: count }] as const;
      if (count < turns) return toolCalls([count % 4 === 0 ? bash(`printf %04000d ${count}`) : read], `turn_${count}`);
      if (count === turns)
        return toolCalls(
          Array.from({ length: 7 }, (_, index) => bash(`echo ${index}`)).concat([
            bash("grep VmHWM /proc/$PPID/status > peak; true"),
          ]),
        );
      return openAIAnswer("Done.");
    });
    const ended = await runProgram(["run", "--max-turns", "250", "--output-format", "json", "hello"], {
      place,
      // The command looks at its parent.
      env: { ...openAIEnv(server), HARNESS9_SANDBOX: "off" },
    });
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(result(ended)).toMatchObject({ num_turns: turns + 1 });
    return Number(readFileSync(join(place.workDir, "peak"), "utf8").match(/\d+/)?.[0]);
  };
  const [few = 0, many = 0] = await Promise.all([peak(30), peak(200)]);
  expect(few).toBeGreaterThan(10_000);
  // In KiB: the history itself grows by 700 KB, and each request holds it.
  expect(many - few).toBeLessThan(60_000);
}, 60_000);
