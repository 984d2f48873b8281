import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { errorMessage } from "../text/error-message.ts";
import { characterStart } from "../text/utf8.ts";
import { firstOf, within } from "../tools/shell/await-exit.ts";
import { endProcesses, type ProcessTree } from "../tools/shell/process-tree.ts";

/** The most that is read of what a hook prints, in bytes, of each stream. */
export const MAX_HOOK_OUTPUT_BYTES = 65_536;

// What a hook printed is in the pipe when it exits; a child that it left behind may hold the pipe for ever.
const DRAIN_MS = 500;
// A process that does not go even by SIGKILL waits in the kernel.
const UNKILLABLE_MS = 500;

export type HookProgram = {
  /** For `bash -c`. */
  readonly command: string;
  /** What it gets on standard input, as one JSON object. */
  readonly input: object;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export type HookOutput = { readonly text: string; readonly isCut: boolean };

export type HookEnd =
  | { readonly type: "exited"; readonly code: number; readonly stdout: HookOutput; readonly stderr: HookOutput }
  | { readonly type: "killed"; readonly signal: string }
  | { readonly type: "timed-out" }
  | { readonly type: "cancelled" }
  | { readonly type: "not-started"; readonly reason: string };

export interface HookRunner {
  /** Runs a hook to its end, or ends it with its whole process group: SIGTERM, a second, SIGKILL. Never throws. */
  run(program: HookProgram): Promise<HookEnd>;
  /** The last resort: no waiting. */
  kill(): void;
}

export type HookRunnerOptions = {
  readonly workDir: string;
  /** Without the keys of providers. */
  readonly env: Readonly<Record<string, string>>;
  readonly tree: ProcessTree;
};

export const createHookRunner = ({ workDir, env, tree }: HookRunnerOptions): HookRunner => {
  const running = new Set<number>();

  const run = async (program: HookProgram): Promise<HookEnd> => {
    if (program.signal.aborted) return { type: "cancelled" };
    let child: ReturnType<typeof start>;
    try {
      child = start(program.command, workDir, env);
    } catch (error) {
      // The kernel's own refusals, as of a command that is too long.
      return { type: "not-started", reason: errorMessage(error) };
    }
    const { pid } = child;
    if (pid === undefined) return notStarted(child);
    running.add(pid);
    try {
      return await finish(child, pid, program, tree);
    } finally {
      running.delete(pid);
    }
  };
  return { run, kill: () => tree.signal(tree.groups(running), "SIGKILL") };
};

// `detached` calls setsid: no terminal to draw on or to ask at, and one group to end. Node's pipes are sockets, and
// bash takes a socket on standard input for a remote login, for which it would read ~/.bashrc.
const start = (command: string, cwd: string, env: Readonly<Record<string, string>>) =>
  spawn("bash", ["--norc", "-c", command], {
    cwd,
    env,
    detached: true,
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"],
  });

const notStarted = (child: ChildProcess): Promise<HookEnd> =>
  new Promise((resolve) =>
    child.once("error", (error) => resolve({ type: "not-started", reason: errorMessage(error) })),
  );

const finish = async (
  child: ReturnType<typeof start>,
  pid: number,
  { input, timeoutMs, signal }: HookProgram,
  tree: ProcessTree,
): Promise<HookEnd> => {
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  // Most hooks need not read all that they are told; a closed pipe is no failure.
  child.stdin.on("error", () => child.stdin.destroy());
  child.stdin.end(`${JSON.stringify(input)}\n`);

  const stoppedBy = await firstOf(exit, { limitMs: timeoutMs, signal });
  if (stoppedBy !== null) {
    await endProcesses([pid], tree);
    await within(UNKILLABLE_MS, exit);
  } else await within(DRAIN_MS, closed);
  for (const stream of child.stdio) stream?.destroy();
  child.unref();
  if (stoppedBy !== null) return { type: stoppedBy === "timeout" ? "timed-out" : "cancelled" };
  if (child.exitCode === null) return { type: "killed", signal: child.signalCode ?? "SIGKILL" };
  return { type: "exited", code: child.exitCode, stdout: stdout(), stderr: stderr() };
};

/** Reads all of a stream and keeps its beginning. */
const collect = (stream: Readable): (() => HookOutput) => {
  const parts: Buffer[] = [];
  let bytes = 0;
  stream.on("error", () => stream.destroy());
  stream.on("data", (part: Buffer) => {
    if (bytes < MAX_HOOK_OUTPUT_BYTES) parts.push(part.subarray(0, MAX_HOOK_OUTPUT_BYTES - bytes + 1));
    bytes += part.length;
  });
  return () => {
    const all = Buffer.concat(parts);
    const isCut = bytes > MAX_HOOK_OUTPUT_BYTES;
    const end = isCut ? characterStart(all, MAX_HOOK_OUTPUT_BYTES) : all.length;
    return { text: all.toString("utf8", 0, end), isCut };
  };
};
