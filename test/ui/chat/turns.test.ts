import { expect, test } from "vitest";
import { countOf, inputText, openChat, rowsBelowRule, say } from "../../helpers/chat.ts";
import { bash } from "../../helpers/program.ts";
import { ctrl, KEYS } from "../../helpers/terminal.ts";

const LINES = Array.from({ length: 50 }, (_, index) => `output line ${index + 1}`).join("\n");

test("a turn shows markdown, steps with their figures, a diff, and what it costs", async () => {
  const files = { "src/date.ts": "const a = 1;\nconst year = 2;\nconst z = 3;\n", "out.txt": `${LINES}\n` };
  const { terminal, model } = await openChat({
    files,
    rows: 40,
    args: ["--permission-mode", "auto-edit", "--allow", "bash"],
  });
  say(terminal, "fix the date");
  const first = await model.next();
  first.send("I'll **look** at the\ncode first.");
  first.callTools(["read_file", { path: "src/date.ts" }]);
  first.finish({ input: 1000, output: 100 });
  const second = await model.next();
  second.callTools([
    "edit_file",
    { path: "src/date.ts", source_text: "const year = 2;", target_text: "const year = 2027;" },
  ]);
  second.finish({ input: 2000, output: 100, cached: 1000 });
  const third = await model.next();
  third.callTools(bash("cat out.txt; exit 3"));
  third.finish({ input: 3000, output: 100, cached: 2000 });
  const last = await model.next();
  last.answer("# Result\n\n- one `code`\n- two\n\n```ts\nconst x = 1;\n```\n", {
    input: 4000,
    output: 200,
    cached: 3000,
  });
  await terminal.waitFor((shown) => shown.all().includes("const x = 1;") && /out 500/.test(shown.screen()));

  const all = terminal.all();
  expect(all).toMatch(/^› fix the date$/m);
  expect(all).toContain("● I'll look at the");
  expect(all).toMatch(/^✓ read_file +src\/date\.ts +3 lines · \d+ ms$/m);
  expect(all).toMatch(/^✓ edit_file +src\/date\.ts +\+1 −1 · \d+ ms$/m);
  expect(all).toMatch(/2 - const year = 2;/);
  expect(all).toMatch(/2 \+ const year = 2027;/);
  expect(all).toMatch(/^✗ bash +cat out\.txt; exit 3 +exit 3 · /m);
  expect(all).toMatch(/^ {2}│ output line/m);
  expect(all).toMatch(/^ {2}│ … \d+ lines more, ctrl\+o/m);
  expect(all).toMatch(/^● Result/m);
  expect(all).not.toMatch(/\*\*look\*\*|^# Result|`code`/m);
  expect(all.indexOf("fix the date")).toBeLessThan(all.indexOf("read_file"));
  expect(all.indexOf("read_file")).toBeLessThan(all.indexOf("● Result"));

  // Uncached 1000+1000+1000+1000 at 2, cached 6000 at 1, output 500 at 10 dollars a million.
  const status = rowsBelowRule(terminal).join("\n");
  expect(status).toMatch(/in 10(\.0)?k \(6(\.0)?k cached\)/);
  expect(status).toMatch(/out 500/);
  expect(status).toMatch(/\$0\.019/);
  expect(status).toMatch(/context 4%/);
});

test("the status line shows the turn and the mode while it works", async () => {
  const { terminal, model } = await openChat({ files: { "a.txt": "a\n" } });
  say(terminal, "go");
  const first = await model.next();
  await terminal.waitFor(/esc to stop/);
  expect(rowsBelowRule(terminal).join("\n")).toContain("turn 1");
  first.callTools(["read_file", { path: "a.txt" }]);
  first.finish({ input: 10, output: 1 });
  await model.next();
  await terminal.waitFor((shown) => rowsBelowRule(shown).join("\n").includes("turn 2"));
  expect(rowsBelowRule(terminal).join("\n")).toMatch(/^ {2}ask /m);
});

test("text appears while it is written, and a running command shows its last lines", async () => {
  const { terminal, model } = await openChat({ args: ["--allow", "bash"] });
  say(terminal, "go");
  const turn = await model.next();
  turn.send("A first part");
  await terminal.waitFor("● A first part");
  turn.send(" and more");
  await terminal.waitFor("A first part and more");
  turn.callTools(bash("echo begun; sleep 600"));
  turn.finish();
  await terminal.waitFor("begun");
  expect(terminal.screen()).toMatch(/bash .*esc to stop/);
  terminal.send(KEYS.escape);
  await terminal.waitFor("interrupted");
});

test("Ctrl+O opens the last step", async () => {
  const { terminal, model } = await openChat({ files: { "out.txt": `${LINES}\n` }, args: ["--allow", "bash(cat:*)"] });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("cat out.txt"));
  turn.finish();
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect(terminal.all()).not.toContain("output line 25\n");
  terminal.send(ctrl("o"));
  await terminal.waitFor((shown) => shown.all().includes("output line 25\n"));
  expect(inputText(terminal)).toBe("");
});

test("the next message goes on with the conversation", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "one");
  (await model.next()).answer("First answer.");
  await terminal.waitFor("● First answer.");
  say(terminal, "two");
  const turn = await model.next();
  expect(turn.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
    ["user", "one"],
    ["assistant", "First answer."],
    ["user", "two"],
  ]);
  turn.answer("Second answer.");
  await terminal.waitFor("● Second answer.");
  expect(countOf(terminal, "First answer.")).toBe(1);
});

test("a broken connection is tried again, says so, and the answer stands there once", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const broken = await model.next();
  broken.send("Half an answ");
  await terminal.waitFor("Half an answ");
  broken.cut();
  await terminal.waitFor(/2 of 5/);
  (await model.next()).answer("The whole answer.");
  await terminal.waitFor("● The whole answer.");
  expect(countOf(terminal, "The whole answer.")).toBe(1);
});

test("a message that is sent while it works is shown as queued, and joins after the tools", async () => {
  const { terminal, model } = await openChat({ files: { "a.txt": "a\n" } });
  say(terminal, "go");
  const turn = await model.next();
  turn.send("Working.");
  await terminal.waitFor("Working.");
  say(terminal, "and the tests");
  await terminal.waitFor(/queued.*and the tests/);
  expect(inputText(terminal)).toBe("");
  turn.callTools(["read_file", { path: "a.txt" }]);
  turn.finish();
  const next = await model.next();
  expect(next.messages.slice(-2).map(({ role, content }) => [role, content])).toEqual([
    ["tool", "a\n"],
    ["user", "and the tests"],
  ]);
  next.answer("All done.");
  await terminal.waitFor("● All done.");
  expect(terminal.all()).toMatch(/^› and the tests$/m);
  expect(terminal.screen()).not.toMatch(/queued/);
});

test("Up takes a queued message back into the input", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.send("Working.");
  await terminal.waitFor("Working.");
  say(terminal, "not that");
  await terminal.waitFor(/queued.*not that/);
  terminal.send(KEYS.up);
  await terminal.waitFor((shown) => inputText(shown) === "not that" && !/queued/.test(shown.screen()));
  turn.finish();
  await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
  expect(model.count()).toBe(1);
  expect(inputText(terminal)).toBe("not that");
});

test("what is queued when the run ends without tools is the next run's message", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.send("Working.");
  await terminal.waitFor("Working.");
  say(terminal, "then this");
  await terminal.waitFor(/queued.*then this/);
  turn.finish();
  const next = await model.next();
  expect(next.last).toBe("then this");
  next.answer("That too.");
  await terminal.waitFor("● That too.");
});

test("a line that begins with ! is a command of the person", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "!echo from-$((40+2))");
  await terminal.waitFor(/│ from-42/);
  expect(model.count()).toBe(0);
});
