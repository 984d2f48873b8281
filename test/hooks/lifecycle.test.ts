import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { Hook } from "../../src/hooks/hook.ts";
import { createHookLifecycle, MAX_SENT_BACK } from "../../src/hooks/lifecycle.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { Session } from "../../src/session/session.ts";
import { en } from "../../src/text/en.ts";
import { registryOf, tool } from "../helpers/engine.ts";
import { program, realHooks } from "../helpers/hooks.ts";
import { call, type Reply, scriptedProvider } from "../helpers/scripted-provider.ts";

const strings = en.hooks;

const open = (hooksIn: (dir: string) => readonly Hook[], ...replies: readonly Reply[]) => {
  const list: Hook[] = [];
  const { hooks, dir } = realHooks(list);
  list.push(...hooksIn(dir));
  const lifecycle = createHookLifecycle(hooks, strings);
  const provider = scriptedProvider(...(replies.length > 0 ? replies : [{ text: "done" }]));
  const session: Session = new Session({
    id: "test",
    systemPrompt: "Be brief.",
    engine: new Engine({
      provider,
      info: { contextWindow: null, maxOutputTokens: null, prices: null },
      tools: registryOf([
        tool("queue", (text) => {
          session.queue({ content: text, source: "queue" });
          return "queued";
        }),
      ]),
      limits: { maxTurns: 50, toolTimeoutMs: 60_000, maxConcurrentTools: 0 },
      thinking: "off",
      permissionMode: () => "auto",
      sandbox: "off",
      logFile: null,
      session: { id: "test", workDir: dir },
      mask: (text) => text,
      strings: en.engine,
      now: () => 0,
    }),
    sinks: [],
    clock: () => new Date("2026-01-02T03:04:05Z"),
    lifecycle,
  });
  const run = async (content: string, signal = new AbortController().signal) => {
    const events: EngineEvent[] = [];
    for await (const event of session.run({ content, source: "person" }, signal)) events.push(event);
    const end = events.at(-1);
    if (end?.type !== "run.completed") throw new Error("the last event is not run.completed");
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
    const added = events.flatMap((event) => (event.type === "input.added" ? [[event.source, event.content]] : []));
    return { events, end, notices, added };
  };
  const said = () => session.messages.slice(1).map(({ content }) => content);
  return { dir, session, provider, lifecycle, run, said };
};

const hook = (on: Hook["on"], command: string, more: Partial<Hook> = {}): Hook => ({ on, command, ...more });

test("the session's start is told once, and what it says stands before the first message", async () => {
  const { run, said, dir } = open(() => [hook("session.start", "cat >> told; echo the branch is main")]);
  const first = await run("one");
  await run("two");
  expect(said()).toEqual([strings.context("session.start", "the branch is main"), "one", "done", "two", "done"]);
  expect(first.added).toEqual([
    ["hook", strings.context("session.start", "the branch is main")],
    ["person", "one"],
  ]);
  expect(first.events[0]?.type).toBe("run.started");
  expect(readFileSync(join(dir, "told"), "utf8")).toBe(
    `${JSON.stringify({ event: "session.start", sessionId: "test", workDir: dir })}\n`,
  );
});

test("a refused start ends the run before the model hears anything, and the next run tries again", async () => {
  const { run, said, provider } = open(() => [
    hook("session.start", "if [ -e ready ]; then exit 0; fi; touch ready; echo 'not ready' >&2; exit 2"),
  ]);
  const { end } = await run("one");
  expect(end).toMatchObject({
    reason: "error",
    error: { kind: "input", message: strings.sessionRefused("not ready") },
  });
  expect({ said: said(), requests: provider.requests.length }).toEqual({ said: [], requests: 0 });
  expect((await run("two")).end.reason).toBe("completed");
  expect(said()).toEqual(["two", "done"]);
});

test("a prompt comes with what its hooks say, or does not reach the model", async () => {
  const { run, said, provider } = open((dir) => [
    hook(
      "prompt.submit",
      program(
        dir,
        "check.cjs",
        "if (input.prompt.includes('password')) { console.error('it holds a password'); process.exit(2); } say({ context: input.prompt.length + ' characters' });",
      ),
    ),
  ]);
  const { end } = await run("my password is x");
  expect(end).toMatchObject({
    reason: "error",
    turns: 0,
    error: { kind: "input", message: strings.promptRefused("my password is x", "it holds a password") },
  });
  expect(provider.requests).toEqual([]);
  await run("hello");
  expect(said()).toEqual(["hello", strings.context("prompt.submit", "5 characters"), "done"]);
});

test("a failing hook stands in nobody's way here, unless the setting says so", async () => {
  const allowed = open(() => [hook("session.start", "exit 1"), hook("prompt.submit", "exit 1")]);
  const { end, notices } = await allowed.run("one");
  expect(end.reason).toBe("completed");
  expect(notices).toEqual([
    strings.failed("session.start", "exit 1", strings.exited(1, ""), false),
    strings.failed("prompt.submit", "exit 1", strings.exited(1, ""), false),
  ]);

  const blocked = open(() => [hook("prompt.submit", "exit 1", { onFailure: "block" })]);
  expect((await blocked.run("one")).end.reason).toBe("error");
});

test("what is queued passes the hooks as well; a refused message is told of and the run goes on", async () => {
  const { run, said } = open(
    () => [hook("prompt.submit", "if grep -q secret; then echo no >&2; exit 2; fi")],
    { calls: [call("queue", { text: "a secret" })] },
    { calls: [call("queue", { text: "go on" })] },
    { text: "done" },
  );
  const { end, notices } = await run("one");
  expect(end.reason).toBe("completed");
  expect(notices).toEqual([strings.promptRefused("a secret", "no")]);
  expect(said()).toEqual(["one", "", "queued", "", "queued", "go on", "done"]);
});

test("a stop hook sends the model back with its reason until it is content", async () => {
  const { run, said, dir } = open(
    (dir) => [
      hook(
        "stop",
        program(
          dir,
          "stop.cjs",
          "require('fs').appendFileSync('told', input.answer + ' ' + input.sentBack + ';'); if (input.answer !== 'tested') { console.error('run the tests'); process.exit(2); }",
        ),
      ),
    ],
    { text: "finished" },
    { text: "tested" },
  );
  const { end, notices } = await run("one");
  expect({ reason: end.reason, text: end.text, notices }).toEqual({ reason: "completed", text: "tested", notices: [] });
  expect(said()).toEqual(["one", "finished", strings.context("stop", "run the tests"), "tested"]);
  expect(readFileSync(join(dir, "told"), "utf8")).toBe("finished 0;tested 1;");
});

test("a stop hook that is never content is heard three times in each run", async () => {
  const { run, provider } = open(() => [hook("stop", "echo more >&2; exit 2")]);
  const { end, notices } = await run("one");
  expect({ reason: end.reason, turns: end.turns, notices }).toEqual({
    reason: "completed",
    turns: MAX_SENT_BACK + 1,
    notices: [strings.lastSentBack(MAX_SENT_BACK)],
  });
  await run("two");
  expect(provider.requests).toHaveLength(2 * (MAX_SENT_BACK + 1));
});

test("a run that is cancelled while a hook thinks ends as cancelled, and the message has not been sent", async () => {
  const stop = new AbortController();
  const { run, said, dir } = open(() => [hook("prompt.submit", "touch started; sleep 300")]);
  void expect
    .poll(() => existsSync(join(dir, "started")), { timeout: 5000 })
    .toBe(true)
    .then(() => stop.abort());
  const { end, notices } = await run("one", stop.signal);
  expect({ reason: end.reason, notices, said: said() }).toEqual({ reason: "cancelled", notices: [], said: [] });
});

test("a queued message whose hook is cancelled goes on waiting", async () => {
  const stop = new AbortController();
  const { run, session, dir } = open(
    () => [hook("prompt.submit", "if grep -q later; then touch started; sleep 300; fi")],
    { calls: [call("queue", { text: "later" })] },
  );
  void expect
    .poll(() => existsSync(join(dir, "started")), { timeout: 5000 })
    .toBe(true)
    .then(() => stop.abort());
  const { end, notices } = await run("one", stop.signal);
  expect({ reason: end.reason, notices }).toEqual({ reason: "cancelled", notices: [] });
  expect(session.queued()).toEqual([{ content: "later", source: "queue" }]);
});

test("the session's end is told of once, and only where a session has begun; its failures are told of", async () => {
  const { run, lifecycle, dir } = open(() => [hook("session.end", "echo end >> told; exit 3")]);
  const told: string[] = [];
  const tell = (text: string) => void told.push(text);
  await lifecycle.ended(tell);
  expect(existsSync(join(dir, "told"))).toBe(false);
  await run("one");
  await lifecycle.ended(tell);
  await lifecycle.ended(tell);
  expect(readFileSync(join(dir, "told"), "utf8")).toBe("end\n");
  expect(told).toEqual([strings.failed("session.end", "echo end >> told; exit 3", strings.exited(3, ""), false)]);
});
