import { expect, test } from "vitest";
import type { PermissionQuestion } from "../../../src/schema/ask.ts";
import { en } from "../../../src/text/en.ts";
import { questionOptions } from "../../../src/ui/question/question-options.ts";

const question = (part: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  kind: "permission",
  toolCallId: "c1",
  name: "bash",
  arguments: "{}",
  reason: "",
  by: "mode",
  offers: [],
  ...part,
});

test("each offer is an answer of its own, which says the rule and where it is kept", () => {
  const rule = "bash(npm test:*)";
  const offers = [
    { scope: "session", rule },
    { scope: "project", rule, place: "~/.harness9/trust.json" },
    { scope: "user", rule, place: "~/.harness9/config.json" },
  ] as const;
  expect(questionOptions(question({ offers }), en.question)).toEqual([
    { key: "y", label: "yes", answer: { decision: "allow", scope: "once" } },
    {
      key: "a",
      label: "yes, and do not ask again in this session: bash(npm test:*)",
      answer: { decision: "allow", scope: "session", rule },
    },
    {
      key: "p",
      label: "yes, always in this folder: bash(npm test:*) (in ~/.harness9/trust.json)",
      answer: { decision: "allow", scope: "project", rule },
    },
    {
      key: "u",
      label: "yes, always and everywhere: bash(npm test:*) (in ~/.harness9/config.json)",
      answer: { decision: "allow", scope: "user", rule },
    },
    { key: "n", label: "no, and say why", answer: "feedback" },
  ]);
});

test("a guarded call can be run once or refused", () => {
  expect(questionOptions(question({ by: "guard" }), en.question).map(({ key, label }) => [key, label])).toEqual([
    ["y", "run it once"],
    ["n", "no, and say why"],
  ]);
});

test("what a rule hides is shown", () => {
  const offers = [{ scope: "project", rule: "bash(a\u202eb)", place: "/x\u200by" }] as const;
  expect(questionOptions(question({ offers }), en.question)[1]?.label).toBe(
    "yes, always in this folder: bash(a\\u{202e}b) (in /x\\u{200b}y)",
  );
});

test("the choices of a question are numbered, as long as digits suffice", () => {
  const options = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `${index}`, label: `${index}` }));
  const keys = (count: number) =>
    questionOptions({ kind: "choice", title: "?", options: options(count) }, en.question).map(({ key }) => key);
  expect(keys(3)).toEqual(["1", "2", "3"]);
  expect(keys(10)).toEqual(Array(10).fill(undefined));
});
