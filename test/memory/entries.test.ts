import fc from "fast-check";
import { expect, test } from "vitest";
import { addEntry, entryContent, removeEntry, updateEntry } from "../../src/memory/edit-entries.ts";
import { splitEntries } from "../../src/memory/entries.ts";

const shown = (text: string) =>
  splitEntries(text).entries.map(({ title, start, end, firstLine, lastLine }) => [
    title,
    text.slice(start, end),
    `${firstLine}-${lastLine}`,
  ]);

test("items and paragraphs above the first section are entries, and each section is one", () => {
  const text =
    "# Shop\n\nWritten by hand.\n\n- first\n  goes on\n- [x] second\n\n## Tests\nRun one.\n\n### Slow ones\n- a\n- b\n\n## Deploy\n";
  expect(shown(text)).toEqual([
    ["Written by hand.", "Written by hand.\n\n", "3-3"],
    ["first", "- first\n  goes on\n", "5-6"],
    ["second", "- [x] second\n\n", "7-7"],
    ["Tests", "## Tests\nRun one.\n\n### Slow ones\n- a\n- b\n\n", "9-14"],
    ["Deploy", "## Deploy\n", "16-16"],
  ]);
});

test.each<[why: string, text: string, titles: readonly string[]]>([
  ["several headings of level 1 are sections", "# A\nx\n# B\n## C\n", ["A", "B"]],
  ["a deeper heading above a higher one is a section", "### a\n## b\n### c\n", ["a", "b"]],
  ["a heading in a code block is code", "## A\n```sh\n# no\n```\n## B\n", ["A", "B"]],
  ["tildes and longer fences", "## A\n~~~~\n~~~\n# no\n~~~~\n## B\n", ["A", "B"]],
  ["code within a line opens nothing", "## A\n``` a ` b\n## B\n", ["A", "B"]],
  ["underlined headings", "Top\n===\n\nOne\n---\n\nx\n\nTwo\n---\ny\n", ["One", "Two"]],
  ["YAML at the top is none", "---\nname: x\n---\n- a\n", ["a"]],
  ["rules are none, and what follows is", "- a\n\n---\n\n- b\n***\nc\n", ["a", "b", "c"]],
  ["nested items belong to theirs", "- a\n  - b\n    - c\n- d\n", ["a", "d"]],
  ["numbered items", "1. a\n2) b\n", ["a", "b"]],
  ["an item's second paragraph is indented", "- a\n\n  more\n- b\n\nc\n", ["a", "b", "c"]],
  ["closing marks of a heading", "## A ##\n", ["A"]],
  ["CRLF", "# T\r\n\r\n- a\r\n\r\n## B\r\nx\r\n", ["a", "B"]],
  ["quotations", "> a\n> b\n", ["a"]],
  ["nothing", "", []],
  ["blank lines", "\n \n", []],
])("%s", (_, text, titles) => {
  expect(splitEntries(text).entries.map(({ title }) => title)).toEqual(titles);
});

const line = fc.constantFrom(
  "",
  " ",
  "# One",
  "## Two",
  "### Three",
  "## Two ##",
  "- item",
  "  - nested",
  "  goes on",
  "1. numbered",
  "text",
  "more text",
  "---",
  "===",
  "***",
  "```",
  "~~~~",
  "    code",
  "> quoted",
  "-",
  "\tindented",
  "标题：内容",
);
const markdown = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
  .map(([lines, ending, isEnded]) => lines.join(ending) + (isEnded && lines.length > 0 ? ending : ""));
const anything = fc.oneof(markdown, fc.string(), fc.string({ unit: "binary" }));

test("entries follow each other, and what is in none is a title, YAML, a rule or blank", () => {
  fc.assert(
    fc.property(anything, (text) => {
      const { entries } = splitEntries(text);
      let at = 0;
      for (const { start, end, bodyStart } of entries) {
        expect(start >= at && end > start && bodyStart >= start && bodyStart <= end).toBe(true);
        at = end;
      }
      expect(at <= text.length).toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom("- a", "b", "", "## C", "  d", "1. e", "```"), { maxLength: 12 }), (lines) => {
      const text = lines.join("\n");
      const outside = splitEntries(text).entries.reduceRight(
        (rest, { start, end }) => rest.slice(0, start) + rest.slice(end),
        text,
      );
      expect(outside.trim()).toBe("");
    }),
  );
});

test("a change of one entry leaves all others as they were, byte for byte", () => {
  const texts = (text: string): string[] =>
    splitEntries(text).entries.map(({ start, end }) => text.slice(start, end).trimEnd());
  fc.assert(
    fc.property(
      anything,
      fc.nat(),
      fc.constantFrom("new", "- x\n- y", "a\n\nb", "## C", "```\nopen"),
      (text, n, content) => {
        const { entries } = splitEntries(text);
        const before = texts(text);
        const added = addEntry(text, n % 2 === 0 ? "Fresh" : undefined, content);
        if (added) {
          const at = splitEntries(added.text).entries.findIndex(({ start }) => start === added.entry?.start);
          expect(texts(added.text).toSpliced(at, 1)).toEqual(before);
          expect(added.text.length - text.length).toBeGreaterThan(0);
        }
        const entry = entries[n % Math.max(1, entries.length)];
        if (!entry) return;
        const index = entries.indexOf(entry);
        const updated = updateEntry(text, entry, content);
        if (updated) {
          expect(texts(updated.text).toSpliced(index, 1)).toEqual(before.toSpliced(index, 1));
          expect(updated.text.startsWith(text.slice(0, entry.start))).toBe(true);
          expect(updated.text.endsWith(text.slice(entry.end))).toBe(true);
        }
        const removed = removeEntry(text, entry);
        if (removed) {
          expect(texts(removed.text)).toEqual(before.toSpliced(index, 1));
          expect(removed.text.startsWith(text.slice(0, entry.start))).toBe(true);
          expect(removed.text.endsWith(text.slice(entry.end))).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});

const entryOf = (text: string, title: string) => {
  const entry = splitEntries(text).entries.find((one) => one.title === title);
  if (!entry) throw new Error(`no ${title}`);
  return entry;
};

test("a file grows as a person would have written it", () => {
  const steps = [
    ["Tests", "npm test"],
    [undefined, "likes tabs\nnot spaces"],
    ["Deploy", "- a\n- b"],
    [undefined, "second"],
  ] as const;
  const text = steps.reduce((file, [title, content]) => addEntry(file, title, content)?.text ?? "failed", "");
  expect(text).toBe(
    "# Memory\n\n- likes tabs\n  not spaces\n- second\n\n## Tests\n\nnpm test\n\n## Deploy\n\n- a\n- b\n",
  );
});

test.each<[string, string, string, string]>([
  ["## A\nold\n\n## B\ny\n", "A", "new", "## A\n\nnew\n\n## B\ny\n"],
  ["## A\nold", "A", "new", "## A\n\nnew\n"],
  ["- a\n- b\n", "a", "c\nd", "- c\n  d\n- b\n"],
  ["1. a\r\n2. b\r\n", "a", "c\nd", "1. c\r\n   d\r\n2. b\r\n"],
  ["para\n\n- b\n", "para", "other", "other\n\n- b\n"],
])("an update of %j keeps heading, marker and line endings", (text, title, content, expected) => {
  expect(updateEntry(text, entryOf(text, title), content)?.text).toBe(expected);
});

test.each<[string, string, string]>([
  ["## A\nx\n\n## B\ny\n", "A", "## B\ny\n"],
  ["- a\n- b\n- c\n", "b", "- a\n- c\n"],
  ["text\n- b\n\nmore\n", "b", "text\n\nmore\n"],
])("what is taken out of %j leaves no hole and joins nothing", (text, title, expected) => {
  expect(removeEntry(text, entryOf(text, title))?.text).toBe(expected);
});

test.each<[string, string | undefined, string]>([
  ["a heading that would begin another entry", "T", "a\n\n## Other\nb"],
  ["an open code block, before other entries", undefined, "```\nopen"],
  ["several paragraphs fit into an item", undefined, "a\n\nb"],
])("%s", (_, title, content) => {
  const added = addEntry("# M\n\n- x\n\n## Z\nz\n", title, content);
  expect(added === null).toBe(!content.startsWith("a\n\nb"));
});

test("the content comes back as it was written", () => {
  for (const title of ["T", undefined]) {
    const added = addEntry("", title, "one\n\n- two\n  three");
    expect(added?.entry && entryContent(added.text, added.entry)).toBe("one\n\n- two\n  three");
  }
});

const LONG = 200_000;

// Where time grew with the square of the length, each would take minutes.
test.each<[what: string, text: string, titles: readonly string[]]>([
  ["blanks within a heading", `# a${" ".repeat(LONG)}\u00a0b\n- c\n`, ["c"]],
  ["marks within a heading", `## ${"# ".repeat(LONG / 2)}x\n`, [`${"# ".repeat(40).slice(0, 79)}…`]],
  ["blank lines in an item", `- a\n${" \n".repeat(LONG / 2)}  x\n- b\n`, ["a", "b"]],
  ["dashes", `- a${"-".repeat(LONG)}b\n`, [`a${"-".repeat(78)}…`]],
])("a file of %s is read and changed at once", (_, text, titles) => {
  const { entries } = splitEntries(text);
  expect(entries.map(({ title }) => title)).toEqual(titles);
  const [first] = entries;
  if (!first) throw new Error("no entry");
  expect(addEntry(text, "New", "text")?.entry?.title).toBe("New");
  expect(removeEntry(text, first)).not.toBeNull();
  expect(updateEntry(text, first, entryContent(text, first) || "text")).not.toBeNull();
});

test.each([
  ["## A #", "A"],
  ["## A#", "A#"],
  ["## A \t##\t", "A"],
  ["## ##", ""],
  ["##", ""],
  ["## A # B", "A # B"],
])("%j is a heading", (heading, title) => {
  expect(splitEntries(`# one\n# two\n${heading}\n`).entries.length).toBe(2);
  expect(splitEntries(`# one\n\n${heading}\n`).entries.map((entry) => entry.title)).toEqual([title]);
});

test.each(["##A", "####### A", "    ## A"])("%j is none", (line) => {
  expect(splitEntries(`${line}\n`).entries.map(({ level }) => level)).toEqual([null]);
});
