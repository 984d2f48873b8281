import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cassette, newProject } from "../helpers/cassettes.ts";
import { say, takesAnswers } from "../helpers/chat.ts";
import { type Place, readEvents, runProgram, sessionFolder } from "../helpers/program.ts";
import { startChat } from "../helpers/terminal.ts";

const run = (place: Place, name: string, ...args: readonly string[]) =>
  runProgram(["run", ...args, "--answers", cassette(name)], { place });

describe("--answers", () => {
  test("the recorded model's calls are carried out for real", async () => {
    const place = newProject();
    const args = ["why does node test.mjs fail? mend it", "--output-format", "events"];
    const { exitCode, stdout } = await run(place, "mended", ...args);
    const events = readEvents(stdout);
    expect(exitCode).toBe(0);
    expect(readFileSync(join(place.workDir, "sum.mjs"), "utf8")).toBe("export const sum = (a, b) => a + b;\n");
    const results = events.flatMap((event) => (event.type === "tool.completed" ? [event.toolCallId] : []));
    expect(results.toSorted()).toEqual(["again_1", "edit_1", "read_1", "run_1", "run_2"]);
    const recorded = readEvents(readFileSync(cassette("mended"), "utf8"));
    const deltas = (all: typeof events) => all.flatMap((event) => (event.type === "text.delta" ? [event.text] : []));
    expect(deltas(events)).toEqual(deltas(recorded));
    expect(events[0]).toMatchObject({ type: "run.started", provider: "openai", model: "test-model" });
  });

  test.each([
    ["refused", 54],
    ["retried", 0],
    ["no-key", 41],
    ["turns", 53],
  ])("a run ends as it was recorded: %s", async (name, expected) => {
    const { exitCode, stderr } = await run(newProject(), name, "hello", "--max-turns", "2");
    expect([exitCode, stderr]).toEqual([expected, expect.not.stringContaining("    at ")]);
  });

  test("the thinking of two stages is given again", async () => {
    const { stdout } = await run(newProject(), "thought", "hello", "--thinking", "two-stage");
    expect(stdout).toBe("Hello!\n");
  });

  test("says where the run departs from the recording, and goes on", async () => {
    const { exitCode, stdout, stderr } = await run(newProject(), "retried", "tell me something else");
    expect([exitCode, stdout]).toEqual([0, "All of it.\n"]);
    expect(stderr).toContain("request 1 differs from the recorded one");
  });

  test("a run that asks for more than was recorded ends with that", async () => {
    const { exitCode, stderr } = await run(newProject(), "turns", "count");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("the recorded answers are used up")]);
  });

  test("come from a session's journal as well", async () => {
    const place = newProject();
    await run(place, "retried", "tell me all");
    const [journal = ""] = readFolder(place);
    const { stdout } = await runProgram(["run", "tell me all", "--answers", journal], { place });
    expect(stdout).toBe("All of it.\n");
  });

  test.each([
    ["a file that is none", "sum.mjs", "is neither a recording nor the journal of a session"],
    ["no file", "./nothing.jsonl", "there is no file and no session"],
  ])("cannot come from %s", async (_name, file, message) => {
    const { exitCode, stderr } = await runProgram(["run", "hello", "--answers", file], { place: newProject() });
    expect([exitCode, stderr]).toEqual([42, expect.stringContaining(message)]);
  });

  test("are a model in the chat too, whose questions a person answers", async () => {
    const place = newProject();
    const terminal = startChat(["--answers", cassette("chat")], { place });
    await terminal.waitFor(/^ {2}ask\b/m);
    say(terminal, "what does the test say?");
    await terminal.waitFor(takesAnswers);
    terminal.send("y");
    await terminal.waitFor("● It says that sum(1, 2) is not 3.");
    expect(terminal.all()).toContain("exit 1");
    expect(terminal.all()).not.toContain("differs from the recorded one");
  });
});

const readFolder = (place: Place): readonly string[] =>
  readdirSync(sessionFolder(place))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(sessionFolder(place), name));
