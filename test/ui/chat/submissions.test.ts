import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { countOf, inputText, openChat, prepareChat, say } from "../../helpers/chat.ts";
import { put } from "../../helpers/program.ts";
import { KEYS, startChat } from "../../helpers/terminal.ts";

/** The end of a session takes until there is a file `go`. */
const command = "touch ending; while [ ! -e go ]; do sleep 0.05; done";
const SLOW_END = { hooks: [{ on: "session.end", command, timeout: 20_000 }] };

test("what is sent right after /clear waits for the new conversation, in its order", async () => {
  const { terminal, model, place } = await openChat({ settings: SLOW_END });
  say(terminal, "one");
  (await model.next()).answer("First answer.");
  await terminal.waitFor("● First answer.");
  say(terminal, "/clear");
  await expect.poll(() => existsSync(join(place.workDir, "ending")), { timeout: 5000 }).toBe(true);
  say(terminal, "!echo from the shell");
  await terminal.waitFor("queued: !echo from the shell");
  say(terminal, "two");
  await terminal.waitFor("queued: two");
  terminal.send(KEYS.up);
  await terminal.waitFor((shown) => inputText(shown) === "two");
  terminal.send(KEYS.enter);
  await terminal.waitFor("queued: two");
  expect(model.count()).toBe(1);
  put(place.workDir, "go", "");
  const turn = await model.next();
  await terminal.waitFor("from the shell");
  expect(JSON.stringify(turn.messages)).not.toContain("First answer.");
  turn.answer("Second answer.");
  await terminal.waitFor("● Second answer.");
  expect([countOf(terminal, "› !echo from the shell"), countOf(terminal, "› two")]).toEqual([1, 1]);
  expect(terminal.all().indexOf(en.replies.cleared)).toBeLessThan(terminal.all().indexOf("› two"));
});

test("a message in the same breath as /clear goes to the new conversation", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "one");
  (await model.next()).answer("First answer.");
  await terminal.waitFor("● First answer.");
  terminal.send("/clear\r");
  terminal.send("two\r");
  const turn = await model.next();
  expect(turn.last).toBe("two");
  expect(JSON.stringify(turn.messages)).not.toContain("First answer.");
});

test("the linear chat holds it too", async () => {
  const { place, model, env } = await prepareChat({ settings: SLOW_END });
  const terminal = startChat([], { place, env: { TERM: "dumb", ...env } });
  await terminal.waitFor((shown) => shown.raw().endsWith("> "));
  say(terminal, "one");
  (await model.next()).answer("First answer.");
  await terminal.waitFor("First answer.");
  say(terminal, "/clear");
  await expect.poll(() => existsSync(join(place.workDir, "ending")), { timeout: 5000 }).toBe(true);
  say(terminal, "two");
  await terminal.idle();
  expect(model.count()).toBe(1);
  put(place.workDir, "go", "");
  const turn = await model.next();
  expect(turn.last).toBe("two");
  expect(JSON.stringify(turn.messages)).not.toContain("First answer.");
});
