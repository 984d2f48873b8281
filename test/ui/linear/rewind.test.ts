import { expect, test } from "vitest";
import { prepareChat, say } from "../../helpers/chat.ts";
import { files, write } from "../../helpers/rewinding.ts";
import { ctrl, startChat, type Terminal } from "../../helpers/terminal.ts";

/** The prompt stands in the last row. */
const waitsForMe = (terminal: Terminal): boolean => terminal.raw().endsWith("> ");

test("the linear chat goes back by numbers, and Enter sends the message again", async () => {
  const { place, model, env } = await prepareChat({ files: { "a.txt": "one\n" } });
  const terminal = startChat(["--yolo"], { place, env: { TERM: "dumb", ...env } });
  const asked = async (text: string | RegExp): Promise<void> => {
    await terminal.waitFor(text);
    await terminal.waitFor(waitsForMe);
  };
  await terminal.waitFor(waitsForMe);
  say(terminal, "change it");
  const first = await model.next();
  first.callTools(write("a.txt", "two\n"));
  first.finish();
  (await model.next()).answer("Changed.");
  await asked("answer: Changed.");
  say(terminal, "/diff");
  await asked(/turn 1: change it\s+1 file \+1 −1\s+a\.txt {2}\+1 −1\s+1 - one\s+1 \+ two/);
  say(terminal, "/rewind");
  await asked(/Go back to before what\?\s+1\. +#1 +0 m +1 file \+1 −1 +change it/);
  say(terminal, "1");
  await asked(
    /Back to before: change it\s+1 file would change:\s+a\.txt {2}changes \+1 −1\s+1\. conversation and files/,
  );
  say(terminal, "1");
  await asked(/back to before: change it\s+conversation and 1 file\./);
  expect(files({ place })).toEqual({ "a.txt": "one\n" });
  expect(terminal.all()).toContain("change it");
  terminal.send("\r");
  const again = await model.next();
  expect(again.messages.slice(1).map(({ content }) => content)).toEqual(["change it"]);
  again.answer("Again.");
  await asked("answer: Again.");
  terminal.send(ctrl("d"));
  expect(await terminal.exited).toMatchObject({ exitCode: 0 });
});
