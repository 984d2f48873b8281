import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { constants } from "node:os";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay, setImmediate as nextLoop } from "node:timers/promises";
import { type Sandbox, SandboxFailure } from "../sandbox/sandbox.ts";
import { firstOf, type StoppedBy, within } from "./await-exit.ts";
import type { ConfinedStart } from "./confined-start.ts";
import { endProcesses, type ProcessTree } from "./process-tree.ts";
import { type CommandOptions, startCommand } from "./start-command.ts";

export type RunOptions = CommandOptions & {
  readonly tree: ProcessTree;
  /** What `env` has and no other command's has. */
  readonly mark: string;
  /** Counts from the start of the process. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  readonly onOutput: (bytes: Buffer) => void;
  /** The last process that could print has ended; may come long after the result. */
  readonly onClose: () => void;
};

export type CommandEnd = {
  readonly pid: number;
  /** Null when a signal ended it, or when nothing could. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stoppedBy: StoppedBy;
  /** Whether background processes live on: with the output still open, or without it. */
  readonly background: "none" | "silent" | "printing";
  /** Whether nothing can have got away: its sandbox has ended, with all that was in it. */
  readonly isSealed: boolean;
};

// What bash and those it waited for printed is in the pipe when it exits; `> >(tee log)` prints a little later.
const DRAIN_MS = 100;
const POLL_MS = 20;
// A process that does not go even by SIGKILL waits in the kernel, for a lost disk for example.
const UNKILLABLE_MS = 500;

/**
 * Runs one command until bash exits, its time is up or the signal aborts. Does not wait for background children:
 * their output goes to `onOutput` as long as they live, and they hold neither the result nor our process.
 * @throws NodeJS.ErrnoException when it could not be started, SandboxFailure when its sandbox could not.
 */
export const runCommand = async (options: RunOptions): Promise<CommandEnd> => {
  const { pid, child, output, pipe, confined } = await startCommand(options);
  options.onStart(pid);
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const closed = new Promise<void>((resolve) => output.once("close", () => resolve()));
  output.on("data", options.onOutput);
  output.on("error", () => output.destroy()); // a broken pipe ends like a finished one
  void closed.then(options.onClose); // never rejects

  const stoppedBy = await firstOf(exit, options);
  if (stoppedBy !== null) {
    await endProcesses([pid, ...options.tree.marked(options.mark)], options.tree);
    await within(UNKILLABLE_MS, exit);
  }
  await within(DRAIN_MS, closed);
  if (confined !== null && stoppedBy === null) await checkBegun(confined, child.signalCode);
  // The timer may have fired before a busy loop came to read what is there.
  if (!output.closed) await nextLoop();
  if (!output.closed) letGo(child, output);
  const between = confined !== null && options.sandbox?.staysBetween ? basename(options.sandbox.program) : null;
  const isPrinting = (): boolean => between === null || pipe === null || options.tree.holds(pipe, between);
  const isSilent = async (): Promise<boolean> => between === null && (await leftSomebody(pid, options.tree));
  const background = !output.closed ? (isPrinting() ? "printing" : "silent") : (await isSilent()) ? "silent" : "none";
  if (background === "none") confined?.release();
  const isSealed = between !== null && background === "none";
  return { pid, ...endOf(child, options.sandbox), stoppedBy, background, isSealed };
};

/** The command itself has not run where this throws. */
const checkBegun = async ({ failure, release }: ConfinedStart, signal: NodeJS.Signals | null): Promise<void> => {
  const said = await failure(signal);
  if (said === null) return;
  release();
  throw new SandboxFailure(said);
};

const HARMLESS: readonly string[] = [
  "SIGCHLD",
  "SIGCONT",
  "SIGSTOP",
  "SIGTSTP",
  "SIGTTIN",
  "SIGTTOU",
  "SIGURG",
  "SIGWINCH",
];
const FATAL = (Object.keys(constants.signals) as NodeJS.Signals[]).filter((name) => !HARMLESS.includes(name));

/** From 128 and a signal's number, the signal: a command that gives that status itself means the same by it. */
const endOf = (child: ChildProcess, sandbox: Sandbox | undefined): Pick<CommandEnd, "exitCode" | "signal"> => {
  const { exitCode, signalCode: signal } = child;
  const hidden =
    sandbox?.staysBetween === true ? FATAL.find((name) => exitCode === 128 + constants.signals[name]) : undefined;
  return hidden === undefined ? { exitCode, signal } : { exitCode: null, signal: hidden };
};

const letGo = (child: ChildProcess, output: Readable): void => {
  child.unref();
  for (const stream of [output, ...child.stdio]) if (stream instanceof Socket) stream.unref();
};

/** Who has just closed its output may need a moment to be gone. */
const leftSomebody = async (pid: number, tree: ProcessTree): Promise<boolean> => {
  const leaders = new Set([pid]);
  for (let waited = 0; tree.hasGroup(pid) && tree.groups(leaders).length > 0; waited += POLL_MS) {
    if (waited >= DRAIN_MS) return true;
    await delay(POLL_MS);
  }
  return false;
};
