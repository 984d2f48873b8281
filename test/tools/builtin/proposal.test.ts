import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch, structuredPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { zh } from "../../../src/text/zh.ts";
import { createBash } from "../../../src/tools/builtin/bash.ts";
import type { Proposal, Tool } from "../../../src/tools/tool.ts";
import { fileDiff } from "../../../src/tools/workspace/file-diff.ts";
import { keepHunks } from "../../../src/tools/workspace/keep-hunks.ts";
import { smallestEdit } from "../../../src/tools/workspace/smallest-edit.ts";
import { callTool } from "../../helpers/call-tool.ts";
import { fileTools } from "../../helpers/file-tools.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

type Args = Record<string, string>;

const proposalOf = (tool: Tool, args: unknown): Promise<Proposal> => {
  if (!tool.proposal) throw new Error("the tool proposes nothing");
  return tool.proposal(tool.parse(args));
};

/** Few different lines: what is to be found once often stands there several times. */
const line = fc.constantFrom("", "a", "b", "}", "  a", "\ta", "好", "x".repeat(2500));
const ending = fc.constantFrom("\n", "\r\n");
const text = fc
  .tuple(fc.array(fc.tuple(line, ending), { maxLength: 40 }), fc.boolean(), fc.constantFrom(undefined, "\n", "\r\n"))
  .map(([lines, hasEnd, only]) => {
    const whole = lines.map(([text, end]) => text + (only ?? end)).join("");
    return hasEnd ? whole : whole.replace(/\r?\n$/, "");
  });
/** Two texts, the second made of the first by changes of single lines. */
const change = fc
  .tuple(
    text,
    fc.array(fc.tuple(fc.nat(40), fc.constantFrom("insert", "delete", "replace"), line, ending), { maxLength: 6 }),
  )
  .map(([before, edits]) => {
    const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    for (const [at, what, text, end] of edits)
      lines.splice(at, what === "insert" ? 0 : 1, ...(what === "delete" ? [] : [text + end]));
    return { before, after: lines.join("") };
  })
  .filter(({ before, after }) => before.trim() !== "" && before !== after);

const applied = (before: string, after: string, kept: readonly number[]): string | false => {
  const patch = structuredPatch("f", "f", before, after, undefined, undefined, { context: 3 });
  return applyPatch(
    before,
    { ...patch, hunks: patch.hunks.filter((_, index) => kept.includes(index)) },
    {
      autoConvertLineEndings: false,
    },
  );
};

test("any hunks of a change are what `diff` makes of them: all the change, none the old text", async () => {
  await fc.assert(
    fc.asyncProperty(change, fc.infiniteStream(fc.boolean()), async ({ before, after }, choice) => {
      const diff = await fileDiff({ path: "f", before, after });
      const hunks = diff?.hunks ?? [];
      const all = hunks.map((_, index) => index);
      const kept = all.filter(() => choice.next().value);
      expect(keepHunks({ before, after, hunks }, all)).toBe(after);
      expect(keepHunks({ before, after, hunks }, [])).toBe(before);
      expect(keepHunks({ before, after, hunks }, kept)).toBe(applied(before, after, kept));
    }),
  );
});

test("the call with a changed text leaves exactly its bytes, whatever edit_file was to do and the file's endings are", async () => {
  const dir = tempDir();
  const { editFile } = fileTools(dir);
  const file = join(dir, "f.txt");
  await fc.assert(
    fc.asyncProperty(change, fc.constantFrom("", "\ufeff"), async ({ before, after }, mark) => {
      writeFileSync(file, mark + before);
      const call = { path: "f.txt", source_text: before, target_text: "new" };
      const proposal = await proposalOf(editFile as Tool, call);
      expect(proposal.before).toBe(before);
      const args = proposal.with(after);
      const result = await callTool(editFile as Tool, args);
      expect(result.output, JSON.stringify(args)).toContain("成功");
      expect(readFileSync(file, "utf8")).toBe(mark + after);
      expect(result.data).toMatchObject({ path: "f.txt" });
    }),
  );
});

test("the hunks of an edit can be kept one by one, and the call leaves the old file with just these", async () => {
  const dir = tempDir();
  const { editFile } = fileTools(dir);
  const file = join(dir, "f.txt");
  await fc.assert(
    fc.asyncProperty(change, fc.infiniteStream(fc.boolean()), async ({ before, after }, choice) => {
      writeFileSync(file, before);
      const call = { path: "f.txt", source_text: before, target_text: after };
      const preview = await editFile.preview?.(editFile.parse(call));
      // Nothing but line endings that the file would not take.
      if (preview?.type !== "diff") return;
      const proposal = await proposalOf(editFile as Tool, call);
      const all = preview.hunks.map((_, index) => index);
      const kept = all.filter(() => choice.next().value);
      const wanted = keepHunks({ before, after: proposal.text, hunks: preview.hunks }, kept);
      expect(wanted).toBe(applied(before, proposal.text, kept));
      const args = proposal.with(wanted);
      if (args !== undefined) await callTool(editFile as Tool, args);
      expect(args === undefined).toBe(kept.length === 0);
      expect(readFileSync(file, "utf8")).toBe(wanted);
    }),
  );
});

test("write_file takes a changed text and hunks as they are", async () => {
  const dir = tempDir();
  const { writeFile } = fileTools(dir);
  const file = join(dir, "f.txt");
  await fc.assert(
    fc.asyncProperty(change, fc.infiniteStream(fc.boolean()), async ({ before, after }, choice) => {
      writeFileSync(file, before);
      const call = { path: "f.txt", content: after };
      const preview = await writeFile.preview?.(writeFile.parse(call));
      if (preview?.type !== "diff") throw new Error("no diff");
      const proposal = await proposalOf(writeFile as Tool, call);
      const kept = preview.hunks.map((_, index) => index).filter(() => choice.next().value);
      const wanted = keepHunks({ before, after: proposal.text, hunks: preview.hunks }, kept);
      const args = proposal.with(wanted);
      if (args !== undefined) await callTool(writeFile as Tool, args);
      expect(readFileSync(file, "utf8")).toBe(wanted);
    }),
  );
});

test.each([
  ["a line that stands there once", "a\nb\nc\n", "a\nB\nc\n", { source: "b\n", target: "B\n" }],
  ["a line that stands there twice", "x\na\ny\na\n", "x\nA\ny\na\n", { source: "x\na\ny\n", target: "x\nA\ny\n" }],
  ["an insertion", "a\nb\n", "a\nnew\nb\n", { source: "a\nb\n", target: "a\nnew\nb\n" }],
  ["a deletion", "a\nb\nc\n", "a\nc\n", { source: "b\n", target: "" }],
  ["no final newline any more", "a\nb\n", "a\nb", { source: "b\n", target: "b" }],
  ["a final newline", "a\nb", "a\nb\n", { source: "b", target: "b\n" }],
  ["all of it", "a\n", "b\nc\n", { source: "a\n", target: "b\nc\n" }],
  ["nothing left", "a\nb\n", "", { source: "a\nb\n", target: "" }],
])("the smallest edit: %s", (_name, before, after, edit) => {
  expect(smallestEdit(before, after)).toEqual({ ...edit, isExact: false });
});

test("an ending that the file would not give is asked for exactly", () => {
  expect(smallestEdit("a\r\nb\r\n", "a\r\nb\r\nc\n")).toEqual({
    source: "b\r\n",
    target: "b\r\nc\n",
    isExact: true,
  });
});

test("the smallest edit in a long file that repeats itself is found at once", () => {
  const before = `${"}\n".repeat(20_000)}end\n`;
  const after = `${"}\n".repeat(10_000)}new\n${"}\n".repeat(10_000)}end\n`;
  const { source, isExact } = smallestEdit(before, after);
  expect(isExact).toBe(false);
  expect(before.split(source)).toHaveLength(2);
});

test("a text equal to the old file leaves nothing to do", async () => {
  const dir = tempDir();
  const { editFile, writeFile } = fileTools(dir);
  writeFileSync(join(dir, "f.txt"), "\ufeffa\r\n");
  const edit = await proposalOf(editFile as Tool, { path: "f.txt", source_text: "a", target_text: "b" });
  expect([edit.text, edit.name, edit.with("a\r\n"), edit.with("\ufeffa\r\n")]).toEqual([
    "b\r\n",
    "f.txt",
    undefined,
    undefined,
  ]);
  const write = await proposalOf(writeFile as Tool, { path: "f.txt", content: "b" });
  expect(write.with("a\r\n")).toBe(undefined);
  expect(write.with("a\n")).toEqual({ path: "f.txt", content: "a\n" });
  const created = await proposalOf(writeFile as Tool, { path: "new/g.txt", content: "b" });
  expect([created.before, created.name, created.with("")]).toEqual(["", "g.txt", { path: "new/g.txt", content: "" }]);
});

test("a call that cannot be done proposes nothing, and says why", async () => {
  const dir = tempDir();
  const { editFile, writeFile } = fileTools(dir);
  writeFileSync(join(dir, "f.txt"), "a\n");
  await expect(proposalOf(editFile as Tool, { path: "f.txt", source_text: "z", target_text: "b" })).rejects.toThrow();
  await expect(proposalOf(writeFile as Tool, { path: "../f.txt", content: "b" })).rejects.toThrow();
});

test("the model is not offered to write endings as they are, and can say nothing that is not listed", () => {
  const { editFile } = fileTools(tempDir());
  const properties = editFile.definition.inputSchema["properties"];
  expect(Object.keys(properties as object)).toEqual(["path", "source_text", "target_text"]);
  const args: Args = { path: "f", source_text: "a", target_text: "b" };
  expect(() => editFile.parse({ ...args, exact: false })).toThrow();
  expect(() => editFile.parse({ ...args, other: true })).toThrow();
});

test("a command is its own text; its description was about the old one", async () => {
  const dir = tempDir();
  const { tool } = createBash({ workDir: dir, env: {}, outputsDir: dir, strings: zh });
  const call = { command: "npm test", timeout_ms: 5000, description: "runs the tests" };
  const proposal = await proposalOf(tool as Tool, call);
  expect([proposal.text, proposal.before, proposal.with("ls"), proposal.with(" \n")]).toEqual([
    "npm test",
    null,
    { command: "ls", timeout_ms: 5000 },
    undefined,
  ]);
});
