import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { inputText, isReady, openChat, say } from "../../helpers/chat.ts";
import { openAIEnv, put, runProgram, sessionFolder } from "../../helpers/program.ts";
import { AFTER, asked, files, rewind, turn, worked, write } from "../../helpers/rewinding.ts";
import { ctrl, KEYS, startChat } from "../../helpers/terminal.ts";

const BEFORE_SECOND = { "a.txt": "two\n", "kept.txt": "kept\n" };

test("/rewind takes conversation and files back to before a turn, and /rewind redo forth again", async () => {
  const chat = await worked();
  const { terminal, model } = chat;
  expect(files(chat)).toEqual(AFTER);
  say(terminal, "/rewind");
  await asked(terminal, /Go back to before what\?[\s\S]*3 .*2 files \+2 −2 {2}third[\s\S]*2 .*second[\s\S]*1 .*first/);
  terminal.send("2");
  await asked(
    terminal,
    /Back to before: second[\s\S]*3 files would change:[\s\S]*a\.txt {2}changes \+1 −1[\s\S]*b\.txt {2}is removed[\s\S]*kept\.txt {2}comes back \+1 −0/,
  );
  terminal.send("1");
  await terminal.waitFor(/back to before: second\n *conversation and 3 files/);
  expect(files(chat)).toEqual(BEFORE_SECOND);
  expect(inputText(terminal)).toBe("second");
  terminal.send(ctrl("u"));
  say(terminal, "/rewind redo");
  await terminal.waitFor(/taken back: the way back to before: second/);
  expect(files(chat)).toEqual(AFTER);
  say(terminal, "/rewind");
  await asked(terminal, "Go back to before what?");
  terminal.send("2");
  await asked(terminal, "Back to before: second");
  terminal.send("1");
  await terminal.waitFor((shown) => inputText(shown) === "second");
  terminal.send(KEYS.enter);
  const again = await model.next();
  expect(again.messages.slice(1).map(({ role, content }) => [role, content ?? ""])).toEqual([
    ["user", "first"],
    ["assistant", ""],
    ["tool", expect.stringContaining("a.txt")],
    ["assistant", "Done: first."],
    ["user", "second"],
  ]);
  again.answer("Once more.");
  await terminal.waitFor("Once more.");
});

test("what somebody else has changed since is shown, and stays as it is", async () => {
  const chat = await worked();
  const { terminal, place } = chat;
  put(place.workDir, "a.txt", "mine\n");
  put(place.workDir, "other.txt", "mine too\n");
  say(terminal, "/rewind");
  await asked(terminal, "Go back to before what?");
  terminal.send("2");
  await asked(terminal, /2 files would change:[\s\S]*changed since by others, this stays as it is:\n *a\.txt/);
  terminal.send("1");
  await terminal.waitFor(/conversation and 2 files/);
  expect(files(chat)).toEqual({ "a.txt": "mine\n", "kept.txt": "kept\n", "other.txt": "mine too\n" });
});

test("files alone go back with Esc Esc, and the model is told with the next message", async () => {
  const chat = await worked();
  const { terminal, model } = chat;
  await terminal.idle(200);
  terminal.send(KEYS.escape);
  await terminal.waitFor("press esc again to go back");
  terminal.send(KEYS.escape);
  await asked(terminal, "Go back to before what?");
  terminal.send("3");
  await asked(terminal, "Back to before: first");
  terminal.send("3");
  await terminal.waitFor(/back to before: first\n *3 files/);
  expect(files(chat)).toEqual({ "a.txt": "one\n", "kept.txt": "kept\n" });
  expect(inputText(terminal)).toBe("");
  say(terminal, "go on");
  const next = await model.next();
  expect(next.messages.slice(-1).map(({ content }) => content)).toEqual([
    expect.stringMatching(/^go on\n\nReminder from harness9: the user has taken files/),
  ]);
  next.answer("I look.");
  await terminal.waitFor("I look.");
  expect(terminal.all()).not.toContain("Reminder from harness9");
});

test("the conversation alone goes back; a later chat has its turns, and takes the files back too", async () => {
  const chat = await worked();
  const { terminal, model, place } = chat;
  await rewind(chat, "1", "Back to before: third", "2");
  await terminal.waitFor(/back to before: third\n *the conversation; files are as they were/);
  expect([files(chat), inputText(terminal)]).toEqual([AFTER, "third"]);
  terminal.send(ctrl("u"));
  terminal.send(ctrl("d"));
  await terminal.exited;

  const again = startChat(["-c"], { place, env: openAIEnv(model), rows: 44 });
  await again.waitFor(isReady);
  expect(again.screen()).toMatch(/› second[\s\S]*Done: second\./);
  expect(again.screen()).not.toContain("third");
  await rewind({ terminal: again }, "3", "Back to before: first", "1");
  await again.waitFor(/back to before: first\n *conversation and/);
  expect(files(chat)).toEqual({ "a.txt": "one\n", "kept.txt": "kept\n" });
  again.send(ctrl("u"));
  say(again, "/rewind redo");
  await again.waitFor("taken back");
  say(again, "/rewind redo");
  await again.waitFor(/taken back: the way back to before: third/);
  expect(files(chat)).toEqual(AFTER);
});

test("a person's own command between runs is a turn that can be undone", async () => {
  const chat = await worked();
  const { terminal } = chat;
  say(terminal, "!rm a.txt b.txt");
  await terminal.waitFor(/✓ bash +rm a\.txt b\.txt[\s\S]*\n›/);
  await rewind(chat, "1", "Back to before: !rm a.txt b.txt", "1");
  await terminal.waitFor(/conversation and 2 files/);
  expect([files(chat), inputText(terminal)]).toEqual([AFTER, "!rm a.txt b.txt"]);
});

test("/diff shows what the last turn, one by its number and the whole session have changed", async () => {
  const chat = await worked();
  const { terminal } = chat;
  say(terminal, "/diff");
  await terminal.waitFor(
    /turn 3: third\n *2 files \+2 −2[\s\S]*a\.txt {2}\+1 −1[\s\S]*1 - two\n *1 \+ three[\s\S]*b\.txt/,
  );
  say(terminal, "/diff 2");
  await terminal.waitFor(
    /turn 2: second\n *2 files \+1 −1[\s\S]*b\.txt {2}new \+1 −0[\s\S]*kept\.txt {2}removed \+0 −1/,
  );
  say(terminal, "/diff session");
  await terminal.waitFor(/all of this session\n *3 files \+2 −2[\s\S]*1 - one\n *1 \+ three/);
  say(terminal, "/diff 9");
  await terminal.waitFor("there is no turn 9");
});

test("/fork goes on under another id with the same history, turns and files; the old session stays", async () => {
  const chat = await worked();
  const { terminal, model, place } = chat;
  const sessions = (): readonly string[] =>
    readdirSync(sessionFolder(place)).flatMap((name) => (name.endsWith(".jsonl") ? [name.slice(0, -6)] : []));
  const [old = ""] = sessions();
  say(terminal, "/fork");
  await terminal.waitFor(/this goes on as the session \S+; \S+ stays\s+as it was/);
  await turn(chat, "fourth", write("a.txt", "four\n"));
  await rewind(chat, "4", "Back to before: first", "1");
  await terminal.waitFor(/back to before: first/);
  expect(files(chat)).toEqual({ "a.txt": "one\n", "kept.txt": "kept\n" });
  terminal.send(ctrl("u"));
  terminal.send(ctrl("d"));
  await terminal.exited;
  const others = sessions().filter((id) => id !== old);
  expect(others).toHaveLength(1);
  const shown = await runProgram(["sessions", "show", old], { place, env: openAIEnv(model) });
  expect(shown.stdout).toContain("Done: third.");
  expect(shown.stdout).not.toContain("fourth");
  const forked = await runProgram(["sessions", "show", others[0] ?? ""], { place, env: openAIEnv(model) });
  expect(forked.stdout).not.toContain("## ");
  expect(forked.stdout).toMatch(/gone back \(both\) to before: first/);
});

test("nothing goes back while something runs, and where there is nothing", async () => {
  const chat = await openChat({ rows: 40 });
  const { terminal, model } = chat;
  say(terminal, "/rewind");
  await terminal.waitFor("there is nothing to go back to yet");
  say(terminal, "/rewind redo");
  await terminal.waitFor("there is nothing to take back");
  say(terminal, "/diff");
  await terminal.waitFor("no file has been changed");
  say(terminal, "hello");
  const running = await model.next();
  say(terminal, "/rewind");
  await terminal.waitFor("something still runs: stop it first");
  say(terminal, "/fork");
  await terminal.waitFor(/stop it first[\s\S]*stop it first/);
  running.answer("Hi.");
  await terminal.waitFor("Hi.");
});
