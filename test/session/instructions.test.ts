import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadInstructions } from "../../src/session/instructions.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const project = () => {
  const dir = tempDir();
  const workDir = join(dir, "repo", "packages", "app");
  mkdirSync(workDir, { recursive: true });
  mkdirSync(join(dir, "repo", ".git"));
  const own = join(dir, "AGENTS.md");
  return { dir, repo: join(dir, "repo"), workDir, own };
};

test("the person's file comes first, then one a folder from the repository's root down to the work directory", () => {
  const { dir, repo, workDir, own } = project();
  writeFileSync(own, "mine");
  writeFileSync(join(repo, "AGENTS.md"), "root\r\nrules\n");
  writeFileSync(join(repo, "CLAUDE.md"), "not this one");
  writeFileSync(join(repo, "packages", "CLAUDE.md"), "packages");
  writeFileSync(join(workDir, "GEMINI.md"), "app");
  writeFileSync(join(dir, "CLAUDE.md"), "above the repository");

  const { text, files, skipped, cut } = loadInstructions(own, workDir);
  expect(text).toBe(
    [
      `# Instructions from ${own}\nmine`,
      `# Instructions from ${join(repo, "AGENTS.md")}\nroot\nrules`,
      `# Instructions from ${join(repo, "packages", "CLAUDE.md")}\npackages`,
      `# Instructions from ${join(workDir, "GEMINI.md")}\napp`,
    ].join("\n\n"),
  );
  expect([files.length, skipped, cut]).toEqual([4, [], []]);
});

test("hidden characters are made visible", () => {
  const { workDir, own } = project();
  writeFileSync(join(workDir, "AGENTS.md"), "be\u200B good\u202E\u001b[2J");
  expect(loadInstructions(own, workDir).text).toMatch(/be\\u\{200b\} good\\u\{202e\}\\u\{1b\}\[2J$/i);
});

test("a link that leads out of the repository and a folder of that name are left out and named", () => {
  const { dir, repo, workDir, own } = project();
  writeFileSync(join(dir, "secret"), "hunter2");
  symlinkSync(join(dir, "secret"), join(repo, "AGENTS.md"));
  mkdirSync(join(workDir, "AGENTS.md"));
  expect(loadInstructions(own, workDir)).toEqual({
    text: "",
    files: [],
    skipped: [join(repo, "AGENTS.md"), join(workDir, "AGENTS.md")],
    cut: [],
  });
});

test("32 KiB is the limit of all files together", () => {
  const { repo, workDir, own } = project();
  writeFileSync(join(repo, "AGENTS.md"), "x".repeat(20 * 1024));
  writeFileSync(join(workDir, "AGENTS.md"), "y".repeat(20 * 1024));
  const { text, cut } = loadInstructions(own, workDir);
  expect(cut).toEqual([join(workDir, "AGENTS.md")]);
  expect(text.match(/y+$/)?.[0].length).toBe(12 * 1024);
});

test("of a file that is far too long only the beginning is read, and lines of DOS fill the limit too", () => {
  const { repo, workDir, own } = project();
  writeFileSync(own, `\uFEFF${"x\r\n".repeat(30 * 1024)}`);
  expect(loadInstructions(own, workDir)).toMatchObject({ files: [own], cut: [own] });
  expect(loadInstructions(own, workDir).text).toBe(`# Instructions from ${own}\n${"x\n".repeat(16 * 1024).trim()}`);
  writeFileSync(own, "");
  writeFileSync(join(repo, "AGENTS.md"), "begin");
  truncateSync(join(repo, "AGENTS.md"), 2 ** 36);
  const { text, cut } = loadInstructions(own, workDir);
  expect([cut, text.includes("\nbegin\\u{0}"), text.length < 40 * 1024]).toEqual([
    [join(repo, "AGENTS.md")],
    true,
    true,
  ]);
});

test("a pipe is left out and does not hold the start", () => {
  const { workDir, own } = project();
  execFileSync("mkfifo", [join(workDir, "AGENTS.md")]);
  expect(loadInstructions(own, workDir).skipped).toEqual([join(workDir, "AGENTS.md")]);
});
