import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inputText, openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { unpaired } from "../../helpers/paced-model.ts";
import { bash, newPlace, put } from "../../helpers/program.ts";
import { ctrl, KEYS, type Terminal } from "../../helpers/terminal.ts";

const WRITE = ["write_file", { path: "new.txt", content: "one\ntwo\n" }] as const;

/** Keys answer once the question has been on the screen: the cursor leaves the input then. */
const asked = (terminal: Terminal, question: RegExp): Promise<void> =>
  terminal.waitFor(
    (shown) => question.test(shown.screen()) && shown.screen().includes("esc  no") && takesAnswers(shown),
  );

test("y writes the file once, and the next call asks again", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(WRITE);
  turn.finish();
  await asked(terminal, /^\? write_file +new\.txt/m);
  expect(terminal.screen()).toMatch(/1 \+ one/);
  expect(terminal.screen()).toMatch(/y +yes/);
  expect(existsSync(join(place.workDir, "new.txt"))).toBe(false);
  terminal.send("y");
  const next = await model.next();
  expect(readFileSync(join(place.workDir, "new.txt"), "utf8")).toBe("one\ntwo\n");
  next.callTools(["write_file", { path: "other.txt", content: "x" }]);
  next.finish();
  await asked(terminal, /^\? write_file +other\.txt/m);
  terminal.send("y");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect(terminal.all()).toMatch(/^✓ write_file +new\.txt/m);
  expect(terminal.screen()).not.toMatch(/^\? write_file/m);
});

test("a says yes for the session to what the question names, and to nothing else", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("touch made-1"));
  turn.finish();
  await asked(terminal, /^\? bash +touch made-1/m);
  expect(terminal.screen()).toMatch(/a +yes.*touch/);
  terminal.send("a");
  const again = await model.next();
  again.callTools(bash("touch made-1"));
  again.finish();
  const other = await model.next();
  other.callTools(bash("mkdir made-3"));
  other.finish();
  await asked(terminal, /^\? bash +mkdir made-3/m);
  terminal.send("y");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
});

test("n asks why, and the model reads it", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(WRITE);
  turn.finish();
  await asked(terminal, /^\? write_file/m);
  terminal.send("n");
  await terminal.waitFor("Why not?");
  terminal.type("use src/ instead");
  await terminal.waitFor("use src/ instead");
  terminal.send(KEYS.enter);
  const next = await model.next();
  expect(next.last).toContain("use src/ instead");
  expect(unpaired(next.messages)).toEqual([]);
  expect(existsSync(join(place.workDir, "new.txt"))).toBe(false);
  next.answer("I will.");
  await terminal.waitFor("● I will.");
  expect(terminal.all()).toMatch(/^✗ write_file +new\.txt/m);
});

test("Esc refuses the call and the run goes on; the second Esc ends it", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(WRITE);
  turn.finish();
  await asked(terminal, /^\? write_file/m);
  terminal.send(KEYS.escape);
  const next = await model.next();
  expect(unpaired(next.messages)).toEqual([]);
  next.send("All right, then");
  await terminal.waitFor("All right, then");
  terminal.send(KEYS.escape);
  await terminal.waitFor("interrupted");
  await next.abandoned;
});

test("the questions of one turn come one after another", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(WRITE, ["write_file", { path: "second.txt", content: "2" }]);
  turn.finish();
  await asked(terminal, /^\? write_file +new\.txt/m);
  terminal.send("y");
  await asked(terminal, /^\? write_file +second\.txt/m);
  terminal.send("n");
  await terminal.waitFor("Why not?");
  terminal.send(KEYS.enter);
  const next = await model.next();
  expect(unpaired(next.messages)).toEqual([]);
  expect([existsSync(join(place.workDir, "new.txt")), existsSync(join(place.workDir, "second.txt"))]).toEqual([
    true,
    false,
  ]);
});

test("a key that was typed before the question appeared does not answer it", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  terminal.type("yyy");
  await terminal.waitFor((shown) => inputText(shown) === "yyy");
  turn.callTools(WRITE);
  turn.finish();
  // Keys on their way while the question comes up.
  for (let times = 0; times < 20; times++) terminal.send("y");
  await terminal.waitFor(/^\? write_file/m);
  await terminal.idle();
  expect(existsSync(join(place.workDir, "new.txt"))).toBe(false);
  expect(terminal.screen()).toMatch(/^\? write_file/m);
  await asked(terminal, /^\? write_file/m);
  terminal.send(KEYS.escape);
  (await model.next()).answer("Fine.");
  await terminal.waitFor("● Fine.");
  expect(inputText(terminal)).toBe("y".repeat(23));
});

test("a key that was meant for the editor answers no question that came up meanwhile", async () => {
  const place = newPlace();
  const editor = put(
    place.home,
    "editor",
    `#!/bin/sh\necho editing\nwhile [ ! -e ${place.home}/close ]; do sleep 0.05; done\n`,
  );
  chmodSync(editor, 0o700);
  const { terminal, model } = await openChat({ place, env: { EDITOR: editor } });
  say(terminal, "go");
  const turn = await model.next();
  terminal.send(ctrl("g"));
  await terminal.waitFor("editing");
  turn.callTools(WRITE);
  turn.finish();
  // The question has come, and nothing of it can be seen.
  await terminal.idle(300);
  terminal.send("y");
  put(place.home, "close", "");
  await asked(terminal, /^\? write_file/m);
  expect(existsSync(join(place.workDir, "new.txt"))).toBe(false);
  await terminal.waitFor((shown) => inputText(shown) === "y");
});

test("a guarded command offers once only, and shows hidden characters", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("git push --force origin ma\u202ein"));
  turn.finish();
  await asked(terminal, /^\? bash +git push --force/m);
  expect(terminal.screen()).toContain("\\u{202e}");
  expect(terminal.screen()).not.toMatch(/^ +a +yes/m);
  terminal.send("a");
  await terminal.idle();
  expect(terminal.screen()).toMatch(/^\? bash/m);
  terminal.send(KEYS.escape);
  (await model.next()).answer("Fine.");
  await terminal.waitFor("● Fine.");
});

test("a very long command stays readable, and the question's keys in sight", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  const script = Array.from({ length: 100 }, (_, index) => `touch file-${index}`).join("\n");
  turn.callTools(bash(script));
  turn.finish();
  await asked(terminal, /^ {2}› y +yes/m);
  expect(terminal.all()).toMatch(/^\? bash/m);
  for (const name of ["file-0", "file-50", "file-99"]) expect(terminal.all()).toMatch(new RegExp(`${name}$`, "m"));
  terminal.send(KEYS.escape);
  await model.next();
});

test("a mode that allows edits settles without a question", async () => {
  const { terminal, model, place } = await openChat();
  terminal.send(KEYS.shiftTab);
  await terminal.waitFor("auto-edit");
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(WRITE);
  turn.finish();
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect(existsSync(join(place.workDir, "new.txt"))).toBe(true);
});

test("the window's title tells that a question waits", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "paint it");
  const turn = await model.next();
  await terminal.waitFor((shown) => /harness9: paint it/.test(shown.title()));
  turn.callTools(WRITE);
  turn.finish();
  await terminal.waitFor((shown) => shown.title().includes("?"));
  await asked(terminal, /^\? write_file/m);
  terminal.send("y");
  (await model.next()).answer("Done.");
  await terminal.waitFor((shown) => !shown.title().includes("?"));
});
