import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editText } from "../../src/cli/edit-text.ts";
import { loadStrings } from "../../src/text/strings.ts";
import { eventually } from "../helpers/run-bash.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const strings = (await loadStrings("en")).chat;
const PATH = process.env["PATH"];

/** An editor made of a line of shell; `$1` is the file. */
const editor = (dir: string, line: string): string => {
  const path = join(dir, "my editor");
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o700);
  return `'${path}'`;
};

const edit = (text: string, env: Readonly<Record<string, string>>, signal = new AbortController().signal) =>
  editText(text, { env: { PATH, ...env }, secretNames: ["A_KEY"], strings, signal });

test.each([
  ["an editor's own newline at the end goes", "one", "echo two > $1", "two"],
  ["a newline that was there stays", "one\n", "echo two > $1", "two\n"],
  ["nothing changed", "one\ntwo", "true", "one\ntwo"],
  ["everything deleted", "one", ": > $1", ""],
  ["line endings of Windows", "one", "printf 'a\\r\\nb\\r\\n' > $1", "a\nb"],
  ["all scripts", "日本 👩‍👩‍👧", "printf '%s' \"$(cat $1)!\" > $1", "日本 👩‍👩‍👧!"],
])("the text comes back as it was left: %s", async (_, before, line, after) => {
  expect(await edit(before, { EDITOR: editor(tempDir(), line) })).toBe(after);
});

test("VISUAL comes before EDITOR, and either may have arguments", async () => {
  const visual = `${editor(tempDir(), 'echo "$1" > $2')} --wait`;
  expect(await edit("", { VISUAL: visual, EDITOR: "false" })).toBe("--wait");
  expect(await edit("", { VISUAL: " ", EDITOR: visual })).toBe("--wait");
});

test.each([
  ["exit 3", /\(3\)/],
  ["kill -9 $$", /\(137\)|\(SIGKILL\)/],
])("an editor that fails leaves the text as it was and says so: %s", async (line, said) => {
  const result = await edit("one", { EDITOR: editor(tempDir(), `echo two > $1; ${line}`) });
  expect(result).toEqual({ problem: expect.stringMatching(said) as string });
});

test("what only a shell can carry out is carried out", async () => {
  const line = editor(tempDir(), 'echo "$WORD" > $1');
  expect(await edit("", { EDITOR: `WORD=two ${line}` })).toBe("two");
  expect(await edit("", { EDITOR: `true && WORD=two ${line}` })).toBe("two");
  expect(await edit("one", { EDITOR: ":" })).toBe("one");
});

test("the signal ends the editor", async () => {
  const dir = tempDir();
  const stop = new AbortController();
  const edited = edit("one", { EDITOR: editor(dir, `echo $$ > ${dir}/pid; exec sleep 600`) }, stop.signal);
  await eventually(() => existsSync(join(dir, "pid")) && readFileSync(join(dir, "pid"), "utf8").endsWith("\n"));
  stop.abort();
  expect(await edited).toEqual({ problem: expect.any(String) as string });
  const pid = Number(readFileSync(join(dir, "pid"), "utf8"));
  await eventually(() => !existsSync(`/proc/${pid}`));
});

test("an editor that is not there is a problem, not a crash", async () => {
  expect(await edit("one", { EDITOR: "no-such-editor-anywhere" })).toEqual({
    problem: expect.stringContaining("no-such-editor-anywhere") as string,
  });
});

test("nobody else can read the text meanwhile, the editor gets no keys, and nothing stays behind", async () => {
  const dir = tempDir();
  const line = `echo "$1" > ${dir}/path; stat -c %a "$1" "$(dirname "$1")" > ${dir}/modes; echo "\${A_KEY-none}" > ${dir}/key`;
  await edit("one", { EDITOR: editor(dir, line), A_KEY: "secret" });
  const path = readFileSync(join(dir, "path"), "utf8").trim();
  expect(readFileSync(join(dir, "modes"), "utf8")).toBe("600\n700\n");
  expect(readFileSync(join(dir, "key"), "utf8")).toBe("none\n");
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(dir)).toContain("modes");
  expect(statSync(dir).isDirectory()).toBe(true);
});

test("a file keeps its name and its line endings; the newline that an editor adds at the end is nobody's", async () => {
  const dir = tempDir();
  const script = `basename "$1" > ${dir}/name; printf 'two\\r\\n' >> "$1"`;
  const options = {
    env: { PATH: process.env["PATH"], EDITOR: editor(dir, script) },
    secretNames: [],
    strings,
  };
  const { signal } = new AbortController();
  expect(await editText("one\r\n", { ...options, name: "a.ts", signal })).toBe("one\r\ntwo\r\n");
  expect(readFileSync(join(dir, "name"), "utf8")).toBe("a.ts\n");
  expect(await editText("one ", { ...options, name: "a.ts", signal })).toBe("one two");
});

test("what is not UTF-8 is a problem: it would not be what was written", async () => {
  const dir = tempDir();
  expect(await edit("one", { EDITOR: editor(dir, `printf '\\377' > "$1"`) })).toEqual({
    problem: expect.any(String) as string,
  });
});

test("an editor that does not go at the signal is ended all the same", async () => {
  const dir = tempDir();
  const stop = new AbortController();
  const line = `trap '' TERM; echo $$ > ${dir}/pid; while :; do sleep 0.1; done`;
  const edited = edit("one", { EDITOR: editor(dir, line) }, stop.signal);
  await eventually(() => existsSync(join(dir, "pid")) && readFileSync(join(dir, "pid"), "utf8").endsWith("\n"));
  stop.abort();
  expect(await edited).toEqual({ problem: expect.stringContaining("SIGKILL") as string });
});
