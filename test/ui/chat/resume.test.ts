import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { countOf, isReady, openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { openAIEnv, type Place, runProgram, sessionFolder } from "../../helpers/program.ts";
import { ctrl, KEYS, startChat, type Terminal } from "../../helpers/terminal.ts";

const ids = (place: Place): readonly string[] =>
  readdirSync(sessionFolder(place)).flatMap((name) => (name.endsWith(".jsonl") ? [name.slice(0, -6)] : []));

const leave = async (terminal: Terminal): Promise<string> => {
  terminal.send(ctrl("d"));
  await terminal.exited;
  return terminal.all();
};

/** Keys answer once the question has been on the screen: the cursor leaves the input then. */
const asked = (terminal: Terminal): Promise<void> =>
  terminal.waitFor(
    (shown) =>
      /Which session is to go on\?[\s\S]*[\d.k]+ tokens {2}\$0.002 {2}what is it/.test(shown.screen()) &&
      takesAnswers(shown),
  );

/** A chat in which one message has been answered, and that has ended. */
const ended = async () => {
  const chat = await openChat({ rows: 40 });
  say(chat.terminal, "what is it");
  (await chat.model.next()).answer("It is **a shop**.", { input: 1000, output: 10 });
  await chat.terminal.waitFor(/It is a shop\.[\s\S]*\n›/);
  const said = await leave(chat.terminal);
  const [id = ""] = ids(chat.place);
  return { ...chat, id, said };
};

test("leaving says how to go on, and -c shows the end of the conversation and goes on", async () => {
  const { place, model, id, said } = await ended();
  expect(said).toContain(`harness9 --session ${id}`);
  const terminal = startChat(["-c"], { place, env: openAIEnv(model), rows: 40 });
  await terminal.waitFor(isReady);
  await terminal.waitFor(/session \S+ goes on[\s\S]*› what is it[\s\S]*It is a shop\./);
  say(terminal, "and now");
  const turn = await model.next();
  expect(turn.messages.slice(1).map(({ content }) => content)).toEqual(["what is it", "It is **a shop**.", "and now"]);
  turn.answer("More.", { input: 2000, output: 10 });
  await terminal.waitFor("More.");
  // What the session has cost in all.
  expect(await leave(terminal)).toContain("in 3k, out 20");
  expect(ids(place)).toEqual([id]);
});

test("/resume and -r choose a session of the folder; an empty one leaves nothing behind", async () => {
  const { place, model, id } = await ended();
  const terminal = startChat(["-r"], { place, env: openAIEnv(model), rows: 40 });
  await asked(terminal);
  terminal.send(KEYS.escape);
  await terminal.waitFor(isReady);
  say(terminal, "/resume");
  await asked(terminal);
  // Who has just typed has to pause.
  await terminal.idle(1000);
  terminal.send(KEYS.enter);
  await terminal.waitFor(/It is a shop\./);
  await terminal.waitFor(isReady);
  say(terminal, "and now");
  const turn = await model.next();
  expect(turn.messages.slice(1).map(({ content }) => content)).toEqual(["what is it", "It is **a shop**.", "and now"]);
  turn.answer("More.");
  await terminal.waitFor("More.");
  expect(countOf(terminal, "It is a shop.")).toBe(1);
  await leave(terminal);
  expect(ids(place)).toEqual([id]);
});

test("/resume of the session that one is in says so, and all stays as it was", async () => {
  const { terminal, model, place } = await openChat({ rows: 40 });
  say(terminal, "what is it");
  (await model.next()).answer("It is **a shop**.");
  await terminal.waitFor(/It is a shop\.[\s\S]*\n›/);
  const [id = ""] = ids(place);
  say(terminal, `/resume ${id.slice(-4)}`);
  await terminal.waitFor(`the session ${id} is this one`);
  say(terminal, "and now");
  expect((await model.next()).messages.length).toBe(4);
});

test("a chat that was killed while a command ran goes on with that step closed", async () => {
  const { terminal, model, place } = await openChat({ rows: 40, args: ["--permission-mode", "auto"] });
  say(terminal, "work");
  const turn = await model.next();
  turn.callTools(["bash", { command: "sleep 60" }]);
  turn.finish();
  await terminal.waitFor(/bash +sleep 60/);
  terminal.kill("SIGKILL");
  await terminal.exited;
  const again = startChat(["-c"], { place, env: openAIEnv(model), rows: 40 });
  await again.waitFor(isReady);
  await again.waitFor(/sleep 60[\s\S]*interrupted/);
  // `auto` is what a run begins with: the chat asks again.
  await again.waitFor(/^ {2}ask /m);
  say(again, "next");
  const next = await model.next();
  expect(next.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  next.answer("Done.");
  await again.waitFor("Done.");
});

test("what cannot go on is said before anything is drawn", async () => {
  const { place, model } = await openChat();
  const [running = ""] = ids(place);
  const refused = startChat(["--session", running], { place, env: openAIEnv(model) });
  expect((await refused.exited).exitCode).toBe(1);
  expect(refused.all()).toMatch(/another process uses the session[\s\S]*--fork/);
  const piped = await runProgram(["-r"], { place });
  expect([piped.exitCode, piped.stderr]).toEqual([2, expect.stringContaining("--session ID")]);
});
