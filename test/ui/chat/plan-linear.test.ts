import { chmodSync } from "node:fs";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { type ChatOptions, prepareChat, say } from "../../helpers/chat.ts";
import type { PacedTurn } from "../../helpers/paced-model.ts";
import { newPlace, put } from "../../helpers/program.ts";
import { ctrl, startChat, type Terminal } from "../../helpers/terminal.ts";

const strings = en.plan;

/** The prompt stands in the last row: a line would be taken. */
const waitsForMe = (terminal: Terminal): boolean => terminal.raw().endsWith("> ");

const openPlanning = async (options: ChatOptions = {}) => {
  const { place, model, env } = await prepareChat(options);
  const terminal = startChat(["--permission-mode", "plan"], {
    place,
    columns: 120,
    env: { TERM: "dumb", ...env, ...options.env },
  });
  await terminal.waitFor(waitsForMe);
  say(terminal, "plan it");
  (await model.next()).answer("1. Change a.ts.");
  await asked(terminal, 1);
  return { terminal, model, place };
};

const asked = (terminal: Terminal, times: number): Promise<void> =>
  terminal.waitFor((shown) => shown.all().split(strings.title).length > times && waitsForMe(shown));

const lastInput = (turn: PacedTurn): string =>
  turn.messages.findLast(({ role }) => role === "user")?.content?.replace(/\n\nReminder from harness9: .*/s, "") ?? "";

test.each([
  ["1", "ask"],
  ["2", "auto-edit"],
  ["yes", "ask"],
])("a plan is asked about in words, and %j carries it out", async (line, mode) => {
  const { terminal, model } = await openPlanning();
  expect(terminal.all()).toContain(`question: ${strings.title}`);
  expect(terminal.all()).toContain(`4. ${strings.keep}`);
  say(terminal, line);
  const turn = await model.next();
  expect(lastInput(turn)).toBe(strings.accepted);
  expect(turn.last).toContain("plan mode is over");
  turn.answer("Done.");
  await terminal.waitFor("answer: Done.");
  await terminal.waitFor(waitsForMe);
  say(terminal, "/permissions");
  await terminal.waitFor(`${en.replies.modes[mode as "ask"]}  ${en.replies.currentModel}`);
});

test.each(["", "4", "no"])("%j stays in plan mode", async (line) => {
  const { terminal, model } = await openPlanning();
  say(terminal, line);
  await terminal.idle();
  expect(model.count()).toBe(1);
  say(terminal, "once more");
  const turn = await model.next();
  expect(turn.last).toBe("once more");
});

test("a line that is no answer is a message, and the question is gone", async () => {
  const { terminal, model } = await openPlanning();
  say(terminal, "also add a test");
  const turn = await model.next();
  expect(turn.last).toBe("also add a test");
  expect(terminal.all()).not.toContain(en.linear.stillOpen);
  turn.answer("2. Add a test.");
  await asked(terminal, 2);
  terminal.send(ctrl("d"));
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
});

test("the plan can be changed in the person's editor, and is told again", async () => {
  const place = newPlace();
  const editor = put(place.home, "editor", '#!/bin/sh\nread -r typed\nprintf "1. $typed\\n" > "$1"\n');
  chmodSync(editor, 0o700);
  const { terminal, model } = await openPlanning({ place, env: { EDITOR: editor } });
  say(terminal, "3");
  await terminal.idle();
  say(terminal, "Change b.ts.");
  await terminal.waitFor(strings.edited);
  await asked(terminal, 2);
  say(terminal, "1");
  expect(lastInput(await model.next())).toBe(strings.acceptedEdited("1. Change b.ts."));
});
