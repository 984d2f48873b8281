import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import type { OutputPipes } from "./output-pipe.ts";

export type CommandOptions = {
  /** Name or path of bash. */
  readonly shell: string;
  readonly command: string;
  readonly workDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pipes: OutputPipes;
};

export type StartedCommand = {
  /** Id of bash and of its session and group. */
  readonly pid: number;
  readonly child: ChildProcess;
  /** stdout and stderr in true order. */
  readonly output: Readable;
};

// For systems without pipes of ours: the outer bash only joins the two and becomes the inner one, which gets the
// command as it is: line numbers, comments, heredocs and syntax errors stay those of a plain `bash -c`. It is
// privileged (-p), so that BASH_ENV runs once, in the inner one.
const MERGED = 'exec "$0" -c "$1" 2>&1';

/**
 * Starts `bash -c` with nothing on stdin, as the leader of a session without a terminal.
 * @throws NodeJS.ErrnoException as spawn reports it: ENOENT (bash or the work directory), E2BIG, EAGAIN, …
 */
export const startCommand = async (options: CommandOptions): Promise<StartedCommand> => {
  const { shell, command, workDir: cwd, env } = options;
  const pipe = await options.pipes.open();
  // `detached` calls setsid: no /dev/tty to ask for a password at, and one group to end.
  const common = { cwd, env, detached: true, windowsHide: true } as const;
  if (pipe === null) {
    const child = spawn(shell, ["-p", "-c", MERGED, shell, command], {
      ...common,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return { pid: await started(child), child, output: child.stdout };
  }
  try {
    const stdio = ["ignore" as const, pipe.writeEnd, pipe.writeEnd];
    const child = spawn(shell, ["-c", command], { ...common, stdio });
    return { pid: await started(child), child, output: pipe.reader };
  } catch (error) {
    pipe.reader.resume();
    throw error;
  } finally {
    closeSync(pipe.writeEnd);
  }
};

const started = (child: ChildProcess): Promise<number> => {
  // Without a pid an error event follows.
  if (child.pid !== undefined) return Promise.resolve(child.pid);
  return new Promise((_, reject) => child.once("error", reject));
};
