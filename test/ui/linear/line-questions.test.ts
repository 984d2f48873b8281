import { expect, test } from "vitest";
import type { PermissionQuestion, Question } from "../../../src/schema/ask.ts";
import { stringsFor } from "../../../src/text/strings.ts";
import { plainText, span } from "../../../src/ui/line.ts";
import { createLineQuestions } from "../../../src/ui/linear/line-questions.ts";

const open = (language: "en" | "zh" = "en") => {
  const said: string[] = [];
  const hidden: boolean[] = [];
  const waiters: (() => void)[] = [];
  const questions = createLineQuestions({
    strings: stringsFor(language),
    body: (question) => [[span(question.kind)]],
    print: (lines) => said.push(...lines.map(plainText)),
    hideTyping: (isHidden) => hidden.push(isHidden),
    onChange: () => {
      if (questions.isWaiting) for (const waiter of waiters.splice(0)) waiter();
    },
  });
  const armed = (): Promise<void> =>
    new Promise((resolve) => (questions.isWaiting ? resolve() : void waiters.push(resolve)));
  return { questions, said, hidden, armed };
};

const never = new AbortController().signal;

const permission: PermissionQuestion = {
  kind: "permission",
  toolCallId: "call_1",
  name: "bash",
  arguments: "{}",
  reason: "",
  by: "mode",
  offers: [{ scope: "session", rule: "bash(npm test:*)" }],
};

const ONCE = { decision: "allow", scope: "once" };
const SESSION = { decision: "allow", scope: "session", rule: "bash(npm test:*)" };
const DISMISSED = { dismissed: true };

test.each([
  ["en", "1", ONCE],
  ["en", " y ", ONCE],
  ["en", "YES", ONCE],
  ["en", "2", SESSION],
  ["en", "a", SESSION],
  ["en", "", DISMISSED],
  ["zh", "同意", ONCE],
] as const)("%s: %j answers a permission question", async (language, line, answer) => {
  const { questions, armed } = open(language);
  const asked = questions.ask(permission, never);
  await armed();
  expect(questions.line(line)).toBe(true);
  expect(await asked).toEqual(answer);
  expect(questions.isOpen).toBe(false);
});

test.each([
  ["en", "no", "not here", { decision: "reject", scope: "once", feedback: "not here" }],
  ["en", "n", "", { decision: "reject", scope: "once" }],
  ["zh", "不同意", "1", { decision: "reject", scope: "once", feedback: "1" }],
] as const)("%s: %j asks why, and %j is the reason", async (language, line, reason, answer) => {
  const { questions, armed } = open(language);
  const asked = questions.ask(permission, never);
  await armed();
  questions.line(line);
  questions.line(reason);
  expect(await asked).toEqual(answer);
});

test("another text is not taken, a number that does not exist is; the question stays", async () => {
  const { questions, said, armed } = open();
  const asked = questions.ask(permission, never);
  await armed();
  expect(questions.line("look at the log first")).toBe(false);
  expect(questions.line("4")).toBe(true);
  expect(questions.line("0")).toBe(true);
  expect(questions.isWaiting).toBe(true);
  questions.line("1");
  expect(await asked).toEqual(ONCE);
  expect(said).toEqual([
    "permission",
    "1. yes",
    "2. yes, and do not ask again in this session: bash(npm test:*)",
    "3. no, and say why",
    "Answer with a number; an empty line means no.",
    "that is no answer, so it is a message; the question still waits for a number",
    "there is no such answer: 4",
    "there is no such answer: 0",
  ]);
});

test("a line that was read before the question could be seen is not taken", async () => {
  const { questions, armed, said } = open();
  const asked = questions.ask(permission, never);
  expect(questions.line("1")).toBe(false);
  await armed();
  expect(said.filter((text) => text.startsWith("Answer"))).toHaveLength(2);
  questions.line("2");
  expect(await asked).toEqual(SESSION);
});

test("one question stands at a time; an aborted one makes room for the next", async () => {
  const { questions, armed, said } = open();
  const first = new AbortController();
  const asked = [questions.ask(permission, first.signal), questions.ask({ kind: "text", title: "name" }, never)];
  expect(said[0]).toBe("permission");
  expect(said).not.toContain("text");
  first.abort();
  await armed();
  expect(said.slice(-2)).toEqual(["text", "Type one line."]);
  questions.line("harness");
  expect(await Promise.all(asked)).toEqual([DISMISSED, { text: "harness" }]);
});

const models: Question = {
  kind: "choice",
  title: "Model",
  options: [
    { id: "a", label: "openai/large  (current)" },
    { id: "b", label: "openai/small" },
  ],
};

test.each([
  ["2", { choice: "b" }],
  ["openai/small", { choice: "b" }],
  ["large", { choice: "a" }],
  ["", DISMISSED],
])("%j answers a list that was called up", async (line, answer) => {
  const { questions } = open();
  const asked = questions.choose(models, never);
  expect(questions.line(line)).toBe(true);
  expect(await asked).toEqual(answer);
});

test("what several or none of a list have in them chooses nothing, and is no message", async () => {
  const { questions, said } = open();
  const asked = questions.choose(models, never);
  expect(questions.line("openai")).toBe(true);
  expect(questions.line("tiny\u202e")).toBe(true);
  expect(said.slice(-2)).toEqual(["there is no such answer: openai", "there is no such answer: tiny\\u{202e}"]);
  expect(questions.dismiss()).toBe(true);
  expect(questions.dismiss()).toBe(false);
  expect(await asked).toEqual(DISMISSED);
});

test("typing is hidden for a secret, and only for that", async () => {
  const { questions, hidden, said } = open();
  const asked = questions.choose({ kind: "text", title: "Key", secret: true }, never);
  expect([hidden, questions.isSecret, said.at(-1)]).toEqual([
    [true],
    true,
    "What you type is not shown; an empty line cancels.",
  ]);
  questions.line("sk-1");
  expect(await asked).toEqual({ text: "sk-1" });
  expect([hidden.at(-1), questions.isSecret]).toEqual([false, false]);
});
