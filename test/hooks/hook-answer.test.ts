import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HookEvent } from "../../src/hooks/hook.ts";
import { readAnswer } from "../../src/hooks/hook-answer.ts";
import { type HookEnd, MAX_HOOK_OUTPUT_BYTES } from "../../src/hooks/run-hook.ts";
import { en } from "../../src/text/en.ts";

const strings = en.hooks;
const mask = (text: string) => text.replaceAll("secret-value", "[masked KEY]");

const read = (end: HookEnd, event: HookEvent = "tool.pre") => readAnswer(end, 10_000, { event, mask, strings });

const exited = (code: number, stdout: string, stderr = "", isCut = false): HookEnd => ({
  type: "exited",
  code,
  stdout: { text: stdout, isCut },
  stderr: { text: stderr, isCut: false },
});

const printed = (stdout: string, event?: HookEvent) => read(exited(0, stdout), event);
const failed = (problem: string) => ({ type: "failed", problem });

test.each([
  ["", { type: "passed" }],
  [" \n", { type: "passed" }],
  ["{}", { type: "passed" }],
  ['{"decision":"allow"}', { type: "passed" }],
  ['{"decision":"block","reason":"no"}', { type: "blocked", reason: "no" }],
  ['{"decision":"block"}', { type: "blocked", reason: strings.noReason }],
  ['{"decision":"block","reason":"no","context":"see"}', { type: "blocked", reason: "no", context: "see" }],
  ['{"decision":"ask","reason":"sure?"}', { type: "passed", question: "sure?" }],
  ['\n{"context":"mind the gap"}\n', { type: "passed", context: "mind the gap" }],
  ['{"arguments":{"a":1}}', { type: "passed", arguments: { a: 1 } }],
  ["fine, go on", { type: "passed", ignored: "fine, go on" }],
  ["[1]", { type: "passed", ignored: "[1]" }],
  ["{", failed(strings.notJson)],
  ['{"decision":"block"} trailing', failed(strings.notJson)],
  ['checking\n{"decision":"block"}', failed(strings.notAlone)],
])("before a tool, %j says %j", (stdout, expected) => {
  expect(printed(stdout)).toEqual(expected);
});

test.each(['{"decison":"block"}', '{"decision":"no"}', '{"decision":1}', '{"arguments":[1]}', '{"arguments":"x"}'])(
  "%s is no answer, so that a misspelt no is never a yes",
  (stdout) => {
    expect(printed(stdout)).toMatchObject({ type: "failed" });
  },
);

test.each([
  ["tool.post", '{"decision":"ask"}', 'decision "ask"'],
  ["prompt.submit", '{"arguments":{}}', "arguments"],
  ["stop", '{"context":"x"}', "context"],
  ["session.end", '{"decision":"ask","arguments":{},"context":"x"}', 'decision "ask", arguments, context'],
] as const)("%s does not take %s", (event, stdout, parts) => {
  expect(printed(stdout, event)).toEqual(failed(strings.notAtThisEvent(parts, event)));
});

test.each(["session.start", "prompt.submit"] as const)("at %s plain text is context, JSON or not", (event) => {
  expect(printed("the branch is main\n", event)).toEqual({ type: "passed", context: "the branch is main" });
  expect(printed("use this:\n{}", event)).toEqual({ type: "passed", context: "use this:\n{}" });
});

test("exit code 2 says no with the reason on standard error, whatever stands on standard output", () => {
  expect(read(exited(2, '{"decision":"allow"}', "not today\n"))).toEqual({ type: "blocked", reason: "not today" });
  expect(read(exited(2, ""))).toEqual({ type: "blocked", reason: strings.noReason });
});

describe("any other end is a failure", () => {
  test.each([
    [exited(1, '{"decision":"allow"}', "boom\n"), strings.exited(1, "boom")],
    [exited(127, "", ""), strings.exited(127, "")],
    [{ type: "timed-out" }, strings.timedOut(10)],
    [{ type: "killed", signal: "SIGSEGV" }, strings.killed("SIGSEGV")],
    [{ type: "not-started", reason: "ENOENT" }, strings.notStarted("ENOENT")],
    [exited(0, '{"decision":"allow"', "", true), strings.tooLong(MAX_HOOK_OUTPUT_BYTES)],
  ] satisfies [HookEnd, string][])("%j", (end, problem) => {
    expect(read(end)).toEqual(failed(problem));
  });
});

test("what it says is cleaned and shows no key; the arguments that will run stay as they are", () => {
  const text = "\u001b[31msecret-value\u001b[0m\u0007";
  expect(printed(JSON.stringify({ decision: "ask", reason: text, context: text, arguments: { text } }))).toEqual({
    type: "passed",
    question: "[masked KEY]",
    context: "[masked KEY]",
    arguments: { text },
  });
  expect(read(exited(2, "", text))).toEqual({ type: "blocked", reason: "[masked KEY]" });
});

test("no output and no exit code throws, and none but 0 lets a call pass", () => {
  const events = fc.constantFrom<HookEvent>(
    "tool.pre",
    "tool.post",
    "session.start",
    "session.end",
    "prompt.submit",
    "stop",
  );
  const outputs = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => `{"context":${json}}`),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 255 }), outputs, fc.string(), events, (code, stdout, stderr, event) => {
      const { type } = read(exited(code, stdout, stderr), event);
      expect(type).toBe(code === 0 ? type : code === 2 ? "blocked" : "failed");
    }),
  );
});
