import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { type Answer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { newPlace, openAIEnv, type Place, put, readEvents, runProgram } from "../helpers/program.ts";

const USAGE = { prompt_tokens: 400, completion_tokens: 10 };
const DONE = openAIAnswer("Done.", "stop", USAGE);

const place = (): Place => {
  const made = newPlace();
  const models = { "openai/test-model": { prices: { input: 1000, output: 0 } } };
  put(made.home, ".harness9/config.json", JSON.stringify({ models }));
  return made;
};

const running = async (where: Place, answer: Answer, ...args: readonly string[]) => {
  const server = await modelServer([answer]);
  const ended = await runProgram(["run", "--output-format", "events", ...args, "go"], {
    place: where,
    env: openAIEnv(server),
  });
  const events = readEvents(ended.stdout);
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  const end = events.at(-1) as EngineEvent<"run.completed">;
  return { ...ended, notices, end, requests: server.requests.length };
};

test("most of a budget is a notice; a run that goes on with a session counts what that has spent", async () => {
  const where = place();
  const first = await running(where, DONE, "--max-cost", "0.5");
  expect([first.exitCode, first.notices]).toEqual([0, ["80% of the budget is used: $0.4 of $0.5"]]);
  const second = await running(where, DONE, "-c", "--max-cost", "0.5");
  expect([second.exitCode, second.notices]).toEqual([0, ["160% of the budget is used: $0.8 of $0.5"]]);
  const third = await running(where, DONE, "-c", "--max-cost", "0.5");
  expect([third.exitCode, third.requests, third.end.reason, third.end.error?.message]).toEqual([
    55,
    0,
    "budget",
    "reached the cost limit ($0.5), stopped",
  ]);
  const other = await running(where, DONE, "--max-cost", "0.5");
  expect([other.exitCode, other.requests]).toEqual([0, 1]);
  const tokens = await running(where, DONE, "-c", "--max-tokens", "410");
  expect([tokens.exitCode, tokens.end.error?.message]).toEqual([55, "reached the token budget (410), stopped"]);
});

test("a run that failed before its first answer leaves the session's cost known", async () => {
  const where = place();
  expect((await running(where, { status: 400, chunks: ["{}"] })).exitCode).toBe(1);
  const next = await running(where, DONE, "-c", "--max-cost", "0.41");
  expect([next.exitCode, next.stderr, next.notices]).toEqual([0, "", ["97% of the budget is used: $0.4 of $0.41"]]);
});

test("a cost that is not known is said before the first request, and the budget counts from there", async () => {
  const where = place();
  expect((await running(where, DONE, "-m", "other-model")).exitCode).toBe(0);
  const next = await running(where, DONE, "-c", "-m", "test-model", "--max-cost", "1");
  expect(next.exitCode).toBe(0);
  expect(next.stderr).toContain("what this session has cost before is not known: the cost budget counts from here on");
});

test("a server without figures: an estimate counts, and that is said", async () => {
  const where = place();
  const ended = await running(where, openAIAnswer("Done."), "--max-tokens", "100000");
  expect([ended.exitCode, ended.notices]).toEqual([
    0,
    ["the server gives no token figures: the budget counts an estimate"],
  ]);
  const small = await running(where, openAIAnswer("Done.", "length"), "--max-tokens", "10");
  expect(small.notices).toContainEqual(expect.stringContaining("of the budget is used"));
});
