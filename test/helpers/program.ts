import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { type Answer, openAIAnswer } from "./model-server.ts";
import { tempDir } from "./temp-dir.ts";

/** The program's entry; `npm test` builds what it loads. */
export const ENTRY = fileURLToPath(new URL("../../bin/harness9.js", import.meta.url));

/** A person's home and a project, both empty and gone with the test. */
export type Place = { readonly home: string; readonly workDir: string };

export const newPlace = (): Place => {
  const root = tempDir();
  const place = { home: join(root, "home"), workDir: join(root, "project") };
  mkdirSync(place.home);
  mkdirSync(place.workDir);
  return place;
};

export type ProgramOptions = {
  readonly place: Place;
  readonly cwd?: string;
  /** On top of PATH and HOME: nothing else of our own environment is seen. */
  readonly env?: Readonly<Record<string, string>>;
  /** The whole of standard input; `open` is a socket that nobody writes to or closes. Default: /dev/null. */
  readonly stdin?: string | Uint8Array | "open" | { readonly fd: number };
  /** A file descriptor instead of the pipe that is collected. */
  readonly stdout?: number;
  readonly uid?: number;
};

export type Ended = {
  /** Null when a signal killed it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunningProgram = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when standard output and standard error hold the text; rejects when the program ends without it. */
  readonly said: (text: string) => Promise<void>;
  readonly ended: Promise<Ended>;
};

/** Starts the built program. It is killed when the test ends, should it still run. */
export const startProgram = (args: readonly string[], options: ProgramOptions): RunningProgram => {
  const { place, stdin, uid } = options;
  const isText = typeof stdin === "string" && stdin !== "open";
  const input = stdin === undefined ? "ignore" : typeof stdin === "object" && "fd" in stdin ? stdin.fd : "pipe";
  const child = spawn(process.execPath, [ENTRY, ...args], {
    cwd: options.cwd ?? place.workDir,
    env: { PATH: process.env["PATH"], HOME: place.home, ...options.env },
    stdio: [input, options.stdout ?? "pipe", "pipe"],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  // A program that reads no input may end before it has got it all.
  child.stdin?.on("error", () => undefined);
  if (isText || stdin instanceof Uint8Array) child.stdin?.end(stdin);

  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const text = (name: keyof typeof parts): string => Buffer.concat(parts[name]).toString("utf8");
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.on("data", (part: Buffer) => void parts[name].push(part));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stdout: text("stdout"), stderr: text("stderr") }));
  });
  const said = (words: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if ((text("stdout") + text("stderr")).includes(words)) resolve();
      };
      child.stdout?.on("data", look);
      child.stderr?.on("data", look);
      child.once("close", () => reject(new Error(`ended without ${words}: ${text("stdout")}${text("stderr")}`)));
      look();
    });
  return { child, pid: child.pid ?? 0, said, ended };
};

export const runProgram = (args: readonly string[], options: ProgramOptions): Promise<Ended> =>
  startProgram(args, options).ended;

export const KEY = "test-key-0123456789";

/** The environment that makes a loopback server the model. */
export const openAIEnv = (server: { readonly origin: string }): Readonly<Record<string, string>> => ({
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: `${server.origin}/v1`,
  OPENAI_MODEL: "test-model",
});

export const anthropicEnv = (server: { readonly origin: string }): Readonly<Record<string, string>> => ({
  ANTHROPIC_API_KEY: KEY,
  ANTHROPIC_BASE_URL: server.origin,
  ANTHROPIC_MODEL: "test-model",
});

/** An OpenAI answer that calls tools; the ids are `call_1`, `call_2` … after `prefix`. */
export const toolCalls = (calls: readonly (readonly [name: string, args: unknown])[], prefix = "call"): Answer => {
  const deltas = calls.map(([name, args], index) => ({
    index,
    id: `${prefix}_${index + 1}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  return openAIAnswer({ tool_calls: deltas }, "tool_calls");
};

export const bash = (command: string): readonly [string, unknown] => ["bash", { command }];

/** Writes a file below `folder`, its folders included. */
export const put = (folder: string, path: string, content: string | Uint8Array): string => {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};

export const readEvents = (stdout: string): readonly EngineEvent[] => jsonLines(stdout) as readonly EngineEvent[];

/** Every line as JSON. Throws on a line that is none. */
export const jsonLines = (stdout: string): readonly Readonly<Record<string, unknown>>[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The session files of a place: names below the one folder of the project. */
export const sessionFolder = ({ home }: Place): string => {
  const sessions = join(home, ".harness9", "sessions");
  const [project] = existsSync(sessions) ? readdirSync(sessions) : [];
  return join(sessions, project ?? "");
};

/** The text of the one log of a place. */
export const readLog = (place: Place): string => {
  const folder = sessionFolder(place);
  const logs = readdirSync(folder).filter((name) => name.endsWith(".log"));
  if (logs.length !== 1) throw new Error(`expected one log, found ${logs.join(", ")}`);
  return readFileSync(join(folder, logs[0] ?? ""), "utf8");
};

/** Control characters, newline and tab excepted. */
export const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
