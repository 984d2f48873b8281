import { expect, test } from "vitest";
import { openChat, prepareChat, say, takesAnswers } from "../../helpers/chat.ts";
import { sequencesIn } from "../../helpers/sequences.ts";
import { ctrl, startChat } from "../../helpers/terminal.ts";

const COLOR = /\x1b\[[\d;]*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:[;m])/;
const ANSWER = "# Title\n\nSome `code` and a [link](https://example.com).\n\n```js\nconst x = 1;\n```\n";

test("with NO_COLOR nothing has a colour", async () => {
  const { terminal, model } = await openChat({ env: { NO_COLOR: "1" } });
  say(terminal, "go");
  const turn = await model.next();
  turn.send(ANSWER);
  turn.callTools(["write_file", { path: "a.txt", content: "x\n" }]);
  turn.finish();
  await terminal.waitFor(/^\? write_file/m);
  await terminal.waitFor(takesAnswers);
  terminal.send("y");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect(terminal.raw()).not.toMatch(COLOR);
  expect(terminal.all()).toContain("https://example.com");
});

test("in colour the failed and the changed stand out", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  (await model.next()).answer(ANSWER);
  await terminal.waitFor("const x = 1;");
  expect(terminal.raw()).toMatch(COLOR);
});

test("a dumb terminal gets no control sequence at all", async () => {
  const { place, model, env } = await prepareChat();
  const terminal = startChat([], { place, env: { ...env, TERM: "dumb" } });
  await terminal.waitFor(/^[›>]/m);
  say(terminal, "go");
  const turn = await model.next();
  turn.send(ANSWER);
  turn.callTools(["write_file", { path: "a.txt", content: "x\n" }]);
  turn.finish();
  await terminal.waitFor(/^1\. yes[\s\S]*>$/m);
  await terminal.idle();
  terminal.send("1\r");
  (await model.next()).answer("All done.");
  await terminal.waitFor("All done.");
  terminal.send(ctrl("d"));
  expect((await terminal.exited).exitCode).toBe(0);
  expect(sequencesIn(terminal.raw())).toEqual([]);
});

test("for a screen reader a step is a sentence at its beginning and one at its end, and nothing is drawn twice", async () => {
  const { terminal, model } = await openChatForReader();
  say(terminal, "go");
  const turn = await model.next();
  turn.send(ANSWER);
  turn.callTools(["write_file", { path: "a.txt", content: "x\n" }]);
  turn.finish();
  await terminal.waitFor(/write_file|a\.txt/);
  await terminal.waitFor(/1[.)] /);
  expect(terminal.raw()).not.toMatch(/[─│⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  await terminal.waitFor((shown) => shown.raw().endsWith("> "));
  terminal.send("1\r");
  (await model.next()).answer("All done.");
  await terminal.waitFor("All done.");
  expect(terminal.raw()).not.toMatch(/\x1b\[\d*[ABJL]/);
});

const openChatForReader = async () => {
  const { place, model, env } = await prepareChat({ settings: { screenReader: true } });
  const terminal = startChat([], { place, env });
  await terminal.waitFor((shown) => shown.raw().length > 0);
  await terminal.idle(300);
  return { terminal, model };
};
