import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, newPlace, openAIEnv, put, readLog, runProgram, toolCalls } from "../helpers/program.ts";
import { messagesOf, strictly } from "../helpers/strict-model.ts";

const WINDOW = 9000;
const MODELS = { "openai/test-model": { contextWindow: WINDOW } };

test("run compacts a full context by itself, tells of it as an event and in the log, and goes on in the next process", async () => {
  const place = newPlace();
  put(place.home, ".harness9/config.json", JSON.stringify({ models: MODELS }));
  let turn = 0;
  const strict = strictly((request) => {
    if (JSON.stringify(messagesOf(request).at(-1)).includes("Write a summary"))
      return openAIAnswer("## Intent\nGo on.");
    turn += 1;
    if (turn % 12 === 0) return openAIAnswer("Done.");
    return toolCalls([bash(`echo ${turn}; head -c 3000 /dev/zero | tr '\\0' x`)], `call_${turn}`);
  }, WINDOW);
  const server = await modelServer(strict.answer);
  const args = ["run", "--output-format", "events", "work on"];
  const { exitCode, stdout } = await runProgram(args, { place, env: openAIEnv(server) });
  expect(exitCode).toBe(0);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EngineEvent);
  const compacted = events.filter((event) => event.type === "context.compacted");
  expect(compacted.length).toBeGreaterThan(0);
  for (const { before, after } of compacted) expect(after.tokens).toBeLessThan(before.tokens);
  expect(readLog(place)).toContain("上下文已压缩 │ tokens=");

  const last = messagesOf(server.requests.at(-1) ?? { url: "", method: "", headers: {}, body: {} });
  await runProgram(["run", "-c", "and more"], { place, env: openAIEnv(server) });
  const next = server.requests.findIndex((request) => JSON.stringify(request.body).includes("and more"));
  const sent = messagesOf(server.requests[next] ?? { url: "", method: "", headers: {}, body: {} });
  expect(sent.slice(0, last.length)).toEqual(last);
  expect(strict.problems).toEqual([]);
});
