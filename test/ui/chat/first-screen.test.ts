import { expect, test } from "vitest";
import { countRules, inputText, isReady, openChat, say } from "../../helpers/chat.ts";
import { newPlace, put } from "../../helpers/program.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import { startChat } from "../../helpers/terminal.ts";

test("with a key the first screen names version, folder and model, and gives things to try", async () => {
  const { terminal } = await openChat();
  const screen = terminal.screen();
  expect(screen).toMatch(/harness9 0\.1\.0 · .*project · openai\/test-model/);
  expect(screen).toContain("/help");
  expect(screen).toMatch(/^ {2}ask .*shift\+tab/m);
  expect(screen).toMatch(/\? keys +\/ commands/);
  expect(inputText(terminal)).toBe("");
  expect(countRules(terminal)).toBe(1);
  expect(foreignSequences(terminal.raw())).toEqual([]);
});

test("the cursor waits after the mark of the input", async () => {
  const { terminal } = await openChat();
  const row = terminal.rows().findLastIndex((line) => line.startsWith("›"));
  expect(terminal.cursor()).toEqual({ x: 2, y: row });
  expect(terminal.mode(25)).not.toBe(false);
});

test("an idle prompt writes nothing", async () => {
  const { terminal } = await openChat();
  await terminal.idle(500);
  const before = terminal.raw().length;
  await terminal.idle(1500);
  expect(terminal.raw().length - before).toBe(0);
});

test("without a key it says how to connect a model, and the demonstration carries out an order", async () => {
  const place = newPlace();
  put(place.workDir, "README.md", "# Shop\nIt sells.\n");
  const terminal = startChat([], { place });
  await terminal.waitFor(isReady);
  const screen = terminal.screen();
  expect(screen).toContain("offline demonstration (no model)");
  for (const words of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "--provider ollama"]) expect(screen).toContain(words);
  say(terminal, "read README.md");
  await terminal.waitFor(/^● .*read README\.md/m);
  expect(terminal.all()).toMatch(/^✓ read_file +README\.md .*2 lines/m);
});

test("the words on the command line are the first message", async () => {
  const { terminal, model } = await openChat({ args: ["say", "hello"] });
  const turn = await model.next();
  expect(turn.last).toBe("say hello");
  turn.answer("Hello there.");
  await terminal.waitFor("● Hello there.");
  expect(terminal.all()).toMatch(/^› say hello/m);
});

test("in a Chinese environment it speaks Chinese", async () => {
  const { terminal } = await openChat({ env: { LANG: "zh_CN.UTF-8" } });
  expect(terminal.screen()).toMatch(/\p{Script=Han}/u);
});

test("in an environment without UTF-8 our marks are ASCII", async () => {
  const place = newPlace();
  const terminal = startChat([], { place, env: { LANG: "C" } });
  await terminal.waitFor(/^>/m);
  expect(terminal.raw()).toMatch(/^[\x00-\x7f]*$/);
});
