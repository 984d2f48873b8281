import fc from "fast-check";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { describeCommands } from "../../../src/ui/commands/slash-commands.ts";
import { applyCompletion, completionAt, completionItems } from "../../../src/ui/input/completion.ts";
import { createFileList } from "../../../src/ui/input/file-completion.ts";
import { loadRank, plainRank } from "../../../src/ui/input/fuzzy.ts";

/** The text with `|` where the cursor is. */
const at = (marked: string) => {
  const cursor = marked.indexOf("|");
  return { text: marked.replace("|", ""), cursor };
};
const complete = (marked: string) => {
  const { text, cursor } = at(marked);
  return completionAt(text, cursor);
};

test.each([
  ["/|", "", 0, 1],
  ["/mo|", "mo", 0, 3],
  ["/m|o", "m", 0, 3],
  ["/mo|\nsecond line", "mo", 0, 3],
  ["/mo| gpt", "mo", 0, 3],
])("%j completes a command", (marked, query, start, end) => {
  expect(complete(marked)).toEqual({ kind: "command", query, start, end });
});

test.each([
  ["@|", "", 0, 1],
  ["look at @src/ap|", "src/ap", 8, 15],
  ["look at @src/ap| and", "src/ap", 8, 15],
  ["look at @sr|c/ap and", "sr", 8, 15],
  ["one\n@a|", "a", 4, 6],
  ["/foo @a|", "a", 5, 7],
  ["/help @a|", "a", 6, 8],
  ['@"my fi|', "my fi", 0, 7],
  ['@"my fi|le.ts" now', "my fi", 0, 13],
  ['@"my fi|le and "more"', "my fi", 0, 9],
  ["@node_modules/@types/no|", "node_modules/@types/no", 0, 23],
  ["请看@src/ap|", "src/ap", 2, 9],
  ["请看@src/a|p.ts然后", "src/a", 2, 12],
  ["@文档/说|", "文档/说", 0, 5],
])("%j completes a file", (marked, query, start, end) => {
  expect(complete(marked)).toEqual({ kind: "file", query, start, end });
});

test.each([
  ["/model |", "model", "", 7, 7],
  ["/model cl|aude", "model", "cl", 7, 13],
  ["/permissions  a|", "permissions", "a", 14, 15],
  ["/theme d| x", "theme", "d", 7, 8],
])("%j completes an argument", (marked, command, query, start, end) => {
  expect(complete(marked)).toEqual({ kind: "argument", command, query, start, end });
});

test.each([
  "|",
  "|/mo",
  "/usr|/bin",
  "/usr/bin|",
  " /mo|",
  "x /mo|",
  "one\n/mo|",
  "/ mo|",
  "/help x|",
  "/model a b|",
  "/nothing x|",
  "me@example|",
  "me@example.org|",
  "a@b@c|",
  "@src |",
  '@"my file.ts"|',
  '@"my file.ts" x|',
  "|@src",
])("%j completes nothing", (marked) => {
  expect(complete(marked)).toBeUndefined();
});

test("any text at any cursor: the query stands before the cursor, within what is replaced", () => {
  const text = fc.string({ unit: fc.constantFrom("/", "@", '"', " ", "\n", "a", "模", "model", "src/", "😀") });
  fc.assert(
    fc.property(text, fc.nat(40), (input, position) => {
      const cursor = Math.min(position, input.length);
      const found = completionAt(input, cursor);
      if (found === undefined) return;
      expect(input.slice(found.start, cursor).endsWith(found.query)).toBe(true);
      expect(found.start <= cursor && cursor <= found.end && found.end <= input.length).toBe(true);
      expect(input.slice(found.start, found.end)).not.toContain("\n");
    }),
  );
});

/** The text after a choice, with `|` where the cursor is. */
const choose = (marked: string, value: string): string => {
  const { text, cursor } = at(marked);
  const completion = completionAt(text, cursor);
  if (completion === undefined) return "nothing to complete";
  const edit = applyCompletion(text, completion, value);
  const changed = text.slice(0, edit.start) + edit.replacement + text.slice(edit.end);
  return `${changed.slice(0, edit.cursor)}|${changed.slice(edit.cursor)}`;
};

test.each([
  ["/mo|", "model", "/model |"],
  ["/mo| gpt", "model", "/model |gpt"],
  ["see @ap| now", "src/app.ts", "see @src/app.ts |now"],
  ["see @ap|", "src/app.ts", "see @src/app.ts |"],
  ["see @s|", "src/", "see @src/|"],
  ["see @m|", "my file.ts", 'see @"my file.ts" |'],
  ["see @m|", "my dir/", 'see @"my dir/|"'],
  ['see @"my dir/|"', "my dir/a b.ts", 'see @"my dir/a b.ts" |'],
  ['see @"my dir/|" now', "my dir/sub/", 'see @"my dir/sub/|" now'],
  ['see @"sr|', "src/app.ts", "see @src/app.ts |"],
  ["/model cl|", "claude-opus-5", "/model claude-opus-5|"],
  ["see @e|", "e\u001b[31mvil\n.ts", String.raw`see @e\u{1b}[31mvil\u{a}.ts |`],
  ["请看@a|p然后", "app.ts", "请看@app.ts |然后"],
])("in %j the choice %j gives %j", (marked, value, result) => {
  expect(choose(marked, value)).toBe(result);
});

test("a chosen folder stays open, a chosen file does not", () => {
  const open = (marked: string) => complete(marked)?.kind;
  expect(open(choose("@s|", "src/"))).toBe("file");
  expect(open(choose("@s|", "my dir/"))).toBe("file");
  expect(open(choose("@s|", "src/app.ts"))).toBeUndefined();
  expect(open(choose("@s|", "my file.ts"))).toBeUndefined();
});

const rank = await loadRank();
const sources = {
  commands: describeCommands(en.commands),
  files: createFileList(["src/app.ts"]),
  arguments: { model: ["anthropic/claude-opus-5", "openai/gpt-6-sol"] },
};
const values = (marked: string, ranked = rank) => {
  const { text, cursor } = at(marked);
  const completion = completionAt(text, cursor);
  return completion && completionItems(completion, sources, ranked, 10).items.map(({ value }) => value);
};

test.each([
  ["/", 10, ["help", "clear", "resume"]],
  ["/t", 3, ["thinking", "tools", "theme"]],
  ["/ex", 2, ["export", "quit"]],
  ["/new", 1, ["clear"]],
  ["/MOD", 1, ["model"]],
])("%j lists the commands that begin so first", (text, count, expected) => {
  for (const ranked of [rank, plainRank])
    expect([...(values(`${text}|`, ranked) ?? [])].slice(0, Math.min(count, 3)).sort()).toEqual(expected.sort());
});

test("files and arguments come from the lists that are given", () => {
  expect(values("@app|")).toEqual(["src/app.ts"]);
  expect(values("/model opus|")).toEqual(["anthropic/claude-opus-5"]);
  expect(values("/theme x|")).toEqual([]);
});

test("an argument that is complete has no menu", () => {
  expect(values("/model openai/gpt-6-sol|")).toEqual([]);
});

test("a command shows its argument, and marks what matched", () => {
  expect(completionItems({ kind: "command", query: "mod", start: 0, end: 4 }, sources, rank, 1).items).toEqual([
    { value: "model", label: "/model", positions: [1, 2, 3], description: "show or change the model  [name]" },
  ]);
});
