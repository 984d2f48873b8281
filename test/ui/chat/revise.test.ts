import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inputText, openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { unpaired } from "../../helpers/paced-model.ts";
import { bash, newPlace, type Place, put } from "../../helpers/program.ts";
import { KEYS, type Terminal } from "../../helpers/terminal.ts";

const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join("");
const EDIT = [
  "edit_file",
  {
    path: "f.txt",
    source_text: LINES,
    target_text: LINES.replace("line 5\n", "FIVE\n").replace("line 30\n", "THIRTY\n").replace("line 55\n", "FIFTY\n"),
  },
] as const;

/** Keys answer once the question has been on the screen. */
const asked = async (terminal: Terminal, question: RegExp): Promise<void> => {
  await terminal.waitFor(
    (shown) => question.test(shown.screen()) && shown.screen().includes("esc  no") && takesAnswers(shown),
  );
};

/** An editor that is a shell script; its file is $1. */
const withEditor = (script: string): { readonly place: Place; readonly env: { readonly EDITOR: string } } => {
  const place = newPlace();
  const editor = put(place.home, "editor", `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o700);
  return { place, env: { EDITOR: editor } };
};

test.each([80, 40])(
  "at %d columns: hunks are chosen one by one, shown again, and only they are written",
  async (columns) => {
    const { terminal, model, place } = await openChat({ columns, files: { "f.txt": LINES } });
    say(terminal, "go");
    const turn = await model.next();
    turn.callTools(EDIT);
    turn.finish();
    await asked(terminal, /h +choose among its 3 hunks/);
    terminal.send("h");
    await terminal.waitFor(/› \[x\] hunk 1 of 3 +kept/);
    terminal.send("y");
    await terminal.waitFor(/› \[x\] hunk 2 of 3/);
    terminal.send("n");
    await terminal.waitFor(/› \[x\] hunk 3 of 3/);
    terminal.send(KEYS.up);
    await terminal.waitFor(/› \[ \] hunk 2 of 3 +left out/);
    terminal.send(KEYS.enter);
    await asked(terminal, /you have changed it/);
    expect(readFileSync(join(place.workDir, "f.txt"), "utf8")).toBe(LINES);
    terminal.send("y");
    const next = await model.next();
    expect(readFileSync(join(place.workDir, "f.txt"), "utf8")).toBe(
      LINES.replace("line 5\n", "FIVE\n").replace("line 55\n", "FIFTY\n"),
    );
    expect(next.last).toContain("-THIRTY\n+line 30\n");
    expect(unpaired(next.messages)).toEqual([]);
    next.answer("I see.");
    await terminal.waitFor("● I see.");
  },
);

test("a command is edited, shown, and runs only by y", async () => {
  const { place, env } = withEditor('case "$1" in *.sh) sed -i s/theirs/mine/ "$1";; esac');
  const { terminal, model } = await openChat({ place, env });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("touch theirs"));
  turn.finish();
  await asked(terminal, /^\? bash +touch theirs/m);
  terminal.send("e");
  await asked(terminal, /^\? bash +touch mine/m);
  expect(terminal.screen()).toContain("you have changed it");
  expect(terminal.screen()).not.toMatch(/^ +a +yes/m);
  expect(existsSync(join(place.workDir, "mine"))).toBe(false);
  terminal.send("y");
  const next = await model.next();
  expect([existsSync(join(place.workDir, "mine")), existsSync(join(place.workDir, "theirs"))]).toEqual([true, false]);
  expect(next.last).toContain("touch mine");
  next.answer("Fine.");
  await terminal.waitFor("● Fine.");
});

test("a file is edited as it would be, with its endings, and what the editor left is what is written", async () => {
  const { place, env } = withEditor('printf "mine\\r\\n" >> "$1"');
  const { terminal, model } = await openChat({ place, env, files: { "f.txt": "a\r\nb\r\n" } });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(["edit_file", { path: "f.txt", source_text: "a", target_text: "A" }]);
  turn.finish();
  await asked(terminal, /^\? edit_file/m);
  terminal.send("e");
  await asked(terminal, /\+ mine/);
  terminal.send("y");
  (await model.next()).answer("Fine.");
  await terminal.waitFor("● Fine.");
  expect(readFileSync(join(place.workDir, "f.txt"), "utf8")).toBe("A\r\nb\r\nmine\r\n");
});

test.each([
  ["is only closed", "true", /nothing was changed/],
  ["fails", "exit 3", /did not end well/],
  ["changes the file under it", 'echo more >> f.txt; echo mine > "$1"', /the file has changed meanwhile/],
])("an editor that %s leaves the question open, and nothing is written", async (_name, script, note) => {
  const { place, env } = withEditor(script);
  const { terminal, model } = await openChat({ place, env, files: { "f.txt": "a\n" } });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(["edit_file", { path: "f.txt", source_text: "a", target_text: "A" }]);
  turn.finish();
  await asked(terminal, /^\? edit_file/m);
  terminal.send("e");
  await asked(terminal, note);
  expect(readFileSync(join(place.workDir, "f.txt"), "utf8")).toMatch(/^a\n(more\n)?$/);
  terminal.send(KEYS.escape);
  const next = await model.next();
  expect(unpaired(next.messages)).toEqual([]);
  next.answer("Fine.");
  await terminal.waitFor("● Fine.");
});

test("a second y, before the next question could be read, is no answer to it", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(["write_file", { path: "one.txt", content: "1" }], ["write_file", { path: "two.txt", content: "2" }]);
  turn.finish();
  await asked(terminal, /^\? write_file +one\.txt/m);
  terminal.send("y");
  await terminal.waitFor((shown) => !/^\? write_file +one\.txt/m.test(shown.screen()));
  terminal.send("y");
  await asked(terminal, /^\? write_file +two\.txt/m);
  expect([existsSync(join(place.workDir, "one.txt")), existsSync(join(place.workDir, "two.txt"))]).toEqual([
    true,
    false,
  ]);
  // Nothing that was typed is lost.
  expect(inputText(terminal)).toBe("y");
  terminal.send("y");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect(existsSync(join(place.workDir, "two.txt"))).toBe(true);
});

test("of twenty calls one question stands at a time; Esc refuses one, and a settles those that its rule covers", async () => {
  const { terminal, model, place } = await openChat();
  const write = (index: number) => ["write_file", { path: `dir/made-${index}`, content: "" }] as const;
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(...Array.from({ length: 19 }, (_, index) => write(index + 1)), bash("touch made-20"));
  turn.finish();
  await asked(terminal, /^\? write_file +dir\/made-1$/m);
  await terminal.waitFor(/esc {2}no +19 more waiting/);
  terminal.send(KEYS.escape);
  await asked(terminal, /^\? write_file +dir\/made-2$/m);
  await terminal.waitFor(/esc {2}no +18 more waiting/);
  terminal.send("y");
  await asked(terminal, /^\? write_file +dir\/made-3$/m);
  terminal.send("a");
  await asked(terminal, /^\? bash +touch made-20$/m);
  await terminal.waitFor(({ screen }) => !screen().includes("more waiting"));
  terminal.send(KEYS.escape);
  const next = await model.next();
  expect(unpaired(next.messages)).toEqual([]);
  const made = Array.from({ length: 19 }, (_, index) => index + 1).filter((index) =>
    existsSync(join(place.workDir, `dir/made-${index}`)),
  );
  expect(made).toEqual(Array.from({ length: 18 }, (_, index) => index + 2));
  expect(existsSync(join(place.workDir, "made-20"))).toBe(false);
  next.answer("Done.");
  await terminal.waitFor("● Done.");
});

test("a terminal that is closed while a question stands there refuses it", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("touch made-1"));
  turn.finish();
  await asked(terminal, /^\? bash/m);
  terminal.kill("SIGHUP");
  expect((await terminal.exited).exitCode).toBe(129);
  expect(existsSync(join(place.workDir, "made-1"))).toBe(false);
});

test("SIGTERM ends also an editor that will not go; nothing runs, and the terminal is as it was", async () => {
  const { place, env } = withEditor("trap '' TERM; echo waiting; while :; do sleep 0.1; done");
  const { terminal, model } = await openChat({ place, env });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("touch theirs"));
  turn.finish();
  await asked(terminal, /^\? bash/m);
  terminal.send("e");
  await terminal.waitFor(/^waiting/m);
  terminal.kill("SIGTERM");
  expect((await terminal.exited).exitCode).toBe(143);
  expect([terminal.mode(25), terminal.mode(2004)]).toEqual([true, false]);
  expect(existsSync(join(place.workDir, "theirs"))).toBe(false);
});
