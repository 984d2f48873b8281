import { expect, test } from "vitest";
import type { PermissionQuestion, Question, Reviser } from "../../../src/schema/ask.ts";
import { loadStrings } from "../../../src/text/strings.ts";
import { plainText, span } from "../../../src/ui/line.ts";
import { createLineQuestions } from "../../../src/ui/linear/line-questions.ts";
import type { EditDraft } from "../../../src/ui/question/revise-question.ts";

const catalogue = { en: await loadStrings("en"), zh: await loadStrings("zh") };

const open = (
  language: "en" | "zh" = "en",
  { edit = async ({ text }) => text }: { readonly edit?: EditDraft } = {},
) => {
  const said: string[] = [];
  const hidden: boolean[] = [];
  const waiters: (() => void)[] = [];
  const questions = createLineQuestions({
    strings: catalogue[language],
    body: (question) => [[span(question.kind)]],
    hunks: (diff) => diff.hunks.map(({ lines }) => lines.map((line) => [span(line)])),
    edit,
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

const edit = (...lines: readonly string[]): PermissionQuestion => ({
  ...permission,
  name: "edit_file",
  arguments: JSON.stringify(lines),
  preview: {
    type: "diff",
    path: "a",
    added: lines.length,
    removed: 0,
    hunks: lines.map((line) => ({ oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: [line] })),
  },
  offers: [],
});
const reviser: Reviser = {
  draft: async () => ({ name: "a.ts", text: "text", before: "" }),
  withText: async (_question, { name }, text) =>
    text === "" ? { type: "problem", problem: "why\nnot" } : { type: "question", question: edit(`${name} ${text}`) },
  withHunks: async (_question, kept) => ({ type: "question", question: edit(...kept.map((index) => `kept ${index}`)) }),
};
const applied = (...lines: readonly string[]) => ({ ...ONCE, arguments: JSON.stringify(lines) });

test.each([
  ["1 3", applied("kept 0", "kept 2")],
  [" 2,1 ", applied("kept 0", "kept 1")],
  ["all", ONCE],
  ["", ONCE],
  ["none", { decision: "reject", scope: "once", feedback: "nothing of the change was kept" }],
])("hunks are read out with numbers, and %j keeps some of them", async (line, answer) => {
  const { questions, said, armed } = open();
  const asked = questions.ask(edit("+one", "+two", "+three"), never, reviser);
  await armed();
  expect(questions.line("h")).toBe(true);
  expect(said.slice(-7)).toEqual([
    "hunk 1 of 3",
    "+one",
    "hunk 2 of 3",
    "+two",
    "hunk 3 of 3",
    "+three",
    "Which are to be kept? Answer with numbers, as in 1 3, or all or none; an empty line goes back.",
  ]);
  for (const wrong of ["4", "0", "the first", "1 x"]) expect(questions.line(wrong)).toBe(true);
  expect(said.at(-2)).toBe("there is no such answer: 1 x");
  expect(questions.line(line)).toBe(true);
  if (line !== "none") {
    expect(questions.isWaiting).toBe(false);
    await armed();
    questions.line("y");
  }
  expect(await asked).toEqual(answer);
});

test("what the editor has left is read out, and runs by a yes to it", async () => {
  const { questions, said, armed } = open("en", { edit: async ({ text }) => `my ${text}` });
  const asked = questions.ask(edit("+one"), never, reviser);
  await armed();
  questions.line("edit it first");
  await armed();
  expect(said.slice(-6)).toEqual([
    "1. yes",
    "2. edit it first, in your editor",
    "3. take my changes back",
    "4. no, and say why",
    "you have changed it: what stands here is what would run",
    "Answer with a number; an empty line means no.",
  ]);
  questions.line("1");
  expect(await asked).toEqual(applied("a.ts my text"));
});

test.each<readonly [string, EditDraft, string]>([
  ["an editor that fails", async () => ({ problem: "vi: 1" }), "vi: 1"],
  ["an editor that is only closed", async ({ text }) => text, "nothing was changed"],
  ["a text that cannot be", async () => "", "why not"],
])("%s leaves the question open", async (_name, editor, said) => {
  const chat = open("en", { edit: editor });
  const asked = chat.questions.ask(edit("+one"), never, reviser);
  await chat.armed();
  chat.questions.line("e");
  await chat.armed();
  expect(chat.said.at(-2)).toBe(said);
  chat.questions.line("y");
  expect(await asked).toEqual(ONCE);
});

test("a line that is sent twice answers one question", async () => {
  const { questions, armed } = open();
  const first = questions.ask(permission, never);
  const second = questions.ask(permission, never);
  await armed();
  expect(questions.line("1")).toBe(true);
  expect(await first).toEqual(ONCE);
  // It stands there since many turns, but nobody reads that fast.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(questions.line("1")).toBe(false);
  await armed();
  questions.line("2");
  expect(await second).toEqual(SESSION);
});
