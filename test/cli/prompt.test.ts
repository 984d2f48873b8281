import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type ModelServer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { ENTRY, newPlace, openAIEnv, type ProgramOptions, put, runProgram } from "../helpers/program.ts";

/** What the model was asked, in the last request. */
const asked = ({ requests }: ModelServer): unknown => {
  const body = requests.at(-1)?.body as { messages: { role: string; content: unknown }[] } | undefined;
  return body?.messages.find(({ role }) => role === "user")?.content ?? null;
};

const ask = async (words: readonly string[], more: Partial<ProgramOptions> = {}) => {
  const server = await modelServer([openAIAnswer("Done.")]);
  const ended = await runProgram(["run", ...words], { place: newPlace(), env: openAIEnv(server), ...more });
  return { ...ended, asked: asked(server) };
};

test("the prompt comes from the words, from standard input, or from both", async () => {
  const file = openSync(put(newPlace().home, "prompt.txt", "from a file\n"), "r");
  const rows = await Promise.all([
    ask(["fix", "it"]),
    ask(["--", "--fix", "-v"]),
    ask([], { stdin: "from a pipe\n" }),
    ask([], { stdin: { fd: file } }),
    ask(["fix it"], { stdin: "line 1\nline 2\n" }),
    ask(["fix it"], { stdin: "" }),
    ask(["fix it"], { stdin: " \r\n\r\n" }),
    ask(["fix it"], { stdin: "open" }),
    ask([], { stdin: "\ufeffwith a BOM" }),
    ask([], { stdin: "one\r\ntwo\r\n" }),
    ask([], { stdin: "修复它 🙂" }),
  ]);
  closeSync(file);
  expect(rows.map(({ exitCode, stderr, asked }) => [exitCode, stderr, asked])).toEqual(
    [
      "fix it",
      "--fix -v",
      "from a pipe\n",
      "from a file\n",
      "fix it\n\n<stdin>\nline 1\nline 2\n</stdin>",
      "fix it",
      "fix it",
      "fix it",
      "with a BOM",
      "one\r\ntwo\r\n",
      "修复它 🙂",
    ].map((prompt) => [0, "", prompt]),
  );
});

test("an empty or blank prompt is an input error, and no model is asked", async () => {
  const rows = await Promise.all([
    ask([]),
    ask([""]),
    ask(["  ", "\t"]),
    ask([], { stdin: "" }),
    ask([], { stdin: " \r\n\t\r\n" }),
    ask([""], { stdin: "\n" }),
  ]);
  for (const row of rows)
    expect(row).toEqual({
      exitCode: 42,
      stdout: "",
      stderr: 'harness9: the prompt is empty; use: harness9 run "task", or give it on standard input\n',
      asked: null,
    });
});

test("a closed standard input is none", async () => {
  const server = await modelServer([openAIAnswer("Done.")]);
  const place = newPlace();
  // Only a shell can start a program with its input closed.
  const program = spawn("sh", ["-c", 'exec "$0" "$@" <&-', process.execPath, ENTRY, "run", "fix it"], {
    cwd: place.workDir,
    env: { PATH: process.env["PATH"], HOME: place.home, ...openAIEnv(server) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  expect(await text(program.stderr)).toBe("");
  expect(asked(server)).toBe("fix it");
});

test("a prompt of a megabyte arrives whole", async () => {
  const prompt = "0123456789abcde\n".repeat(65_536);
  const { exitCode, asked } = await ask([], { stdin: prompt });
  expect(exitCode).toBe(0);
  expect(asked === prompt).toBe(true);
});

test("input that is no text or too large is refused before a model is asked", async () => {
  const [binary, latin1, nul, large] = await Promise.all([
    ask([], { stdin: Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe]) }),
    ask(["what is this"], { stdin: Uint8Array.from([0x63, 0x61, 0x66, 0xe9]) }),
    ask([], { stdin: "a\0b" }),
    ask([], { stdin: "x".repeat(11 * 1024 * 1024) }),
  ]);
  for (const row of [binary, latin1, nul])
    expect(row).toEqual({
      exitCode: 42,
      stdout: "",
      stderr: "harness9: standard input is not UTF-8 text; put it in a file and name the path in the prompt\n",
      asked: null,
    });
  expect(large).toEqual({
    exitCode: 42,
    stdout: "",
    stderr: expect.stringContaining("standard input is larger than 10485760 bytes"),
    asked: null,
  });
});

test("a folder as standard input is none", async () => {
  const folder = openSync(newPlace().home, "r");
  expect(await ask(["fix it"], { stdin: { fd: folder } })).toMatchObject({ exitCode: 0, asked: "fix it" });
  closeSync(folder);
});
