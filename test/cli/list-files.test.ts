import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { listFiles } from "../../src/cli/list-files.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const put = (dir: string, files: Readonly<Record<string, string>>): string => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
};

const git = (dir: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: dir, encoding: "utf8" });

const list = (workDir: string, more: { readonly maxFiles?: number; readonly signal?: AbortSignal } = {}) =>
  listFiles({ workDir, env: process.env, secretNames: [], signal: new AbortController().signal, ...more });

const IGNORING = {
  ".gitignore": "*.log\n/dist/\n",
  "a.ts": "",
  "b.log": "",
  "dist/a.js": "",
  "src/deep/c.ts": "",
  "src/deep/dist/kept.js": "",
  "src/.gitignore": "!keep.log\nsecret/\n",
  "src/keep.log": "",
  "src/secret/x": "",
  "src/日本 語.txt": "",
  "node_modules/p/index.js": "",
};
const SEEN = [
  ".gitignore",
  "a.ts",
  "src/",
  "src/.gitignore",
  "src/deep/",
  "src/keep.log",
  "src/日本 語.txt",
  "src/deep/c.ts",
  "src/deep/dist/",
  "src/deep/dist/kept.js",
];

test("without a repository the .gitignore files decide, the nearest first", async () => {
  expect(await list(put(tempDir(), IGNORING))).toEqual(SEEN);
});

test("in a repository the same files are seen, tracked or not", async () => {
  const dir = put(tempDir(), IGNORING);
  git(dir, "init", "-q");
  git(dir, "add", "a.ts", "src/deep");
  expect(await list(dir)).toEqual(SEEN);
});

test("below the root of a repository the paths begin at the work directory", async () => {
  const dir = put(tempDir(), IGNORING);
  git(dir, "init", "-q");
  expect(await list(join(dir, "src"))).toEqual([
    ".gitignore",
    "deep/",
    "keep.log",
    "日本 語.txt",
    "deep/c.ts",
    "deep/dist/",
    "deep/dist/kept.js",
  ]);
});

test("a tracked file that has been deleted is not offered, an ignored one that is tracked is", async () => {
  const dir = put(tempDir(), { ".gitignore": "*.log\n", "gone.ts": "", "kept.log": "" });
  git(dir, "init", "-q");
  git(dir, "add", "-f", ".");
  rmSync(join(dir, "gone.ts"));
  expect(await list(dir)).toEqual([".gitignore", "kept.log"]);
});

test("a folder that a repository around it ignores is walked", async () => {
  const dir = put(tempDir(), { ".gitignore": "*\n", "inner/a.ts": "" });
  git(dir, "init", "-q");
  expect(await list(join(dir, "inner"))).toEqual(["a.ts"]);
});

test("the repository's own programs do not run", async () => {
  const dir = put(tempDir(), { "a.ts": "", "evil.sh": "#!/bin/sh\ntouch ran\n" });
  git(dir, "init", "-q");
  git(dir, "config", "core.fsmonitor", `sh ${join(dir, "evil.sh")}`);
  expect(await list(dir)).toEqual(["a.ts", "evil.sh"]);
  expect(await list(dir)).toEqual(["a.ts", "evil.sh"]);
});

test.each(["walked", "known to git"])("names that no line can hold are left out: %s", async (how) => {
  const dir = put(tempDir(), { "a.ts": "", "two\nlines": "", "red\x1b[31m": "", "left\u202eright": "", "f\n/x": "" });
  writeFileSync(Buffer.concat([Buffer.from(`${dir}/latin`), Buffer.from([0xe9])]), "");
  if (how !== "walked") git(dir, "init", "-q");
  expect(await list(dir)).toEqual(["a.ts"]);
});

test("links are named and not followed", async () => {
  const dir = put(tempDir(), { "src/a.ts": "" });
  symlinkSync("..", join(dir, "src", "up"));
  expect(await list(dir)).toEqual(["src/", "src/a.ts", "src/up"]);
});

test.each(["walked", "known to git"])("no more than the limit of files is listed: %s", async (how) => {
  const dir = put(tempDir(), Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`file-${index}`, ""])));
  if (how !== "walked") git(dir, "init", "-q");
  expect(await list(dir, { maxFiles: 20 })).toHaveLength(20);
});

test("a folder that is not there, and a signal that has aborted, give nothing", async () => {
  const dir = put(tempDir(), { "a.ts": "" });
  expect(await list(join(dir, "missing"))).toEqual([]);
  expect(await list(dir, { signal: AbortSignal.abort() })).toEqual([]);
});

test("git gets no keys", async () => {
  const dir = put(tempDir(), { "bin/git": '#!/bin/sh\nprintenv A_KEY > "$OUT" || echo none > "$OUT"\n' });
  const out = join(dir, "out");
  execFileSync("chmod", ["+x", join(dir, "bin/git")]);
  const env = { PATH: `${join(dir, "bin")}:${process.env["PATH"]}`, A_KEY: "secret", OUT: out };
  const signal = new AbortController().signal;
  await listFiles({ workDir: dir, env, secretNames: ["A_KEY"], signal });
  expect(execFileSync("cat", [out], { encoding: "utf8" })).toBe("none\n");
});

test("whatever the tree, walking and git see the same", async () => {
  const name = fc.constantFrom("a", "b", "c.log", "build", "x y");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const pattern = fc.constantFrom("*.log", "build/", "/a", "!c.log", "a/b", "**/b/c.log", "b/*", "# note", "");
  const rules = fc.array(pattern, { maxLength: 4 }).map((lines) => lines.join("\n"));
  await fc.assert(
    fc.asyncProperty(fc.array(path, { maxLength: 8 }), rules, rules, async (paths, top, inner) => {
      const dir = tempDir();
      for (const one of paths) {
        try {
          put(dir, { [one]: "" });
        } catch {
          // A file stands where this path wants a folder, or the other way round.
        }
      }
      put(dir, { ".gitignore": top });
      try {
        put(dir, { "a/.gitignore": inner });
      } catch {
        // `a` is a file.
      }
      const walked = await list(dir);
      git(dir, "init", "-q");
      // Nothing known to git also means: walk.
      if (git(dir, "ls-files", "-co", "--exclude-standard") === "") return;
      expect(await list(dir)).toEqual(walked);
    }),
    { numRuns: 15 },
  );
});
