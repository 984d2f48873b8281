import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inputText, isReady, openChat, prepareChat, rowsBelowRule, say } from "../../helpers/chat.ts";
import { put } from "../../helpers/program.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import { ctrl, KEYS, startChat } from "../../helpers/terminal.ts";

test("what is typed before the chat is ready is not lost", async () => {
  const { place, model, env } = await prepareChat();
  const terminal = startChat([], { place, env });
  terminal.type("early words");
  await terminal.waitFor((shown) => inputText(shown) === "early words");
  terminal.send(KEYS.enter);
  expect((await model.next()).last).toBe("early words");
});

test.each([
  ["backslash and Enter", `\\${KEYS.enter}`],
  ["Ctrl+J", ctrl("j")],
  ["Alt+Enter", KEYS.altEnter],
  ["Shift+Enter as the kitty protocol has it", "\x1b[13;2u"],
])("%s begins a new line", async (_name, keys) => {
  const { terminal, model } = await openChat();
  terminal.type("one");
  await terminal.waitFor("› one");
  terminal.send(keys);
  await terminal.waitFor((shown) => shown.cursor().x === 2);
  terminal.type("two");
  await terminal.waitFor(/^ {2}two/m);
  terminal.send(KEYS.enter);
  expect((await model.next()).last).toBe("one\ntwo");
  await terminal.waitFor(/^› one\n {2}two/m);
});

test("the cursor stands behind wide characters, and Backspace takes a whole emoji", async () => {
  const { terminal, model } = await openChat();
  terminal.type("你好👩‍👩‍👧");
  await terminal.waitFor("你好👩");
  await terminal.idle();
  terminal.send(KEYS.backspace);
  await terminal.waitFor((shown) => inputText(shown) === "你好");
  expect(terminal.cursor().x).toBe(2 + 4);
  terminal.send(KEYS.left);
  await terminal.waitFor((shown) => shown.cursor().x === 4);
  terminal.type("们");
  await terminal.waitFor("你们好");
  terminal.send(KEYS.enter);
  expect((await model.next()).last).toBe("你们好");
});

test("a paste of three lines is one insertion and sends nothing", async () => {
  const { terminal, model } = await openChat();
  terminal.paste("first\nsecond\nthird");
  await terminal.waitFor("third");
  expect(model.count()).toBe(0);
  terminal.type("!");
  await terminal.waitFor("third!");
  terminal.send(KEYS.enter);
  expect((await model.next()).last).toBe("first\nsecond\nthird!");
});

test("a paste of 200 lines is one chip and reaches the model whole", async () => {
  const { terminal, model } = await openChat();
  const text = Array.from({ length: 200 }, (_, index) => `line ${index + 1} of the paste`).join("\n");
  terminal.type("look: ");
  terminal.paste(text);
  await terminal.waitFor(/look: .*200 lines/);
  expect(terminal.screen()).not.toContain("line 100 of the paste");
  expect(model.count()).toBe(0);
  terminal.type(" ok");
  await terminal.waitFor(/200 lines.* ok/);
  terminal.send(KEYS.enter);
  expect((await model.next()).last).toBe(`look: ${text} ok`);
});

test("a paste in pieces, with carriage returns and control sequences, is text", async () => {
  const { terminal, model } = await openChat();
  for (const piece of ["\x1b[20", "0~a\r\nb\x1b[31m", "\x03\rc\x1b[20", "1~"]) {
    terminal.send(piece);
    await terminal.idle(30);
  }
  await terminal.waitFor(/^ {2}c$/m);
  expect(foreignSequences(terminal.raw())).toEqual([]);
  terminal.send(KEYS.enter);
  const { last } = await model.next();
  expect(last.split("\n").map((line) => line.slice(0, 1))).toEqual(["a", "b", "c"]);
});

test("@ completes a file, and leaves out what .gitignore leaves out", async () => {
  const files = {
    ".gitignore": "build/\n",
    "src/alpha.ts": "export {};\n",
    "build/alpha-out.js": "0\n",
    "src/beta.ts": "export {};\n",
  };
  const { terminal, model } = await openChat({ files });
  terminal.type("read @alph");
  await terminal.waitFor("src/alpha.ts");
  expect(terminal.screen()).not.toContain("alpha-out");
  terminal.send(KEYS.tab);
  await terminal.waitFor((shown) => inputText(shown).startsWith("read @src/alpha.ts"));
  terminal.send(KEYS.enter);
  expect((await model.next()).last).toContain("@src/alpha.ts");
});

test("a file's name with control characters in it drives nothing", async () => {
  const files = { "evil\x1b]0;owned\x07\u202ename.txt": "x", "evil-twin.txt": "x" };
  const { terminal } = await openChat({ files });
  terminal.type("@evil");
  await terminal.waitFor("evil-twin.txt");
  expect(foreignSequences(terminal.raw())).toEqual([]);
  expect(terminal.raw()).not.toContain("\u202e");
});

test("/ completes a command, and /help lists what there is", async () => {
  const { terminal, model } = await openChat();
  terminal.type("/hel");
  await terminal.waitFor("/help");
  terminal.send(KEYS.tab);
  await terminal.waitFor((shown) => inputText(shown).startsWith("/help"));
  terminal.send(KEYS.enter);
  await terminal.waitFor((shown) => shown.all().includes("/quit"));
  expect(model.count()).toBe(0);
});

test("? on an empty input shows the keys, and is a letter elsewhere", async () => {
  const { terminal } = await openChat();
  terminal.send("?");
  await terminal.waitFor(/ctrl\+o/i);
  terminal.send(KEYS.escape);
  await terminal.waitFor((shown) => !/ctrl\+o/i.test(shown.screen()));
  terminal.type("why?");
  await terminal.waitFor((shown) => inputText(shown) === "why?");
});

test("Shift+Tab goes through ask, auto-edit and plan", async () => {
  const { terminal } = await openChat();
  for (const mode of ["auto-edit", "plan", "ask", "auto-edit"]) {
    terminal.send(KEYS.shiftTab);
    await terminal.waitFor((shown) => rowsBelowRule(shown).some((row) => row.startsWith(`  ${mode} `)));
  }
});

test("Ctrl+L draws the screen again and takes nothing away", async () => {
  const { terminal } = await openChat();
  terminal.type("kept");
  await terminal.waitFor("› kept");
  const before = terminal.all();
  terminal.send(ctrl("l"));
  await terminal.idle();
  await terminal.waitFor((shown) => inputText(shown) === "kept");
  expect(terminal.all()).toContain(before.split("\n")[0]);
  expect(terminal.raw()).not.toContain("\x1b[3J");
});

test("Up brings messages back, also those of an earlier session, and Ctrl+R finds one", async () => {
  const { terminal, model, place } = await openChat();
  for (const text of ["paint the fence", "mow the lawn"]) {
    say(terminal, text);
    (await model.next()).answer("Done.");
    await terminal.waitFor((shown) => shown.all().includes(`› ${text}`) && inputText(shown) === "");
  }
  terminal.send(KEYS.up);
  await terminal.waitFor((shown) => inputText(shown) === "mow the lawn");
  terminal.send(KEYS.up);
  await terminal.waitFor((shown) => inputText(shown) === "paint the fence");
  terminal.send(KEYS.down);
  await terminal.waitFor((shown) => inputText(shown) === "mow the lawn");
  terminal.send(ctrl("c"));
  await terminal.waitFor((shown) => inputText(shown) === "");
  terminal.send(ctrl("d"));
  expect((await terminal.exited).exitCode).toBe(0);

  const later = await openChat({ place });
  // The file is read beside the first screen.
  await later.terminal.idle(500);
  later.terminal.send(KEYS.up);
  await later.terminal.waitFor((shown) => inputText(shown) === "mow the lawn");
  later.terminal.send(KEYS.down);
  await later.terminal.waitFor((shown) => inputText(shown) === "");
  later.terminal.send(ctrl("r"));
  later.terminal.type("fence");
  await later.terminal.waitFor("paint the fence");
  later.terminal.send(KEYS.enter);
  await later.terminal.waitFor((shown) => inputText(shown) === "paint the fence" || model.count() > 0);
});

test("a draft survives a look into the history", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "first");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  terminal.type("half a thou");
  terminal.send(KEYS.up);
  await terminal.waitFor((shown) => inputText(shown) === "first");
  terminal.send(KEYS.down);
  await terminal.waitFor((shown) => inputText(shown) === "half a thou");
});

test.each(["a folder", "not JSON"])("a history file that is %s does not keep the chat from working", async (what) => {
  const prepared = await prepareChat();
  if (what === "a folder") mkdirSync(join(prepared.place.home, ".harness9", "history.jsonl"));
  else put(prepared.place.home, ".harness9/history.jsonl", '\0\0not json\n{"text":\n[1]\nnull\n"x"');
  const terminal = startChat([], { place: prepared.place, env: prepared.env });
  await terminal.waitFor(isReady);
  terminal.send(KEYS.up);
  await terminal.idle();
  terminal.send(ctrl("c"));
  say(terminal, "hello");
  (await prepared.model.next()).answer("Hi.");
  await terminal.waitFor("● Hi.");
});
