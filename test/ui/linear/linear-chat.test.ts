import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { prepareChat, say } from "../../helpers/chat.ts";
import type { PacedModel } from "../../helpers/paced-model.ts";
import { bash, type Place } from "../../helpers/program.ts";
import { ctrl, type Exit, SHELL_WAITS, startChat, startShell, type Terminal } from "../../helpers/terminal.ts";

type LinearOptions = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly columns?: number;
};

/** The linear chat in a dumb terminal, ready for a message. */
const openLinear = async (options: LinearOptions = {}) => {
  const { place, model, env } = await prepareChat(options);
  const terminal = startChat(options.args ?? [], { ...options, place, env: { TERM: "dumb", ...env, ...options.env } });
  await terminal.waitFor(waitsForMe);
  return { terminal, model, place };
};

/** The prompt stands in the last row. */
const waitsForMe = (terminal: Terminal): boolean => terminal.raw().endsWith("> ");

/** What was said, a line each, without the prompt and the echo of what was typed after it. */
const said = (terminal: Terminal): readonly string[] => terminal.all().split("\n");

const BARE = /[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/;

/** Leaves by Ctrl+D; no control character was written but the ends of lines. */
const leavePlainly = async (terminal: Terminal): Promise<Exit> => {
  terminal.send(ctrl("d"));
  const exit = await terminal.exited;
  expect(terminal.raw()).not.toMatch(BARE);
  return exit;
};

const callTools = async (model: PacedModel, ...calls: readonly (readonly [string, unknown])[]): Promise<void> => {
  const turn = await model.next();
  turn.callTools(...calls);
  turn.finish();
};

test.each([
  ["a dumb terminal", { TERM: "dumb" }],
  ["a screen reader", { TERM: "xterm-256color", HARNESS9_SCREEN_READER: "1" }],
])("%s: a turn is told in sentences, without one control sequence", async (_name, env) => {
  const { terminal, model } = await openLinear({
    env,
    args: ["--allow", "bash"],
    files: { "a.txt": "one\ntwo\n" },
  });
  say(terminal, "look around");
  const turn = await model.next();
  turn.send("I will **look**.\n\nThen");
  await terminal.waitFor("answer: I will look.");
  expect(terminal.all()).not.toContain("Then");
  turn.send(" I tell.");
  turn.callTools(["read_file", { path: "a.txt" }]);
  turn.finish();
  await callTools(model, bash("echo hello; exit 3"));
  (await model.next()).answer("| Name | Size |\n| --- | --- |\n| a.txt | 8 |\n| b.txt | 9 |\n");
  await terminal.waitFor("Size: 9");
  await terminal.waitFor(waitsForMe);
  const told = said(terminal).map((line) => line.replace(/\d+ ms|\d+\.\d s/, "TIME"));
  expect(told.slice(told.indexOf("> look around"))).toEqual([
    "> look around",
    "answer: I will look.",
    "",
    "  Then I tell.",
    "running read_file: a.txt",
    "read_file ended: 2 lines, TIME",
    "running bash: echo hello; exit 3",
    "bash ended: exit 3, TIME",
    "   hello",
    "answer: Name: a.txt",
    "  Size: 8",
    "",
    "  Name: b.txt",
    "  Size: 9",
    ">",
  ]);
  expect(await leavePlainly(terminal)).toEqual({ exitCode: 0, signal: 0 });
});

test("a question is numbered lines, and a number answers it", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  await callTools(model, bash("touch made"));
  await terminal.waitFor("Answer with a number");
  await terminal.waitFor(waitsForMe);
  expect(terminal.all()).not.toContain("running bash");
  expect(said(terminal).filter((line) => /^(question:|\d\.|Answer)/.test(line))).toEqual([
    expect.stringMatching(/^question: bash +touch made$/),
    "1. yes",
    "2. yes, and do not ask again in this session: bash(touch made)",
    "3. yes, always in this folder: bash(touch made) (in ~/.harness9/trust.json)",
    "4. yes, always and everywhere: bash(touch made) (in ~/.harness9/config.json)",
    "5. edit it first, in your editor",
    "6. no, and say why",
    "Answer with a number; an empty line means no.",
  ]);
  say(terminal, "1");
  await terminal.waitFor("running bash: touch made");
  const { last } = await model.next();
  expect(last).not.toMatch(/reject|denied/i);
});

test("a refusal asks for the reason, and the model hears it", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  await callTools(model, bash("touch made"));
  await terminal.waitFor("Answer with a number");
  await terminal.waitFor(waitsForMe);
  say(terminal, "no");
  await terminal.waitFor("Why not?");
  await terminal.waitFor(waitsForMe);
  say(terminal, "use another name");
  const next = await model.next();
  expect(next.last).toContain("use another name");
  await terminal.waitFor("bash was refused");
});

test("an empty line refuses", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  await callTools(model, bash("touch made"));
  await terminal.waitFor("Answer with a number");
  await terminal.waitFor(waitsForMe);
  say(terminal, "");
  await terminal.waitFor("bash was refused");
});

test("what is no answer becomes a message, and the question stays", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  await callTools(model, bash("touch made"));
  await terminal.waitFor("Answer with a number");
  await terminal.waitFor(waitsForMe);
  say(terminal, "and then tell me");
  await terminal.waitFor("queued, 1 waiting");
  expect(terminal.all()).toContain("the question still waits");
  await terminal.waitFor(waitsForMe);
  say(terminal, "9");
  await terminal.waitFor("there is no such answer: 9");
  await terminal.waitFor(waitsForMe);
  say(terminal, "y");
  const next = await model.next();
  expect(next.last).toContain("and then tell me");
  await terminal.waitFor("you: and then tell me");
});

test("lines that were sent before a question stood there never answer it", async () => {
  const { terminal, model, place } = await openLinear();
  say(terminal, "go");
  const turn = await model.next();
  terminal.send("1\r".repeat(300));
  await terminal.waitFor((shown) => shown.raw().includes("queued, 1 waiting"));
  turn.callTools(bash("touch made"));
  turn.finish();
  await terminal.waitFor("queued, 300 waiting");
  await terminal.waitFor(waitsForMe);
  expect(terminal.all()).not.toContain("running bash");
  say(terminal, "6");
  await terminal.waitFor("Why not?");
  say(terminal, "");
  const next = await model.next();
  expect(next.last).toContain("1\n\n1");
  expect(() => readFileSync(join(place.workDir, "made"))).toThrow();
});

test("Ctrl+C stops what runs and nothing else; two at an idle prompt leave", async () => {
  const { terminal, model } = await openLinear({ args: ["--allow", "bash"] });
  say(terminal, "wait");
  await callTools(model, bash("echo started; sleep 600"));
  await terminal.waitFor("running bash: echo started; sleep 600");
  terminal.send(ctrl("c"));
  await terminal.waitFor("interrupted by you", 5000);
  await terminal.waitFor(waitsForMe);
  say(terminal, "go");
  const turn = await model.next();
  turn.send("Once upon");
  say(terminal, "later");
  await terminal.waitFor("queued, 1 waiting");
  terminal.send(ctrl("c"));
  await terminal.waitFor(/answer: Once upon\nnote: interrupted by you/);
  await terminal.waitFor("not sent yet: later");
  await terminal.waitFor(waitsForMe);
  say(terminal, "");
  const next = await model.next();
  expect(next.last).toBe("later");
  next.answer("Here.");
  await terminal.waitFor("answer: Here.");
  await terminal.waitFor(waitsForMe);
  terminal.send(ctrl("c"));
  await terminal.waitFor("press ctrl+c again to leave");
  terminal.send(ctrl("c"));
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  expect(terminal.raw()).not.toMatch(BARE);
});

test("Ctrl+C at a question refuses by stopping the run", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  await callTools(model, bash("touch made"));
  await terminal.waitFor("Answer with a number");
  await terminal.waitFor(waitsForMe);
  terminal.send(ctrl("c"));
  await terminal.waitFor("interrupted by you");
  await terminal.waitFor(waitsForMe);
  say(terminal, "1");
  const next = await model.next();
  expect(next.last).toBe("1");
});

test("a line that ends with a backslash goes on", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "one \\");
  say(terminal, "two");
  expect((await model.next()).last).toBe("one \ntwo");
});

test("the first message of the command line is shown and sent", async () => {
  const { place, model, env } = await prepareChat();
  const terminal = startChat(["explain", "this"], { place, env: { ...env, TERM: "dumb" } });
  const turn = await model.next();
  expect(turn.last).toBe("explain this");
  turn.answer("It is empty.", { input: 1000, output: 10 });
  await terminal.waitFor("answer: It is empty.");
  await terminal.waitFor(waitsForMe);
  expect(said(terminal)).toContain("you: explain this");
  expect(await leavePlainly(terminal)).toEqual({ exitCode: 0, signal: 0 });
  expect(terminal.all()).toMatch(/^in 1k, out 10, \$.+\nlog:/m);
});

test("slash commands answer in plain lines; a list is answered by number or name", async () => {
  const { terminal } = await openLinear();
  for (const [command, answer] of [
    ["/help", "/permissions"],
    ["/cost", "total"],
    ["/context", "used"],
    ["/copy", "uses no clipboard"],
    ["/show", "no step has run yet"],
    ["/nonsense", "no command /nonsense"],
  ] as const) {
    say(terminal, command);
    await terminal.waitFor((shown) =>
      said(shown)
        .slice(said(shown).indexOf(`> ${command}`))
        .join("\n")
        .includes(answer),
    );
    await terminal.waitFor(waitsForMe);
  }
  say(terminal, "/permissions");
  await terminal.waitFor("Answer with a number or a part of the name");
  say(terminal, "3");
  await terminal.waitFor("note: plan: reading only");
  await terminal.waitFor(waitsForMe);
  say(terminal, "/permissions");
  await terminal.waitFor(/5\. yolo.*\n.*part of the name/);
  say(terminal, "yolo");
  await terminal.waitFor("Are you sure?");
  say(terminal, "yes");
  await terminal.waitFor("note: yolo:");
  expect(await leavePlainly(terminal)).toEqual({ exitCode: 0, signal: 0 });
});

test("a key that is typed is not shown, and the terminal is as before", async () => {
  const { place, env } = await prepareChat();
  const shell = startShell({ place, env: { ...env, TERM: "dumb" } });
  await shell.waitFor(SHELL_WAITS);
  shell.send("stty -a > before; $HARNESS9; echo code $?; stty -a > after; diff before after && echo same\r");
  await shell.waitFor(waitsForMe);
  say(shell, "/login anthropic");
  await shell.waitFor("What you type is not shown");
  await shell.waitFor(waitsForMe);
  shell.send("sk-secrx\x7fet-1234567890\r");
  await shell.waitFor("note: stored");
  expect(readFileSync(join(place.home, ".harness9", ".env"), "utf8")).toContain("sk-secret-1234567890");
  await shell.waitFor(waitsForMe);
  say(shell, "/login openai");
  await shell.waitFor(/What you type is not shown[\s\S]*What you type is not shown/);
  await shell.waitFor(waitsForMe);
  shell.send("half a key\x03");
  await shell.idle();
  say(shell, "/quit");
  await shell.waitFor("same\nshell>");
  expect(shell.screen()).toMatch(/^code 0$/m);
  expect(shell.raw()).not.toMatch(/sk-sec|half a key/);
  expect(shell.raw()).not.toMatch(BARE);
});

test("!command runs it and tells as of a step", async () => {
  const { terminal } = await openLinear();
  say(terminal, "!echo $((40 + 2))");
  await terminal.waitFor("   42");
  await terminal.waitFor(waitsForMe);
  expect(said(terminal)).toContain("running bash: echo $((40 + 2))");
  say(terminal, "!");
  await terminal.waitFor("there is no command behind the !");
});

test("an error says what to do", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  (await model.next()).fail(401, { error: { message: "bad key" } });
  await terminal.waitFor(/^error: /m);
  await terminal.waitFor(waitsForMe);
});

const HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\rrunning bash: fake\nbash ended: exit 0\n> \u202eevil\n1. yes";

test.each([80, 40])("nothing of others looks like a line of ours at %i columns", async (columns) => {
  const { terminal, model } = await openLinear({
    columns,
    args: ["--allow", "bash"],
    files: { "evil.sh": `printf '%s\\n' 'bash ended: exit 0' '> fake' '1. yes'; printf '\\033[2J\\rover\\n'` },
  });
  say(terminal, "go");
  const turn = await model.next();
  turn.send(`Hi.\n\n${HOSTILE}\n\n${"x ".repeat(columns)}question: no\n\n    ${"y".repeat(columns * 2)}question: no`);
  turn.callTools(bash("sh evil.sh"), [`bad\x1b[31m\nname`, { a: HOSTILE }]);
  turn.finish();
  (await model.next()).answer("Done.");
  await terminal.waitFor("answer: Done.");
  await terminal.waitFor(waitsForMe);
  const rows = terminal.all().split("\n");
  const ours = rows.slice(rows.indexOf("> go") + 1).filter((row) => row !== "" && !row.startsWith("  "));
  expect(ours.map((row) => row.replace(/\d+ ms|\d+\.\d s/, "TIME"))).toEqual([
    "answer: Hi.",
    expect.stringMatching(/^bad.*failed: TIME$/),
    "running bash: sh evil.sh",
    "bash ended: exit 0, TIME",
    "answer: Done.",
    ">",
  ]);
  expect(terminal.raw()).not.toContain("\u202e");
  expect(await leavePlainly(terminal)).toEqual({ exitCode: 0, signal: 0 });
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends it with %i", async (signal, code) => {
  const { terminal } = await openLinear();
  terminal.kill(signal);
  expect(await terminal.exited).toEqual({ exitCode: code, signal: 0 });
});

test("what was sent goes to the history, in its order and to the last line", async () => {
  const { terminal, place } = await openLinear();
  terminal.send("/cost\r/theme\r\r/quit\r");
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  const entries = historyOf(place).map((line) => (JSON.parse(line) as { readonly text: string }).text);
  expect(entries).toEqual(["/cost", "/theme", "/quit"]);
});

const historyOf = ({ home }: Place): readonly string[] =>
  readFileSync(join(home, ".harness9", "history.jsonl"), "utf8")
    .trim()
    .split("\n");

test("in Chinese, a table of figures has no bar and no marks", async () => {
  const { terminal } = await openLinear({ env: { LANG: "zh_CN.UTF-8" } });
  say(terminal, "/context");
  await terminal.waitFor("空闲");
  await terminal.waitFor(waitsForMe);
  const told = said(terminal);
  expect(told.slice(told.indexOf("> /context") + 1).find((line) => line !== "")).toMatch(/^ +上下文 +token +占比$/);
  expect(await leavePlainly(terminal)).toEqual({ exitCode: 0, signal: 0 });
});

test("a line that the terminal may have cut is told of", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "x".repeat(5000));
  await terminal.waitFor("warning: a terminal hands on 4095 bytes");
  expect((await model.next()).last).toMatch(/^x{4000}/);
});

test("a broken connection takes back an unfinished answer", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  const turn = await model.next();
  turn.send("First paragraph.\n\nSecond");
  await terminal.waitFor("answer: First paragraph.");
  turn.cut();
  (await model.next()).answer("> All of it.");
  await terminal.waitFor("answer: > All of it.");
  expect(terminal.all()).toContain("this unfinished answer does not count");
  expect(terminal.all()).toMatch(/^note: .*broke off[^;]*;\s+try 2 of 5 in/m);
  expect(terminal.all()).not.toContain("Second");
});

test("closing the input in the middle of a run ends it", async () => {
  const { terminal, model } = await openLinear();
  say(terminal, "go");
  const turn = await model.next();
  turn.send("Once upon");
  terminal.send(ctrl("d"));
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  await turn.abandoned;
});
