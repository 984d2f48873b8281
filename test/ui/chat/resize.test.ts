import { expect, test } from "vitest";
import {
  countOf,
  countRules,
  inputText,
  isReady,
  openChat,
  prepareChat,
  rowsBelowRule,
  say,
  takesAnswers,
} from "../../helpers/chat.ts";
import { bash } from "../../helpers/program.ts";
import { startChat } from "../../helpers/terminal.ts";

const SENTENCE = "The quick brown fox jumps over the lazy dog while the model keeps on talking to the terminal. ";

test("a terminal that changes its width while an answer comes has one input and no ghosts", async () => {
  const { terminal, model } = await openChat({ columns: 120, rows: 30 });
  say(terminal, "talk");
  const turn = await model.next();
  let part = 0;
  const talk = async (): Promise<void> => {
    for (let times = 0; times < 10; times++) turn.send(`part${++part}x ${SENTENCE}`);
    turn.send("\n\n");
    await terminal.waitFor((shown) => shown.all().replaceAll(/\s+/g, "").includes(`part${part}x`));
  };
  await talk();
  for (const columns of [40, 100, 60, 59, 58, 120, 200, 30, 80]) {
    terminal.resize(columns, 30);
    await talk();
    await terminal.waitFor((shown) => isReady(shown) && rowsBelowRule(shown).length >= 2);
    expect(countRules(terminal), `rules at ${columns} columns\n${terminal.screen()}`).toBe(1);
  }
  turn.finish({ input: 10, output: 10 });
  await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
  const words = terminal.all().replaceAll(/\s+/g, " ");
  for (let index = 1; index <= part; index++) expect(words.split(`part${index}x`).length - 1, `part ${index}`).toBe(1);
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
  terminal.type("still fine");
  await terminal.waitFor((shown) => inputText(shown) === "still fine");
});

test("a burst of sizes ends with one whole frame", async () => {
  const { terminal } = await openChat();
  terminal.type("typed");
  await terminal.waitFor((shown) => inputText(shown) === "typed");
  // The status row keeps its room: what becomes of the cursor when that wraps, screen.test.ts has.
  for (let columns = 80; columns >= 60; columns -= 1) terminal.resize(columns, 24);
  for (let columns = 60; columns <= 110; columns += 3) terminal.resize(columns, 12 + (columns % 20));
  await terminal.waitFor((shown) => inputText(shown) === "typed");
  await terminal.idle();
  expect(countRules(terminal)).toBe(1);
  expect(countOf(terminal, "› typed")).toBe(1);
});

test.each([
  [1, 24],
  [1, 1],
  [80, 5],
  [80, 1],
  [3, 3],
  [300, 100],
])("at %i columns and %i rows it starts, takes a message and leaves", async (columns, rows) => {
  const { terminal, model } = await openChatAnyhow(columns, rows);
  say(terminal, "hello");
  const turn = await model.next();
  expect(turn.last).toBe("hello");
  turn.send(SENTENCE.repeat(5));
  turn.callTools(bash("git push --force"));
  turn.finish();
  // So small a screen may not show the question; the window's title does.
  await terminal.waitFor((shown) => shown.title().startsWith("?") && takesAnswers(shown));
  terminal.send("\x1b");
  (await model.next()).answer(`${SENTENCE}\n\n# End\n`);
  await terminal.idle();
  terminal.resize(90, 30);
  await terminal.waitFor((shown) => isReady(shown) && shown.all().replaceAll(/\s+/g, "").includes("End"));
  terminal.send("\x04");
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
});

test("at 40 columns a turn is readable, and its figures are there", async () => {
  const { terminal, model } = await openChat({ columns: 40, files: { "src/some/deep/folder/file.ts": "x\n" } });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(["read_file", { path: "src/some/deep/folder/file.ts" }]);
  turn.finish({ input: 1000, output: 10 });
  (await model.next()).answer(SENTENCE, { input: 2000, output: 100 });
  await terminal.waitFor((shown) => /out 110/.test(rowsBelowRule(shown).join("\n")) && !/esc/.test(shown.screen()));
  expect(terminal.all()).toMatch(/^✓ read_file/m);
  expect(terminal.all()).toMatch(/1 line · \d+ ms/);
  expect(rowsBelowRule(terminal).join("\n")).toMatch(/\$0\.00/);
  for (const row of terminal.rows()) expect(row.length).toBeLessThan(40);
});

/** Too small to tell from its screen that it is ready. */
const openChatAnyhow = async (columns: number, rows: number) => {
  if (columns >= 10 && rows >= 3) return openChat({ columns, rows });
  const { place, model, env } = await prepareChat();
  const terminal = startChat([], { place, env, columns, rows });
  await terminal.waitFor((shown) => shown.mode(2004) === true);
  return { terminal, model, place };
};
