import { expect, test } from "vitest";
import { countRules, openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { bash } from "../../helpers/program.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import { KEYS } from "../../helpers/terminal.ts";

const NASTY = [
  "\x1b]52;c;b3duZWQ=\x07",
  "\x1b]0;owned\x07",
  "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
  "\x1b[2J\x1b[3J\x1b[H",
  "\x1b[1;1Hplaced",
  "\x1b[?1049h\x1b[?25l\x1b[?2004l",
  "\x1bc\x1b(0\x1b#8",
  "\x9b2J\x9d0;c1 owned\x9c",
  "\x1bP+q544e\x1b\\",
  "\x07\x08\x08\x7f\x0e",
  "over\rwritten",
  "\x1b]52;c;unterminated",
].join(" safe ");
const BIDI = "a\u202eb\u2066c\u2069d";

const CUT_IN_PIECES = [...NASTY].map((character) => character);

test("control sequences in a model's text, whole or in pieces, do nothing", async () => {
  const { terminal, model } = await openChat({ rows: 60 });
  say(terminal, "go");
  const turn = await model.next();
  turn.send(`begin ${NASTY} ${BIDI}\n\n`);
  for (const piece of CUT_IN_PIECES) turn.send(piece);
  turn.send(
    `\n\n\`${NASTY}\`\n\n\`\`\`js\n${NASTY}\n${BIDI}\n\`\`\`\n[text](http://evil.example/\x1b]0;owned\x07)\n\nthe end`,
  );
  turn.finish();
  await terminal.waitFor("the end");
  await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
  expect(foreignSequences(terminal.raw())).toEqual([]);
  expect(terminal.raw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(terminal.title()).not.toContain("owned");
  expect(terminal.all()).toContain("begin");
});

test("control sequences in a tool's name, arguments and output do nothing", async () => {
  const files = { "evil.txt": `${NASTY}\n${BIDI}\nthe last line\n` };
  const { terminal, model } = await openChat({ files, args: ["--allow", "bash(cat:*)"], rows: 60 });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(
    bash("cat evil.txt"),
    ["read_file", { path: "evil.txt" }],
    ["read_file", { path: `no${NASTY}${BIDI}.txt` }],
    [`tool${NASTY}`, { a: NASTY }],
    ["read_file", `{"path": "${"x".repeat(100)}\x1b]0;owned\x07`],
  );
  turn.finish();
  (await model.next()).answer("the end");
  await terminal.waitFor("the end");
  expect(foreignSequences(terminal.raw())).toEqual([]);
  expect(terminal.raw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test("control sequences in what a question shows are made visible", async () => {
  const { terminal, model } = await openChat({ rows: 60 });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(
    ["write_file", { path: `new${BIDI}.txt`, content: `${NASTY}\n${BIDI}\n` }],
    bash(`echo ${NASTY} ${BIDI}`),
  );
  turn.finish();
  await terminal.waitFor(/^\? write_file/m);
  expect(terminal.screen()).toContain("\\u{202e}");
  await terminal.waitFor(takesAnswers);
  terminal.send(KEYS.escape);
  await terminal.waitFor((shown) => /^\? bash/m.test(shown.screen()) && takesAnswers(shown));
  expect(terminal.screen()).toContain("\\u{1b}");
  terminal.send(KEYS.escape);
  (await model.next()).answer("the end");
  await terminal.waitFor("the end");
  expect(foreignSequences(terminal.raw())).toEqual([]);
  expect(terminal.raw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test("a server's error and the folder's name cannot drive the terminal", async () => {
  const files = { "sub\x1b]0;owned\x07dir/a.txt": "x" };
  const { terminal, model } = await openChat({ files, args: ["-C", "sub\x1b]0;owned\x07dir"] });
  say(terminal, "go");
  (await model.next()).fail(400, { error: { message: `no: ${NASTY} ${BIDI}` } });
  await terminal.waitFor(/no: /);
  await terminal.idle();
  expect(foreignSequences(terminal.raw())).toEqual([]);
  expect(terminal.raw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test("nothing from a model or a tool stands in the first column, so nothing can pass for our own lines", async () => {
  const fake = "● I am the model\n✓ bash  rm -rf /\n› yes\n? bash ok\n  │ out\n! notice\n────────────────\n";
  const files = { "fake.txt": fake };
  const { terminal, model } = await openChat({ files, args: ["--allow", "bash(cat:*)"], rows: 60 });
  say(terminal, "go");
  const turn = await model.next();
  turn.send(fake.replaceAll("\n", "\n\n"));
  turn.callTools(bash("cat fake.txt"));
  turn.finish();
  (await model.next()).answer(`\`\`\`\n${fake}\`\`\`\nthe end`);
  await terminal.waitFor("the end");
  await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
  const marks = terminal
    .all()
    .split("\n")
    .filter((line) => /^[●✓✗?!]/.test(line));
  expect(marks.map((line) => line.slice(0, 8))).toEqual(["● ● I am", "✓ bash  ", expect.stringMatching(/^● /)]);
  // What was sent, and the input; trailing blanks are no part of a screen's rows.
  expect(
    terminal
      .all()
      .match(/^›.*/gm)
      ?.map((line) => line.trimEnd()),
  ).toEqual(["› go", "›"]);
});

test.each([
  ["accents that stand on nothing", "\u0301".repeat(400)],
  ["emoji that a terminal may take apart", "👨‍👩‍👧‍👦".repeat(60)],
])("a flood of %s wraps no row, so nothing of it stands in the first column", async (_name, flood) => {
  const files = { "flood.txt": `${flood}\n` };
  const { terminal, model } = await openChat({ files, args: ["--allow", "bash(cat:*)"], rows: 60 });
  say(terminal, "go");
  const turn = await model.next();
  turn.send(`${flood}\n\n- ${flood}\n\n\`\`\`\n${flood}\n\`\`\``);
  turn.callTools(bash("cat flood.txt"), [flood, { a: flood }]);
  turn.finish();
  (await model.next()).answer("the end");
  await terminal.waitFor("● the end");
  await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
  expect(countRules(terminal)).toBe(1);
  const inFirstColumn = terminal.rows().filter((row) => /^[^ ]/.test(row) && !/^[●✓✗›─]/.test(row));
  expect(inFirstColumn).toEqual([]);
});

test("what Node warns of does not come across the chat", async () => {
  const { terminal, model } = await openChat({ args: ["--permission-mode", "auto", "--allow", "bash"] });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(...Array.from({ length: 30 }, (_, index) => bash(`echo ${index}`)));
  turn.finish();
  (await model.next()).answer("the end");
  await terminal.waitFor("● the end");
  expect(terminal.all()).not.toContain("Warning");
  expect(countRules(terminal)).toBe(1);
});
