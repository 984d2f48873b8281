import { chmodSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { inputText, isReady, openChat, prepareChat, rowsBelowRule, say } from "../../helpers/chat.ts";
import { bash, ENTRY, newPlace, put, startProgram } from "../../helpers/program.ts";
import { eventually, processesIn } from "../../helpers/run-bash.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import { ctrl, KEYS, SHELL_WAITS, startShell, type Terminal } from "../../helpers/terminal.ts";

const modesOf = (terminal: Terminal): object => ({
  isCursorShown: terminal.mode(25) !== false,
  isPasteBracketed: terminal.mode(2004) === true,
  hasKittyKeys:
    (terminal.raw().match(/\x1b\[>\d+u/g) ?? []).length > (terminal.raw().match(/\x1b\[<\d*u/g) ?? []).length,
  isFrameOpen: terminal.mode(2026) === true,
  title: terminal.title(),
});

const RESTORED = { isCursorShown: true, isPasteBracketed: false, hasKittyKeys: false, isFrameOpen: false, title: "" };

test("Ctrl+C clears what is typed, hints, and the second press exits with how to come back", async () => {
  const { terminal } = await openChat();
  terminal.type("something");
  await terminal.waitFor((shown) => inputText(shown) === "something");
  terminal.send(ctrl("c"));
  await terminal.waitFor(
    (shown) => inputText(shown) === "" && /cleared|ctrl\+c/i.test(rowsBelowRule(shown).join("\n")),
  );
  terminal.send(ctrl("c"));
  await terminal.idle();
  terminal.send(ctrl("c"));
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  expect(modesOf(terminal)).toEqual(RESTORED);
});

test("the hint of Ctrl+C goes by itself", async () => {
  const { terminal } = await openChat();
  terminal.send(ctrl("c"));
  await terminal.waitFor((shown) => /ctrl\+c/i.test(rowsBelowRule(shown).join("\n")));
  await terminal.waitFor((shown) => !/ctrl\+c/i.test(rowsBelowRule(shown).join("\n")));
});

test("Ctrl+D exits on an empty input and nowhere else", async () => {
  const { terminal } = await openChat();
  terminal.type("ab");
  await terminal.waitFor((shown) => inputText(shown) === "ab");
  terminal.send(ctrl("d"));
  terminal.type("c");
  await terminal.waitFor((shown) => inputText(shown) === "abc");
  terminal.send(ctrl("u"));
  await terminal.waitFor((shown) => inputText(shown) === "");
  terminal.send(ctrl("d"));
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
});

test("/quit exits, and the last line says what the session took", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "hello");
  (await model.next()).answer("Hi.", { input: 1000, output: 10 });
  await terminal.waitFor("● Hi.");
  say(terminal, "/quit");
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  const all = terminal.all();
  expect(all).toMatch(/^› hello$/m);
  expect(all.split("\n").slice(-6).join("\n")).toMatch(/\$0\.00/);
  expect(all).not.toMatch(/^─+$/m);
  expect(modesOf(terminal)).toEqual(RESTORED);
});

test("after an exit the shell's terminal is as before, and its prompt on a line of its own", async () => {
  const { place, env } = await prepareChat();
  const shell = startShell({ place, env });
  await shell.waitFor(SHELL_WAITS);
  shell.send("stty -a > before; $HARNESS9; echo code $?; stty -a > after; diff before after && echo same\r");
  await shell.waitFor(isReady);
  shell.send(ctrl("d"));
  await shell.waitFor("same\nshell>");
  expect(shell.screen()).toMatch(/^code 0$/m);
  expect(modesOf(shell)).toEqual(RESTORED);
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)(
  "%s in the middle of a command restores the terminal, leaves no child and exits with %i",
  async (signal, code) => {
    const { place, env, model } = await prepareChat();
    const shell = startShell({ place, env });
    await shell.waitFor(SHELL_WAITS);
    shell.send(
      "stty -a > before; $HARNESS9 --allow bash; echo code $?; stty -a > after; diff before after && echo same\r",
    );
    await shell.waitFor(isReady);
    say(shell, "go");
    const turn = await model.next();
    turn.callTools(bash("echo started; sleep 1000 & sleep 1000"));
    turn.finish();
    await shell.waitFor("started");
    process.kill(programIn(place.workDir), signal);
    await shell.waitFor("same\nshell>");
    expect(shell.screen()).toMatch(new RegExp(`^code ${code}$`, "m"));
    expect(modesOf(shell)).toEqual(RESTORED);
    await eventually(() => processesIn(place.workDir).every((line) => !line.startsWith("sleep")));
  },
);

test("a terminal that goes away ends the program and its commands", async () => {
  const { terminal, model, place } = await openChat({ args: ["--allow", "bash"] });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("echo started; sleep 1000"));
  turn.finish();
  await terminal.waitFor("started");
  terminal.kill("SIGHUP");
  expect(await terminal.exited).toEqual({ exitCode: 129, signal: 0 });
  await eventually(() => processesIn(place.workDir).length === 0);
});

test("Ctrl+Z stops it with a usable shell, and fg brings the chat back with what was typed", async () => {
  const { place, env, model } = await prepareChat();
  const shell = startShell({ place, env });
  await shell.waitFor(SHELL_WAITS);
  shell.send("stty -a > before; $HARNESS9\r");
  await shell.waitFor(isReady);
  shell.type("half a message");
  await shell.waitFor((shown) => inputText(shown) === "half a message");
  shell.send(ctrl("z"));
  await shell.waitFor(/Stopped/);
  await shell.waitFor(SHELL_WAITS);
  expect(modesOf(shell)).toEqual(RESTORED);
  shell.send("stty -a > after; diff before after && echo same\r");
  await shell.waitFor("same\nshell>");
  shell.send("fg\r");
  await shell.waitFor((shown) => inputText(shown) === "half a message");
  expect(shell.mode(2004)).toBe(true);
  shell.type(", whole");
  await shell.waitFor((shown) => inputText(shown) === "half a message, whole");
  shell.send(KEYS.enter);
  (await model.next()).answer("Got it.");
  await shell.waitFor("● Got it.");
  shell.send(ctrl("d"));
  await shell.waitFor(SHELL_WAITS);
});

test("it can be stopped while an answer comes, and shows the rest after fg", async () => {
  const { place, env, model } = await prepareChat();
  const shell = startShell({ place, env });
  await shell.waitFor(SHELL_WAITS);
  shell.send("$HARNESS9\r");
  await shell.waitFor(isReady);
  say(shell, "go");
  const turn = await model.next();
  turn.send("The first half, ");
  await shell.waitFor("The first half,");
  shell.send(ctrl("z"));
  await shell.waitFor(/Stopped/);
  await shell.waitFor(SHELL_WAITS);
  turn.send("and the second.");
  turn.finish();
  shell.send("echo in-shell\r");
  await shell.waitFor(/^in-shell$/m);
  shell.send("fg\r");
  await shell.waitFor("● The first half, and the second.");
  shell.send(ctrl("d"));
  await shell.waitFor(SHELL_WAITS);
});

test("Ctrl+Z that is held down stops it once", async () => {
  const { place, env } = await prepareChat();
  const shell = startShell({ place, env });
  await shell.waitFor(SHELL_WAITS);
  shell.send("$HARNESS9\r");
  await shell.waitFor(isReady);
  shell.send(ctrl("z").repeat(3));
  await shell.waitFor(/Stopped/);
  await shell.waitFor(SHELL_WAITS);
  shell.send("fg\r");
  await shell.waitFor(isReady);
  await shell.idle();
  shell.type("here");
  await shell.waitFor((shown) => inputText(shown) === "here");
});

test("a window that was given another size while it was stopped is drawn for that size", async () => {
  const { place, env } = await prepareChat();
  const shell = startShell({ place, env });
  await shell.waitFor(SHELL_WAITS);
  shell.send("$HARNESS9\r");
  await shell.waitFor(isReady);
  shell.send(ctrl("z"));
  await shell.waitFor(/Stopped/);
  await shell.waitFor(SHELL_WAITS);
  shell.resize(50, 20);
  shell.send("fg\r");
  await shell.waitFor((shown) => isReady(shown) && shown.rows().includes("─".repeat(49)));
  expect(shell.rows().filter((row) => /^─+$/.test(row))).toEqual(["─".repeat(49)]);
});

test("a signal ends the editor as well, and the terminal is as before", async () => {
  const place = newPlace();
  const editor = put(place.home, "editor", "#!/bin/sh\necho editing\nexec sleep 1000\n");
  chmodSync(editor, 0o700);
  const { terminal } = await openChat({ place, env: { EDITOR: editor } });
  terminal.send(ctrl("g"));
  await terminal.waitFor("editing");
  terminal.kill("SIGTERM");
  expect(await terminal.exited).toEqual({ exitCode: 143, signal: 0 });
  expect(modesOf(terminal)).toEqual(RESTORED);
  await eventually(() => processesIn(place.workDir).length === 0);
});

test("Ctrl+Z where no shell could bring it back does nothing", async () => {
  const { terminal } = await openChat();
  terminal.type("kept");
  await terminal.waitFor((shown) => inputText(shown) === "kept");
  terminal.send(ctrl("z"));
  await terminal.idle();
  terminal.type(" on");
  await terminal.waitFor((shown) => inputText(shown) === "kept on");
});

test.each([
  ["input from a pipe", "echo hi | $HARNESS9"],
  ["closed input", "$HARNESS9 <&-"],
  ["no input", "$HARNESS9 </dev/null"],
  ["output into a pipe", "$HARNESS9 | cat"],
  ["closed output", "$HARNESS9 >&-"],
])("%s: no chat, a sentence that names run, and exit code 2", async (_name, command) => {
  const { place, env } = await prepareChat();
  const shell = startShell({ place, env });
  await shell.waitFor(SHELL_WAITS);
  shell.send(`${command}; echo codes "\${PIPESTATUS[@]}"\r`);
  await shell.waitFor(/^codes .*\n[\s\S]*shell>$/m);
  expect(shell.all()).toContain('harness9 run "');
  expect(shell.all()).not.toMatch(/^\s+at |node:internal/m);
  expect(shell.all()).toMatch(/^codes (0 )?2( 0)?$/m);
  expect(foreignSequences(shell.raw())).toEqual([]);
});

test("without any terminal it says the same", async () => {
  const { place, env } = await prepareChat();
  const ended = await startProgram([], { place, env, stdin: "hi\n" }).ended;
  expect(ended).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringContaining('harness9 run "') });
});

/** The process of the built program that works in a folder. */
const programIn = (folder: string): number => {
  const found = readdirSync("/proc").find((name) => {
    try {
      return (
        readlinkSync(`/proc/${name}/cwd`) === folder && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(ENTRY)
      );
    } catch {
      return false; // no process, or ended since the listing
    }
  });
  return Number(found);
};
