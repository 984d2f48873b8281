import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Hook } from "../../src/hooks/hook.ts";
import { hookCalls } from "../../src/hooks/hook-middleware.ts";
import { createPermissions } from "../../src/permissions/permission-middleware.ts";
import { parseRule } from "../../src/permissions/rules.ts";
import type { Answer, Ask, PermissionQuestion } from "../../src/schema/ask.ts";
import { en } from "../../src/text/en.ts";
import { only, runEngine, tool } from "../helpers/engine.ts";
import { KEY_VALUE, program, realHooks } from "../helpers/hooks.ts";
import { call, scriptedProvider } from "../helpers/scripted-provider.ts";

const strings = en.hooks;

type Setup = {
  readonly hooks: (dir: string) => readonly Hook[];
  readonly texts?: readonly unknown[];
  readonly deny?: readonly string[];
  readonly answers?: Answer[];
  readonly signal?: AbortSignal;
  readonly onStarted?: (dir: string) => void;
};

/** A model that calls `echo` with each of the texts at once, under hooks and permissions in mode auto. */
const play = async ({ hooks: hooksIn, texts = ["hi"], deny = [], answers, signal, onStarted }: Setup) => {
  const list: Hook[] = [];
  const { hooks, dir } = realHooks(list);
  list.push(...hooksIn(dir));
  const ran: string[] = [];
  const questions: PermissionQuestion[] = [];
  const ask: Ask = async (question) => {
    if (question.kind === "permission") questions.push(question);
    return answers?.shift() ?? { dismissed: true };
  };
  const permissions = createPermissions({
    mode: () => "auto",
    rules: { allow: [], ask: [], deny: deny.map((rule) => parseRule(rule, en.permission)) },
    guard: true,
    places: { workDir: dir, homeDir: dir, harnessHome: join(dir, ".harness9") },
    strings: en.permission,
    ...(answers && { ask }),
  });
  const echo = tool("echo", (text) => {
    ran.push(text);
    return text === "" ? "" : `echo ${text}`;
  });
  const calls = texts.map((text) => call("echo", { text }));
  const run = await runEngine(scriptedProvider({ calls }, { text: "done" }), {
    tools: [echo],
    middlewares: [
      hookCalls({ hooks, permissions, mask: (text) => text.replaceAll(KEY_VALUE, "[masked KEY]"), strings }),
    ],
    onEvent: ({ type }) => type === "tool.started" && onStarted?.(dir),
    ...(signal && { signal }),
  });
  const ids = calls.map(({ id }) => id);
  const observations = run.history.flatMap((message) =>
    message.role === "user" && "toolCallId" in message && message.toolCallId !== undefined
      ? [[ids.indexOf(message.toolCallId), message.content, message.isError]]
      : [],
  );
  const resolved = only(run.events, "permission.resolved").map(({ decision, by }) => `${decision} by ${by}`);
  const notices = only(run.events, "notice").map(({ text }) => text);
  const added = only(run.events, "input.added").filter(({ source }) => source === "hook");
  return { ...run, dir, ran, questions, observations, resolved, notices, added: added.map(({ content }) => content) };
};

const pre = (command: string, more: Partial<Hook> = {}): Hook => ({ on: "tool.pre", command, ...more });
const post = (command: string, more: Partial<Hook> = {}): Hook => ({ on: "tool.post", command, ...more });

test("a hook is told of the call, and silence lets it pass", async () => {
  const { dir, ran, observations, resolved, notices } = await play({ hooks: () => [pre("cat > told.json")] });
  expect(JSON.parse(readFileSync(join(dir, "told.json"), "utf8"))).toEqual({
    event: "tool.pre",
    sessionId: "test",
    workDir: dir,
    tool: "echo",
    arguments: { text: "hi" },
    toolCallId: expect.stringMatching(/^call_/),
  });
  expect({ ran, observations, resolved, notices }).toEqual({
    ran: ["hi"],
    observations: [[0, "echo hi", false]],
    resolved: ["allow by mode"],
    notices: [],
  });
});

test("exit code 2 refuses the call with the reason, a person is not asked and the rest of the hooks do not run", async () => {
  const blocked = pre("echo 'not on a Friday' >&2; exit 2");
  const { dir, ran, observations, resolved, end } = await play({ hooks: () => [blocked, pre("touch second")] });
  expect({ ran, observations, resolved }).toEqual({
    ran: [],
    observations: [[0, strings.denied("echo 'not on a Friday' >&2; exit 2", "not on a Friday"), true]],
    resolved: ["reject by hook"],
  });
  expect(existsSync(join(dir, "second"))).toBe(false);
  expect(end.permissionDenials).toMatchObject([{ name: "echo", reason: observations[0]?.[1] }]);
  expect(end.reason).toBe("completed");
});

test("hooks are for the tools that they match", async () => {
  const { ran } = await play({ hooks: () => [pre("exit 2", { match: "bash" }), pre("exit 2", { match: "mcp__*" })] });
  expect(ran).toEqual(["hi"]);
});

test("each hook gets the arguments that the one before has made, and the permissions decide about the last", async () => {
  const louder = (dir: string) =>
    program(dir, "louder.cjs", "say({ arguments: { text: input.arguments.text + '!' } })");
  const twice = await play({ hooks: (dir) => [pre(louder(dir)), pre(louder(dir))] });
  expect(twice.ran).toEqual(["hi!!"]);
  const note = strings.context("tool.pre", strings.changedArguments('{"text":"hi!!"}'));
  expect(twice.observations).toEqual([[0, `echo hi!!\n\n${note}`, false]]);

  const denied = await play({ hooks: (dir) => [pre(louder(dir))], deny: ["echo(hi!)"] });
  expect(denied.ran).toEqual([]);
  expect(denied.resolved).toEqual(["reject by rule"]);
});

test("a hook that gives back the arguments as they were has changed nothing, also what a person wrote", async () => {
  const same = (dir: string) => program(dir, "same.cjs", "say({ arguments: input.arguments, decision: 'ask' })");
  const { ran, observations, questions } = await play({
    hooks: (dir) => [pre(same(dir))],
    answers: [{ decision: "allow", scope: "once", arguments: '{ "text": "mine" }' }],
  });
  expect(questions).toHaveLength(1);
  expect({ ran, observations }).toEqual({ ran: ["mine"], observations: [[0, "echo mine", false]] });
});

test("arguments that the tool cannot take are a failure of the hook", async () => {
  const broken = (dir: string) => program(dir, "broken.cjs", "say({ arguments: { text: 7 } })");
  const blocked = await play({ hooks: (dir) => [pre(broken(dir))] });
  expect(blocked.ran).toEqual([]);
  expect(blocked.notices).toEqual([expect.stringContaining("text")]);

  const allowed = await play({ hooks: (dir) => [pre(broken(dir), { onFailure: "allow" })] });
  expect(allowed.ran).toEqual(["hi"]);
  expect(allowed.notices).toHaveLength(1);
});

test.each([
  ["hangs", "sleep 300", strings.timedOut(0.3)],
  ["dies", "kill -9 $$", strings.killed("SIGKILL")],
  ["is missing", "./no-such-program 2>/dev/null", strings.exited(127, "")],
  ["prints garbage", "echo '{\"decision\": maybe}'", strings.notJson],
  ["prints ten megabytes", "printf '{'; head -c 10000000 /dev/zero | tr '\\0' x", strings.tooLong(65_536)],
])(
  "a hook that %s is a no before a tool, and only a notice where the setting says so",
  async (_what, command, problem) => {
    const timeout = command.startsWith("sleep") ? 300 : 20_000;
    const name = command;
    const blocked = await play({ hooks: () => [pre(command, { timeout })] });
    expect(blocked.ran).toEqual([]);
    expect(blocked.notices).toEqual([strings.failed("tool.pre", name, problem, true)]);
    expect(blocked.observations).toEqual([[0, strings.denied(name, strings.couldNotDecide(problem)), true]]);

    const allowed = await play({ hooks: () => [pre(command, { timeout, onFailure: "allow" })] });
    expect(allowed.ran).toEqual(["hi"]);
    expect(allowed.notices).toEqual([strings.failed("tool.pre", name, problem, false)]);
  },
);

test("context stands at the end of the observation, and is an event; the result itself stays", async () => {
  const { observations, added } = await play({
    hooks: () => [pre('echo \'{"context":"before"}\''), post('echo \'{"context":"after"}\'')],
    texts: ["a", ""],
  });
  const notes = `${strings.context("tool.pre", "before")}\n\n${strings.context("tool.post", "after")}`;
  expect(observations).toEqual([
    [0, `echo a\n\n${notes}`, false],
    [1, notes, false],
  ]);
  expect(added).toEqual([notes, notes]);
});

test("a hook after the tool hears the result without keys; its no only tells the model", async () => {
  const { dir, observations, resolved } = await play({
    hooks: () => [post("cat > told.json; echo 'the linter found 2 errors' >&2; exit 2")],
    texts: [KEY_VALUE],
  });
  const { result, event } = JSON.parse(readFileSync(join(dir, "told.json"), "utf8"));
  expect({ event, result }).toEqual({ event: "tool.post", result: { output: "echo [masked KEY]", isError: false } });
  expect(observations).toEqual([
    [0, `echo ${KEY_VALUE}\n\n${strings.context("tool.post", "the linter found 2 errors")}`, false],
  ]);
  expect(resolved).toEqual(["allow by mode"]);
});

test("a call that did not run is none that a hook hears of afterwards", async () => {
  const { dir } = await play({ hooks: () => [post("touch ran")], deny: ["echo"] });
  expect(existsSync(join(dir, "ran"))).toBe(false);
});

test("text that is no JSON is ignored with a notice", async () => {
  const { ran, notices } = await play({ hooks: () => [pre("echo looks good")] });
  expect({ ran, notices }).toEqual({
    ran: ["hi"],
    notices: [strings.ignoredText("tool.pre", "echo looks good", "looks good")],
  });
});

const asks = 'echo \'{"decision":"ask","reason":"touches production"}\'';

test("a hook may have a person asked, by its own reason and without a rule to save", async () => {
  const allowed = await play({ hooks: () => [pre(asks)], answers: [{ decision: "allow", scope: "session" }] });
  expect(allowed.questions).toMatchObject([{ by: "hook", reason: strings.asks("touches production"), offers: [] }]);
  expect({ ran: allowed.ran, resolved: allowed.resolved }).toEqual({ ran: ["hi"], resolved: ["allow by person"] });

  const rejected = await play({ hooks: () => [pre(asks)], answers: [{ decision: "reject", scope: "once" }] });
  expect({ ran: rejected.ran, resolved: rejected.resolved }).toEqual({ ran: [], resolved: ["reject by person"] });
});

test("a question of a hook is refused where nobody can answer", async () => {
  const { ran, observations, resolved, end } = await play({ hooks: () => [pre(asks)] });
  expect({ ran, observations, resolved, reason: end.reason }).toEqual({
    ran: [],
    observations: [[0, en.permission.needsConfirmation(strings.asks("touches production")), true]],
    resolved: ["reject by mode"],
    reason: "blocked",
  });
});

test("a hook lifts nothing: what a rule denies stays denied", async () => {
  const { ran, questions } = await play({
    hooks: () => [pre(asks), pre('echo \'{"decision":"allow"}\'')],
    deny: ["echo"],
    answers: [{ decision: "allow", scope: "once" }],
  });
  expect({ ran, questions }).toEqual({ ran: [], questions: [] });
});

test("what a person changes at a question passes the hooks again", async () => {
  const check = (dir: string) =>
    program(
      dir,
      "check.cjs",
      "if (input.arguments.text === 'bad') { console.error('bad text'); process.exit(2); } if (input.arguments.text === 'odd') say({ arguments: { text: 'even' } }); else say({ decision: 'ask', reason: 'sure?' });",
    );
  const answer = (text: string): Answer => ({ decision: "allow", scope: "once", arguments: JSON.stringify({ text }) });
  const play1 = (text: string) => play({ hooks: (dir) => [pre(check(dir))], answers: [answer(text)] });

  expect((await play1("good")).ran).toEqual(["good"]);
  const bad = await play1("bad");
  expect(bad.ran).toEqual([]);
  expect(bad.resolved).toEqual(["allow by person", "reject by hook"]);
  // What runs is what the person saw.
  const odd = await play1("odd");
  expect(odd.ran).toEqual([]);
  expect(odd.observations).toEqual([[0, strings.denied("tool.pre", strings.wouldChangeAnswer), true]]);
});

test("twenty calls at once are each governed by themselves, in the order of the calls", async () => {
  const even = (dir: string) =>
    program(dir, "even.cjs", "if (Number(input.arguments.text) % 2) { console.error('odd'); process.exit(2); }");
  const texts = Array.from({ length: 20 }, (_, index) => String(index));
  const { ran, observations } = await play({ hooks: (dir) => [pre(even(dir))], texts });
  expect([...ran].sort((a, b) => Number(a) - Number(b))).toEqual(texts.filter((text) => Number(text) % 2 === 0));
  expect(observations.map(([index, , isError]) => [index, isError])).toEqual(
    texts.map((_, index) => [index, index % 2 === 1]),
  );
});

test("a cancelled run ends the hook, and the call is answered without a decision", async () => {
  const stop = new AbortController();
  const { ran, observations, resolved, notices, end } = await play({
    hooks: () => [pre("touch started; sleep 300")],
    signal: stop.signal,
    onStarted: (dir) => {
      void expect
        .poll(() => existsSync(join(dir, "started")), { timeout: 5000 })
        .toBe(true)
        .then(() => stop.abort());
    },
  });
  expect({ ran, observations, resolved, notices, reason: end.reason }).toEqual({
    ran: [],
    observations: [[0, strings.cancelled, true]],
    resolved: [],
    notices: [],
    reason: "cancelled",
  });
});

test("a hook's own words show no key and no control character", async () => {
  const { observations } = await play({
    hooks: (dir) => {
      writeFileSync(join(dir, "words"), `\u001b[31m${KEY_VALUE}\u001b[0m\n`);
      return [pre("cat words >&2; exit 2")];
    },
  });
  expect(observations).toEqual([[0, strings.denied("cat words >&2; exit 2", "[masked KEY]"), true]]);
});
