import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inputText, openChat, say } from "../helpers/chat.ts";
import { modelServer, sse } from "../helpers/model-server.ts";
import {
  bash,
  jsonLines,
  KEY,
  newPlace,
  openAIEnv,
  type Place,
  put,
  readEvents,
  runProgram,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";

const fileIn = ({ home }: Place, name = "made.jsonl"): string => join(home, name);

const textDelta = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

describe("--record", () => {
  test("keeps all events as they were, deltas and progress too, closed to others", async () => {
    const place = newPlace();
    const server = await modelServer([
      toolCalls([bash("for i in 1 2 3; do echo $i; sleep 0.2; done")]),
      {
        chunks: sse(
          textDelta("Three "),
          textDelta("lines."),
          { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
          "[DONE]",
        ),
      },
    ]);
    const args = ["run", "count", "--output-format", "events", "--record", fileIn(place)];
    const { stdout, exitCode } = await runProgram(args, { place, env: openAIEnv(server) });
    const [head, ...events] = jsonLines(readFileSync(fileIn(place), "utf8"));
    expect([exitCode, events]).toEqual([0, readEvents(stdout)]);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([...events.map(({ type }) => type), "text.delta", "tool.progress"]),
    );
    expect(head).toEqual({
      type: "recording",
      version: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      harness9: expect.any(String),
      provider: "openai",
      model: "test-model",
      tools: expect.arrayContaining(["read_file", "write_file", "edit_file", "bash"]),
    });
    expect(statSync(fileIn(place)).mode & 0o777).toBe(0o600);
  });

  test("never writes over a file", async () => {
    const place = newPlace();
    const file = put(place.home, "made.jsonl", "mine\n");
    const { exitCode, stderr, stdout } = await runProgram(["run", "write a.txt: hi", "--record", file], { place });
    expect([exitCode, stdout, readFileSync(file, "utf8")]).toEqual([52, "", "mine\n"]);
    expect(stderr).toContain("is not written over");
    expect(existsSync(join(place.workDir, "a.txt"))).toBe(false);
  });

  test("ends before anything runs where it cannot be written", async () => {
    const place = newPlace();
    const { exitCode, stderr } = await runProgram(["run", "write a.txt: hi", "--record", "no/where.jsonl"], { place });
    expect(exitCode).toBe(52);
    expect(stderr).toContain(join(place.workDir, "no/where.jsonl"));
    expect(existsSync(join(place.workDir, "a.txt"))).toBe(false);
  });

  test("leaves nothing where the session cannot start", async () => {
    const place = newPlace();
    const args = ["run", "hello", "--provider", "openai", "--record", fileIn(place)];
    expect((await runProgram(args, { place })).exitCode).toBe(41);
    expect(existsSync(fileIn(place))).toBe(false);
  });

  test("keeps no key, however the model says it", async () => {
    const place = newPlace();
    const pieces = [KEY.slice(0, 3), KEY.slice(3, 9), KEY.slice(9), " and te", "st"];
    const server = await modelServer([
      toolCalls([bash(`echo ${KEY}`)]),
      {
        chunks: sse(...pieces.map(textDelta), { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]"),
      },
    ]);
    const args = ["run", `what is ${KEY}?`, "--record", fileIn(place)];
    await runProgram(args, { place, env: openAIEnv(server) });
    const recording = readFileSync(fileIn(place), "utf8");
    const said = jsonLines(recording).flatMap(({ type, text }) => (type === "text.delta" ? [text] : []));
    expect(recording).not.toContain(KEY);
    expect(said.join("")).toBe("[masked OPENAI_API_KEY] and test");
  });

  test("is usable after a kill in the middle of an answer", async () => {
    const place = newPlace();
    const half = { chunks: sse(textDelta("Once "), textDelta("upon ")), end: "open" } as const;
    const server = await modelServer([toolCalls([bash("echo one")]), half]);
    const args = ["run", "tell", "--output-format", "events", "--record", fileIn(place)];
    const running = startProgram(args, { place, env: openAIEnv(server) });
    await running.said("upon ");
    running.child.kill("SIGKILL");
    const { stdout } = await running.ended;
    const events = jsonLines(readFileSync(fileIn(place), "utf8")).slice(1);
    // What a front end has been given was written before.
    expect(events.slice(0, readEvents(stdout).length)).toEqual(readEvents(stdout));
    const replay = await runProgram(["replay", fileIn(place), "--output-format", "events"], { place });
    expect(replay.exitCode).toBe(42);
    expect(readEvents(replay.stdout).slice(0, -1)).toEqual(events);
  });

  test("in the chat keeps one session after the other", async () => {
    const place = newPlace();
    const { terminal, model } = await openChat({ place, args: ["--record", fileIn(place)] });
    for (const word of ["first", "second"]) {
      say(terminal, `the ${word} message`);
      (await model.next()).answer(`the ${word} answer`);
      await terminal.waitFor(`● the ${word} answer`);
      await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
      say(terminal, word === "first" ? "/clear" : "/quit");
      if (word === "first")
        await terminal.waitFor((shown) => /^› \/clear/m.test(shown.all()) && inputText(shown) === "");
    }
    await terminal.exited;
    const [, ...events] = jsonLines(readFileSync(fileIn(place), "utf8"));
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(2);
    const { stdout, exitCode } = await runProgram(["replay", fileIn(place)], { place });
    expect([exitCode, stdout]).toEqual([0, "the first answer\nthe second answer\n"]);
  });

  test("of a chat in which nothing was said leaves nothing", async () => {
    const place = newPlace();
    const { terminal } = await openChat({ place, args: ["--record", fileIn(place)] });
    say(terminal, "/quit");
    await terminal.exited;
    expect(existsSync(fileIn(place))).toBe(false);
  });
});
