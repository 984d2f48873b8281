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
  const names = ["AGENTS.md", "packages/CLAUDE.md", "packages/app/GEMINI.md"];
  expect(files).toEqual([
    { path: own, bytes: 4, shownBytes: 4 },
    ...names.map((name, index) => ({
      path: join(repo, name),
      bytes: [12, 8, 3][index],
      shownBytes: [12, 8, 3][index],
    })),
  ]);
  expect(text).toBe(
    [
      `# Instructions from ${own}\nmine`,
      `# Instructions from ${join(repo, "AGENTS.md")}\nroot\nrules`,
      `# Instructions from ${join(repo, "packages", "CLAUDE.md")}\npackages`,
      `# Instructions from ${join(workDir, "GEMINI.md")}\napp`,
    ].join("\n\n"),
  );
  expect([skipped, cut]).toEqual([[], []]);
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

test("32 KiB is the limit of all files together, and the model is told where the rest is", () => {
  const { repo, workDir, own } = project();
  writeFileSync(join(repo, "AGENTS.md"), "x".repeat(20 * 1024));
  writeFileSync(join(workDir, "AGENTS.md"), "y".repeat(20 * 1024));
  const path = join(workDir, "AGENTS.md");
  const file = { path, bytes: 20 * 1024, shownBytes: 12 * 1024 };
  const { text, files, cut } = loadInstructions(own, workDir);
  expect([cut, files[1]]).toEqual([[file], file]);
  expect(text.match(/^y+$/m)?.[0].length).toBe(12 * 1024);
  expect(text.split("\n").at(-1)).toBe(
    `[The first 12288 of 20480 bytes of this file. Read the rest when it may matter: read_file with path "${path}" and offset 1.]`,
  );
});

test("a file for which nothing is left is named with the way to read it", () => {
  const { repo, workDir, own } = project();
  writeFileSync(join(repo, "AGENTS.md"), "x\n".repeat(16 * 1024));
  writeFileSync(join(workDir, "AGENTS.md"), "never mind\n");
  const path = join(workDir, "AGENTS.md");
  const { text, cut } = loadInstructions(own, workDir);
  expect(cut).toEqual([{ path, bytes: 11, shownBytes: 0 }]);
  expect(text.slice(text.indexOf(`# Instructions from ${path}`)).split("\n")).toEqual([
    `# Instructions from ${path}`,
    `[The first 0 of 11 bytes of this file. Read the rest when it may matter: read_file with path "${path}" and offset 1.]`,
  ]);
});

test("of a file that is far too long only the beginning is read, and lines of DOS fill the limit too", () => {
  const { repo, workDir, own } = project();
  writeFileSync(own, `\uFEFF${"x\r\n".repeat(30 * 1024)}`);
  const file = { path: own, bytes: 90 * 1024 + 3, shownBytes: 32 * 1024 };
  expect(loadInstructions(own, workDir)).toMatchObject({ files: [file], cut: [file] });
  expect(loadInstructions(own, workDir).text).toContain(
    `# Instructions from ${own}\n${"x\n".repeat(16 * 1024)}[The first 32768 of 92163 bytes of this file.`,
  );
  writeFileSync(own, "");
  writeFileSync(join(repo, "AGENTS.md"), "begin");
  truncateSync(join(repo, "AGENTS.md"), 2 ** 36);
  const { text, cut } = loadInstructions(own, workDir);
  expect([cut.map(({ path }) => path), text.includes("\nbegin\\u{0}"), text.length < 40 * 1024]).toEqual([
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
