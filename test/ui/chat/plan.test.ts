import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import {
  type Chat,
  type ChatOptions,
  countOf,
  inputText,
  openChat,
  rowsBelowRule,
  say,
  takesAnswers,
} from "../../helpers/chat.ts";
import type { PacedTurn } from "../../helpers/paced-model.ts";
import { bash, newPlace, type Place, put } from "../../helpers/program.ts";
import { ctrl, KEYS, type Terminal } from "../../helpers/terminal.ts";

const strings = en.plan;
const PLAN = "1. Change **a.ts**.\n2. Run the tests.";

/** Keys answer a question once the input has no cursor. */
const asked = (terminal: Terminal): Promise<void> => terminal.waitFor((shown) => isAsked(shown) && takesAnswers(shown));

const isAsked = (terminal: Terminal): boolean => terminal.screen().includes(strings.title);

const mode = (terminal: Terminal): string | undefined =>
  rowsBelowRule(terminal)
    .flatMap((row) => /^ {2}(ask|auto-edit|plan|auto|yolo)\b/.exec(row)?.[1] ?? [])
    .at(-1);

/** What the newest message of the model's says to the person's, and whether a reminder came with it. */
const lastInput = (turn: PacedTurn) => {
  const texts = turn.messages.filter(({ role }) => role === "user").flatMap(({ content }) => content ?? []);
  const last = texts.at(-1)?.split("\n\nReminder from harness9: ") ?? [];
  const reminder = last[1] === undefined ? undefined : /^plan mode is (on|over)/.exec(last[1])?.[1];
  return { said: last[0], reminder };
};

const openPlanning = async (options: ChatOptions = {}): Promise<Chat> => {
  const chat = await openChat({ rows: 40, ...options, args: ["--permission-mode", "plan", ...(options.args ?? [])] });
  say(chat.terminal, "plan it");
  const turn = await chat.model.next();
  expect(lastInput(turn)).toEqual({ said: "plan it", reminder: "on" });
  turn.answer(PLAN);
  await asked(chat.terminal);
  return chat;
};

test.each([
  ["1", "ask"],
  ["2", "auto-edit"],
  [KEYS.enter, "ask"],
])("a plan is carried out when the person says so by %j", async (key, expected) => {
  const { terminal, model } = await openPlanning();
  expect(terminal.screen()).not.toContain("Reminder from harness9");
  expect(terminal.screen()).not.toContain(strings.auto);
  terminal.send(key);
  const turn = await model.next();
  expect(lastInput(turn)).toEqual({ said: strings.accepted, reminder: "over" });
  expect(turn.messages[0]?.content).toContain("You are harness9");
  await terminal.waitFor((shown) => mode(shown) === expected);
  expect(terminal.screen()).toContain(`› ${strings.accepted}`);
  turn.callTools(["write_file", { path: "a.txt", content: "new\n" }]);
  turn.finish();
  if (expected === "ask") {
    await terminal.waitFor((shown) => /^\? write_file/m.test(shown.screen()) && takesAnswers(shown));
    terminal.send("y");
  }
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  // The next answer is no plan.
  await terminal.idle();
  expect(isAsked(terminal)).toBe(false);
});

test("Esc and `no` stay in plan mode and send nothing; typing then works", async () => {
  const { terminal, model } = await openPlanning();
  terminal.send(KEYS.escape);
  await terminal.waitFor((shown) => !isAsked(shown));
  expect([mode(terminal), model.count()]).toEqual(["plan", 1]);
  say(terminal, "once more");
  const again = await model.next();
  expect(lastInput(again)).toEqual({ said: "once more", reminder: undefined });
  again.answer("3. Better.");
  await asked(terminal);
  terminal.send("4");
  await terminal.waitFor((shown) => !isAsked(shown));
  await terminal.idle();
  expect([mode(terminal), model.count()]).toEqual(["plan", 2]);
});

test("who begins to type is not held by the question: all that is typed is the message", async () => {
  const { terminal, model } = await openPlanning();
  terminal.type("and 2 tests");
  await terminal.waitFor((shown) => inputText(shown) === "and 2 tests" && !isAsked(shown));
  terminal.send(KEYS.enter);
  expect(lastInput(await model.next())).toEqual({ said: "and 2 tests", reminder: undefined });
  expect(mode(terminal)).toBe("plan");
});

test("Enter sends the message that had been begun before the plan came", async () => {
  const { terminal, model } = await openChat({ args: ["--permission-mode", "plan"] });
  say(terminal, "plan it");
  const turn = await model.next();
  terminal.type("also");
  await terminal.waitFor((shown) => inputText(shown) === "also");
  turn.answer(PLAN);
  await asked(terminal);
  terminal.send(KEYS.enter);
  expect(lastInput(await model.next())).toEqual({ said: "also", reminder: undefined });
  await terminal.waitFor((shown) => !isAsked(shown));
  expect(mode(terminal)).toBe("plan");
});

const withEditor = (script: string): { readonly place: Place; readonly env: { readonly EDITOR: string } } => {
  const place = newPlace();
  const editor = put(place.home, "editor", `#!/bin/sh\ncat "$1" > ${place.home}/before\n${script}\n`);
  chmodSync(editor, 0o700);
  return { place, env: { EDITOR: editor } };
};

test("a plan can be changed first: it is printed, and the question comes again", async () => {
  const { terminal, model, place } = await openPlanning(withEditor('printf "1. Change **b.ts**.\\n" > "$1"'));
  terminal.send("3");
  await terminal.waitFor(strings.edited);
  await asked(terminal);
  expect(readFileSync(join(place.home, "before"), "utf8")).toBe(PLAN);
  expect(terminal.screen()).toContain("1. Change b.ts.");
  expect(mode(terminal)).toBe("plan");
  terminal.send("2");
  const turn = await model.next();
  expect(lastInput(turn).said).toContain(strings.acceptedEdited("1. Change **b.ts**."));
  await terminal.waitFor((shown) => mode(shown) === "auto-edit");
  expect(countOf(terminal, "Change b.ts")).toBe(1);
});

test("an editor that fails changes nothing, and the question comes again", async () => {
  const { terminal, model } = await openPlanning(withEditor("exit 3"));
  terminal.send("3");
  await terminal.waitFor("editor: ");
  // The rows of the first time may still stand there.
  await terminal.waitFor((shown) => shown.raw().lastIndexOf(strings.title) > shown.raw().lastIndexOf("editor: "));
  await asked(terminal);
  terminal.send("1");
  expect(lastInput(await model.next()).said).toBe(strings.accepted);
});

test("auto is offered to whose settings have it", async () => {
  const { terminal, model } = await openChat({ settings: { permissionMode: "auto" } });
  terminal.send(KEYS.shiftTab + KEYS.shiftTab + KEYS.shiftTab);
  await terminal.waitFor((shown) => mode(shown) === "plan");
  say(terminal, "plan it");
  (await model.next()).answer(PLAN);
  await asked(terminal);
  expect(terminal.screen()).toContain(strings.auto);
  terminal.send("3");
  expect(lastInput(await model.next())).toEqual({ said: strings.accepted, reminder: "over" });
  await terminal.waitFor((shown) => mode(shown) === "auto");
});

test("nothing is asked where a message waits, nor after an interrupt or a failure", async () => {
  const { terminal, model } = await openChat({ args: ["--permission-mode", "plan"] });
  say(terminal, "one");
  const one = await model.next();
  say(terminal, "two");
  await terminal.waitFor("queued: two");
  one.answer(PLAN);
  const two = await model.next();
  expect(isAsked(terminal)).toBe(false);
  two.send("1. Half a plan");
  await terminal.waitFor("Half a plan");
  terminal.send(KEYS.escape);
  await terminal.waitFor("interrupted");
  await terminal.idle();
  expect(isAsked(terminal)).toBe(false);
  say(terminal, "three");
  (await model.next()).fail(400, { error: { message: "no such thing" } });
  await terminal.waitFor("no such thing");
  await terminal.idle();
  expect(isAsked(terminal)).toBe(false);
});

test("the mode holds at once, and the model is told of it with the next message", async () => {
  const { terminal, model, place } = await openChat({ args: ["--permission-mode", "auto-edit"] });
  say(terminal, "go");
  const turn = await model.next();
  terminal.send(KEYS.shiftTab);
  await terminal.waitFor((shown) => mode(shown) === "plan");
  say(terminal, "only plan");
  await terminal.waitFor("queued: only plan");
  turn.callTools(["write_file", { path: "a.txt", content: "new\n" }], bash("ls"));
  turn.finish();
  const next = await model.next();
  expect(lastInput(next)).toEqual({ said: "only plan", reminder: "on" });
  expect(next.messages.filter(({ role }) => role === "tool")[0]?.content).toContain("denied by policy");
  expect(existsSync(join(place.workDir, "a.txt"))).toBe(false);
  next.answer(PLAN);
  await asked(terminal);
});

test("a mode that was changed while it worked, and of which the model knows nothing, brings no question", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  terminal.send(KEYS.shiftTab + KEYS.shiftTab);
  await terminal.waitFor((shown) => mode(shown) === "plan");
  turn.answer("Hello.");
  await terminal.waitFor("● Hello.");
  await terminal.idle();
  expect(isAsked(terminal)).toBe(false);
});

test("/clear takes the question away, and the new conversation is told anew", async () => {
  const { terminal, model } = await openPlanning();
  say(terminal, "/clear");
  await terminal.waitFor(en.replies.cleared);
  expect(isAsked(terminal)).toBe(false);
  say(terminal, "again");
  expect(lastInput(await model.next())).toEqual({ said: "again", reminder: "on" });
});

test("leaving with the question open leaves the terminal in order", async () => {
  const { terminal } = await openPlanning();
  terminal.send(ctrl("c") + ctrl("c"));
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  expect(terminal.mode(25)).not.toBe(false);
});
