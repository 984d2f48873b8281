import { expect, test } from "vitest";
import type { ChangedFile } from "../../../src/session/rewind.ts";
import { en } from "../../../src/text/en.ts";
import { changeFigures, firstWords, previewText, shownTurn } from "../../../src/ui/transcript/rewind-texts.ts";

const file = (path: string, kind: ChangedFile["kind"] = "changed", added = 1, removed = 2): ChangedFile => ({
  path,
  kind,
  lines: { added, removed },
});

test.each([
  ["", ""],
  ["  fix\n\tit  ", "fix it"],
  ["x".repeat(101), `${"x".repeat(100)}…`],
  ["👍🏽".repeat(60), `${"👍🏽".repeat(50)}…`],
])("%j begins with %j", (text, words) => {
  expect(firstWords(text)).toBe(words);
});

test("a command is shown as it was typed", () => {
  expect(shownTurn({ type: "shell", text: "rm x" })).toBe("!rm x");
});

test.each<readonly [string, readonly ChangedFile[], string]>([
  ["nothing", [], ""],
  ["one file", [file("a")], "1 file +1 −2"],
  ["two files", [file("a"), file("b")], "2 files +2 −4"],
  ["what is no text", [{ path: "a", kind: "added", lines: null }], "1 file"],
])("the figures of %s", (_name, changes, text) => {
  expect(changeFigures(changes, en.rewind)).toBe(text);
});

test("a preview says what becomes of each file, and which stay", () => {
  const changes = [file("a"), file("b", "added", 3, 0), file("c", "removed", 0, 4)];
  expect(previewText({ files: { changes, conflicts: [file("d"), file("e")] } }, en.rewind)).toBe(
    [
      "3 files would change:",
      "  a  changes +1 −2",
      "  b  comes back +3 −0",
      "  c  is removed +0 −4",
      "changed since by others, these 2 stay as they are:",
      "  d",
      "  e",
    ].join("\n"),
  );
});

test("a preview of many files counts those that it does not name", () => {
  const changes = Array.from({ length: 14 }, (_, index) => file(`f${index}`));
  const rows = previewText({ files: { changes, conflicts: [] } }, en.rewind).split("\n");
  expect([rows.length, rows.at(-1)]).toEqual([12, "  and 4 more"]);
});

test.each([
  [{ files: null }, "No state of the files was kept since then: they stay as they are."],
  [{ files: null, problem: "it is gone" }, "it is gone"],
  [{ files: { changes: [], conflicts: [] } }, "No file would change."],
])("a preview of %j is %j", (way, text) => {
  expect(previewText(way, en.rewind)).toBe(text);
});
