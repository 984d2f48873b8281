import { expect, test } from "vitest";
import { systemPrompt } from "../../src/session/system-prompt.ts";

const OPTIONS = { workDir: "/home/me/project", platform: "linux", shell: "bash", date: "2026-01-02" };

test("the prompt is short, names the work directory in the documents' words, and is in plain English", () => {
  const prompt = systemPrompt(OPTIONS);
  expect(Buffer.byteLength(prompt)).toBeLessThan(3500);
  expect(prompt.split("\n")).toContain("Your working directory is: /home/me/project");
  expect(prompt.split("\n")).toContain("Platform: linux. Shell: bash. Date: 2026-01-02.");
  expect(prompt).toMatch(/^[\x20-\x7e\n]+$/);
});

test("the same session gives the same bytes, and only the date differs between days", () => {
  const prompt = systemPrompt(OPTIONS);
  expect(systemPrompt({ ...OPTIONS })).toBe(prompt);
  expect(systemPrompt({ ...OPTIONS, date: "2026-01-03" })).toBe(prompt.replace("2026-01-02", "2026-01-03"));
  expect(prompt).not.toMatch(/\d\d:\d\d/);
});

test("a replacement takes the place of the whole prompt; what is added comes after it, the schema last", () => {
  const answerSchema = { type: "object", properties: { b: {}, a: {} } };
  expect(systemPrompt({ ...OPTIONS, replace: "Mine." })).toBe("Mine.");
  expect(systemPrompt({ ...OPTIONS, replace: "" })).toBe("");
  expect(systemPrompt({ ...OPTIONS, append: "More." })).toBe(`${systemPrompt(OPTIONS)}\n\nMore.`);
  const parts = systemPrompt({ ...OPTIONS, replace: "A", append: "B", instructions: "C", answerSchema }).split("\n\n");
  expect(parts.slice(0, 3)).toEqual(["A", "B", "C"]);
  expect(parts[3]?.endsWith(`\n${JSON.stringify(answerSchema)}`)).toBe(true);
});

test("the memory has a line and the skills their names, only where they are offered", () => {
  const options = { workDir: "/work", platform: "linux", shell: "bash", date: "2026-01-02" };
  const plain = systemPrompt(options);
  expect(plain).not.toMatch(/memory_|# Skills/);
  expect(systemPrompt({ ...options, hasMemory: false, skills: [] })).toBe(plain);
  const full = systemPrompt({
    ...options,
    hasMemory: true,
    instructions: "# Instructions from x",
    skills: ["pdf", "b"],
  });
  expect(full.match(/^- memory_read .*memory_write.*$/gm)).toHaveLength(1);
  expect(full.indexOf("# Instructions from x")).toBeLessThan(full.indexOf("# Skills"));
  expect(full).toMatch(/: pdf, b\.$/);
});
