import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callTool, failureOf } from "../../helpers/call-tool.ts";
import { fileTools } from "../../helpers/file-tools.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

type Content =
  | { text: string }
  | { base64: string }
  | { generate: { text: string; times: number }[] }
  | { absent: true }
  | { directory: true };
type Outcome =
  | { ok: true; level?: number | null; after?: Content; after_any?: Content[]; after_mode?: string }
  | { ok: false; error: string[] };
type EditCase = {
  id: string;
  title: string;
  path: string;
  before: Content;
  source_text: string;
  target_text: string;
  expect: Outcome | { any_of: Outcome[] };
  setup?: { mode?: string; maxMs?: number };
};

const fixture = new URL("../../fixtures/edit-cases.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(fixture, "utf8")) as { cases: EditCase[] };

const bytesOf = (content: Content): Buffer | null => {
  if ("text" in content) return Buffer.from(content.text, "utf8");
  if ("base64" in content) return Buffer.from(content.base64, "base64");
  if ("generate" in content) return Buffer.from(content.generate.map((part) => part.text.repeat(part.times)).join(""));
  return null;
};

const LEVEL = /L([234])/;

describe("edit_file on the cases of other agents", () => {
  it.each(cases)("$id $title", async (edit) => {
    const dir = tempDir();
    const path = join(dir, edit.path);
    const before = bytesOf(edit.before);
    if (before) writeFileSync(path, before);
    if ("directory" in edit.before) mkdirSync(path);
    if (edit.setup?.mode) chmodSync(path, Number.parseInt(edit.setup.mode, 8));
    const args = { path: edit.path, source_text: edit.source_text, target_text: edit.target_text };
    const { editFile } = fileTools(dir);

    const started = performance.now();
    const result = await callTool(editFile, args);
    if (edit.setup?.maxMs) expect(performance.now() - started).toBeLessThan(edit.setup.maxMs);

    const outcomes = "any_of" in edit.expect ? edit.expect.any_of : [edit.expect];
    const outcome = outcomes.find(({ ok }) => ok === !result.isError);
    if (!outcome) throw new Error(`unexpected outcome: ${result.output}`);
    const after = existsSync(path) && statSync(path).isFile() ? readFileSync(path) : null;
    if (!outcome.ok) {
      expect(outcome.error).toContain(await failureOf(editFile, args));
      expect(after?.toString("base64")).toBe(before?.toString("base64"));
      return;
    }
    const accepted = (outcome.after_any ?? [outcome.after ?? edit.before]).map((one) =>
      bytesOf(one)?.toString("base64"),
    );
    expect(accepted).toContain(after?.toString("base64"));
    if (outcome.level) expect(Number(LEVEL.exec(result.output)?.[1] ?? 1)).toBe(outcome.level);
    if (outcome.after_mode) expect((statSync(path).mode & 0o777).toString(8).padStart(4, "0")).toBe(outcome.after_mode);
  });
});
