import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Readable } from "node:stream";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type ConfinedStart, watchStart } from "./confined-start.ts";
import type { OutputPipe, OutputPipes } from "./output-pipe.ts";

export type CommandOptions = {
  /** Name or path of bash. */
  readonly shell: string;
  readonly command: string;
  readonly workDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pipes: OutputPipes;
  readonly sandbox?: Sandbox | undefined;
};

export type StartedCommand = {
  /** Id of bash and of its session and group. */
  readonly pid: number;
  readonly child: ChildProcess;
  /** stdout and stderr in true order. */
  readonly output: Readable;
  /** What a link to it in /proc says; null where it is no pipe of ours. */
  readonly pipe: string | null;
  /** Null where the command is not confined. */
  readonly confined: ConfinedStart | null;
};

// For systems without pipes of ours: the outer bash only joins the two and becomes the inner one, which gets the
// command as it is: line numbers, comments, heredocs and syntax errors stay those of a plain `bash -c`. It is
// privileged (-p), so that BASH_ENV runs once, in the inner one.
const MERGED = 'exec "$0" -c "$1" 2>&1';
const merging = (shell: string, command: string): readonly string[] => ["-p", "-c", MERGED, shell, command];

const STATUS_FD = 3;

/**
 * Starts `bash -c` with nothing on stdin, as the leader of a session without a terminal.
 * @throws NodeJS.ErrnoException as spawn reports it: ENOENT (bash or the work directory), E2BIG, EAGAIN, …
 */
export const startCommand = async (options: CommandOptions): Promise<StartedCommand> => {
  const { shell, command, workDir: cwd, env, sandbox } = options;
  const pipe = await options.pipes.open();
  // `detached` calls setsid: no /dev/tty to ask for a password at, and one group to end.
  const common = { cwd, env, detached: true, windowsHide: true } as const;
  if (sandbox !== undefined) return startConfined(options, sandbox, pipe, common);
  if (pipe === null) {
    const child = spawn(shell, merging(shell, command), { ...common, stdio: ["ignore", "pipe", "ignore"] });
    return { pid: await started(child), child, output: child.stdout, pipe: null, confined: null };
  }
  try {
    const stdio = ["ignore" as const, pipe.writeEnd, pipe.writeEnd];
    const child = spawn(shell, ["-c", command], { ...common, stdio });
    return { pid: await started(child), child, output: pipe.reader, pipe: pipe.name, confined: null };
  } catch (error) {
    pipe.reader.resume();
    throw error;
  } finally {
    closeSync(pipe.writeEnd);
  }
};

const startConfined = async (
  { shell, command }: CommandOptions,
  sandbox: Sandbox,
  pipe: OutputPipe | null,
  common: SpawnOptions,
): Promise<StartedCommand> => {
  const inner = pipe === null ? merging(shell, command) : ["-c", command];
  const { file, args, release } = sandbox.wrap(shell, inner, STATUS_FD);
  try {
    const ends = pipe === null ? ["pipe" as const, "pipe" as const] : [pipe.writeEnd, pipe.writeEnd];
    const child = spawn(file, [...args], { ...common, stdio: ["ignore", ...ends, "pipe"] });
    const pid = await started(child);
    const output = pipe?.reader ?? child.stdout;
    const words = pipe?.reader ?? child.stderr;
    const status = child.stdio[STATUS_FD];
    if (!output || !words || !(status instanceof Readable)) throw new TypeError("a command without its pipes");
    const confined = watchStart({ words, status: sandbox.staysBetween ? status : null }, release);
    return { pid, child, output, pipe: pipe?.name ?? null, confined };
  } catch (error) {
    release();
    pipe?.reader.resume();
    throw error;
  } finally {
    if (pipe !== null) closeSync(pipe.writeEnd);
  }
};

const started = (child: ChildProcess): Promise<number> => {
  // Without a pid an error event follows.
  if (child.pid !== undefined) return Promise.resolve(child.pid);
  return new Promise((_, reject) => child.once("error", reject));
};
