import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { newProject } from "../helpers/cassettes.ts";
import { openChat, say, takesAnswers } from "../helpers/chat.ts";
import { anthropicAnswer, modelServer, openAIAnswer, sse } from "../helpers/model-server.ts";
import { anthropicEnv, bash, openAIEnv, type Place, runProgram, toolCalls } from "../helpers/program.ts";
import { KEYS } from "../helpers/terminal.ts";

/*
 * Makes the cassettes anew, from loopback servers that play a model: RECORD_CASSETTES=1 npx vitest run test/cassettes.
 * Look at what has changed in them and in the frames before you commit it.
 */

const USAGE = { prompt_tokens: 1200, completion_tokens: 80, prompt_tokens_details: { cached_tokens: 1000 } };

/** Puts a recording beside this file, without the places of the machine that made it. */
const keep = (name: string, recording: string, { home, workDir }: Place): void => {
  const text = readFileSync(recording, "utf8")
    .replaceAll(workDir, "/home/you/project")
    .replaceAll(home, "/home/you")
    .replaceAll(homedir(), "/home/you")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080")
    .replaceAll(/sessions\/project-[0-9a-f]{8}/g, "sessions/project-00000000");
  writeFileSync(fileURLToPath(new URL(`${name}.jsonl`, import.meta.url)), text);
};

describe.runIf(process.env["RECORD_CASSETTES"])("records", () => {
  const run = async (name: string, place: Place, env: Readonly<Record<string, string>>, args: readonly string[]) => {
    const recording = join(place.home, "recording.jsonl");
    const ended = await runProgram(["run", ...args, "--record", recording], { place, env });
    keep(name, recording, place);
    return ended.exitCode;
  };

  test("a bug that is found and mended", async () => {
    const server = await modelServer([
      {
        chunks: sse(
          ...["I run the ", "test ", "first.\n"].map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
          {
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: ["node test.mjs", "ls"].map((command, index) => ({
                    index,
                    id: `run_${index + 1}`,
                    type: "function",
                    function: { name: "bash", arguments: JSON.stringify({ command }) },
                  })),
                },
              },
            ],
          },
          { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }], usage: USAGE },
          "[DONE]",
        ),
      },
      toolCalls([["read_file", { path: "sum.mjs" }]], "read"),
      toolCalls([["edit_file", { path: "sum.mjs", source_text: "a - b", target_text: "a + b" }]], "edit"),
      toolCalls([bash("node test.mjs")], "again"),
      openAIAnswer(
        "`sum` **subtracted**; it adds now, and the test passes:\n\n```js\nsum(1, 2); // 3\n```\n",
        "stop",
        USAGE,
      ),
    ]);
    const code = await run("mended", newProject(), openAIEnv(server), ["why does node test.mjs fail? mend it"]);
    expect(code).toBe(0);
  });

  test("a command that is refused", async () => {
    const server = await modelServer([
      toolCalls([bash("git push --force origin main")]),
      openAIAnswer("I may not force a push."),
    ]);
    expect(await run("refused", newProject(), openAIEnv(server), ["force the push"])).toBe(54);
  });

  test("a server that fails at first, in the middle of an answer too", async () => {
    const half = openAIAnswer("Half of it");
    const server = await modelServer([
      { status: 503, headers: { "content-type": "application/json" }, chunks: ['{"error":{"message":"busy"}}'] },
      { chunks: (half.chunks ?? []).slice(0, 1), end: "reset" },
      openAIAnswer("All of it.", "stop", USAGE),
    ]);
    expect(await run("retried", newProject(), openAIEnv(server), ["tell me all"])).toBe(0);
  });

  test("thinking in two stages", async () => {
    const server = await modelServer([
      anthropicAnswer("The person greets me; a greeting will do."),
      anthropicAnswer("Hello!"),
    ]);
    const code = await run("thought", newProject(), anthropicEnv(server), ["hello", "--thinking", "two-stage"]);
    expect(code).toBe(0);
  });

  test("a key that is refused", async () => {
    const message = "invalid x-api-key";
    const server = await modelServer([
      {
        status: 401,
        headers: { "content-type": "application/json" },
        chunks: [JSON.stringify({ type: "error", error: { type: "authentication_error", message } })],
      },
    ]);
    expect(await run("no-key", newProject(), anthropicEnv(server), ["hello"])).toBe(41);
  });

  test("as many turns as there may be", async () => {
    const server = await modelServer((_request, count) => toolCalls([bash(`echo ${count}`)], `turn_${count}`));
    expect(await run("turns", newProject(), openAIEnv(server), ["count", "--max-turns", "2"])).toBe(53);
  });

  test("a chat: a question, a command of the person's own, a message that waits, an interruption", async () => {
    const place = newProject();
    const recording = join(place.home, "recording.jsonl");
    const { terminal, model } = await openChat({
      place,
      settings: { sandbox: "off" },
      args: ["--record", recording],
    });
    say(terminal, "what does the test say?");
    const first = await model.next();
    first.send("I run it.");
    first.callTools(bash("node test.mjs"));
    first.finish({ input: 1200, output: 40, cached: 1000 });
    await terminal.waitFor(takesAnswers);
    terminal.send("y");
    const second = await model.next();
    second.answer("It says that `sum(1, 2)` is not 3.", { input: 1400, output: 20, cached: 1200 });
    await terminal.waitFor("is not 3.");
    await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
    say(terminal, "!echo mine");
    await terminal.waitFor("│ mine");
    say(terminal, "tell a long story");
    const third = await model.next();
    third.send("Once upon a time");
    await terminal.waitFor("Once upon a time");
    terminal.send(KEYS.escape);
    await third.abandoned;
    await terminal.waitFor(/interrupted/i);
    say(terminal, "/quit");
    await terminal.exited;
    keep("chat", recording, place);
  });
});
