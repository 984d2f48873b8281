import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import * as z from "zod";
import type { Strings } from "../../text/strings.ts";
import { byteLength } from "../../text/utf8.ts";
import { defineTool } from "../define-tool.ts";
import { findProgram } from "../sandbox/find-program.ts";
import { type Sandbox, SandboxFailure } from "../sandbox/sandbox.ts";
import { commandEnv, type Env } from "../shell/child-env.ts";
import { createCommandOutput } from "../shell/command-output.ts";
import { commandResult } from "../shell/command-result.ts";
import { withNullDevice } from "../shell/null-device.ts";
import { createOutputPipes } from "../shell/output-pipe.ts";
import { createProcessTree, endProcesses } from "../shell/process-tree.ts";
import { createProgress } from "../shell/progress.ts";
import { runCommand } from "../shell/run-command.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";

export type BashOptions = {
  readonly workDir: string;
  /** The child's environment, already without secrets (childEnv). */
  readonly env: Env;
  /** Where whole outputs go that are too long to show; made when needed. */
  readonly outputsDir: string;
  readonly strings: Pick<Strings, "bash" | "registry" | "sandbox">;
  /** Absent where commands are not confined. */
  readonly sandbox?: Sandbox | undefined;
  /** Name or path; default bash. */
  readonly shell?: string;
  readonly platform?: NodeJS.Platform;
  /** Of output in a result; default 8000. */
  readonly maxOutputBytes?: number;
  /** Of a command that sets no limit of its own; default 30 s. */
  readonly timeoutMs?: number;
  /** The most that a command may set; default 600 s. */
  readonly maxTimeoutMs?: number;
};

export type Bash = {
  readonly tool: Tool<BashArguments>;
  /** The same tool without the sandbox: for what a person runs, or lets run. Where there is none, `tool` itself. */
  readonly unconfined: Tool<BashArguments>;
  /** Optional: gets ready for the first command, say while the first answer of the model is awaited. */
  prepare(): void;
  /** Ends every command and background process that still lives (SIGTERM, 1 s, SIGKILL). Returns how many there were. */
  close(): Promise<number>;
  /** For the last moment of the process: SIGKILL, without waiting. */
  killAll(): void;
};

export type BashArguments = {
  readonly command: string;
  readonly timeout_ms?: number | undefined;
  readonly description?: string | undefined;
};

// Holds an id of the command, by which what it leaves running is found again.
const MARK = "HARNESS9_COMMAND";
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_PROGRESS_BYTES = 2048;
// The engine's clock must not come before ours, which keeps the output.
const ENGINE_MARGIN_MS = 5000;

/** The tool that runs commands, and the end of what they leave running. */
export const createBash = (options: BashOptions): Bash => {
  const { workDir, outputsDir, strings, shell = "bash", platform = process.platform } = options;
  const { maxOutputBytes = 8000, timeoutMs = 30_000, maxTimeoutMs = 600_000 } = options;
  const env = commandEnv(options.env);
  const pipes = createOutputPipes(env, platform);
  const tree = createProcessTree(platform);
  const running = new Set<number>();
  const exited = new Set<number>();
  const sessionMark = randomUUID();
  let commands = 0;
  let mayHaveLeft = false;

  const execute = async (
    args: BashArguments,
    context: ToolContext,
    sandbox: Sandbox | undefined,
  ): Promise<ToolOutput> => {
    const { command } = args;
    if (command.trim() === "") return { output: strings.bash.emptyCommand, isError: true };
    if (command.includes("\0")) return { output: strings.bash.nulCharacter, isError: true };
    if (context.signal.aborted) return { output: strings.bash.cancelled(""), isError: true };

    commands += 1;
    let isSealed = false;
    // What a confined one leaves running is in the session of the sandbox's own process: nobody gets out of it.
    const mark = `${sessionMark}${sandbox === undefined ? "" : "c"}.${commands}.`;
    const limitMs = args.timeout_ms ?? timeoutMs;
    let pid: number | undefined;
    const output = createCommandOutput({
      maxBytes: maxOutputBytes,
      file: { dir: outputsDir, toolCallId: context.call.id, maxBytes: MAX_FILE_BYTES },
    });
    const progress = createProgress(() =>
      context.emit({ type: "tool.progress", toolCallId: context.call.id, text: output.newest(MAX_PROGRESS_BYTES) }),
    );
    try {
      const end = await runCommand({
        shell,
        command: withNullDevice(command, platform),
        workDir,
        env: { ...env, [MARK]: mark },
        pipes,
        sandbox,
        tree,
        mark: `${MARK}=${mark}`,
        limitMs,
        signal: context.signal,
        onStart: (started) => {
          pid = started;
          running.add(started);
        },
        onOutput: (bytes) => {
          output.write(bytes);
          progress.changed();
        },
        onClose: output.end,
      });
      isSealed = end.isSealed;
      // Where only the group's id is known and that comes again, no more of them than needed.
      if (!isSealed && (end.background !== "none" || platform === "linux")) exited.add(end.pid);
      return commandResult(
        { command, limitMs, end, output: output.result(end.background === "printing") },
        strings.bash,
      );
    } catch (error) {
      if (error instanceof SandboxFailure) sandbox?.failed();
      const failure =
        error instanceof SandboxFailure
          ? sandboxFailure(error, { shell, path: env["PATH"] ?? "", name: sandbox?.name ?? "", strings })
          : startFailure(error, { command, shell, workDir, strings: strings.bash });
      if (failure === undefined) throw error;
      return { output: failure, isError: true };
    } finally {
      if (pid !== undefined) running.delete(pid);
      mayHaveLeft ||= !isSealed;
      progress.finish();
    }
  };

  const leftOver = (): readonly number[] => {
    // Looking for the mark reads every process's environment.
    if (running.size === 0 && !mayHaveLeft) return [];
    return [...new Set([...running, ...tree.abandoned(exited), ...tree.marked(`${MARK}=${sessionMark}.`)])];
  };

  const toolIn = (sandbox: Sandbox | undefined): Tool<BashArguments> =>
    defineTool(
      {
        name: "bash",
        description: description(timeoutMs, maxTimeoutMs, maxOutputBytes),
        schema: bashSchema(maxTimeoutMs),
        display: "bash {command}",
        kind: "execute",
        permission: "high",
        // The description is about the command as the model wrote it.
        proposal: async ({ command, description: _, ...others }) => ({
          name: "command.sh",
          text: command,
          before: null,
          with: (text) => (text.trim() === "" ? undefined : { command: text, ...others }),
        }),
        timeoutMs: (args) => (args.timeout_ms ?? timeoutMs) + ENGINE_MARGIN_MS,
        execute: (args, context) => execute(args, context, sandbox),
      },
      strings.registry,
    );
  const unconfined = toolIn(undefined);

  return {
    tool: options.sandbox === undefined ? unconfined : toolIn(options.sandbox),
    unconfined,
    prepare: pipes.prepare,
    close: async () => {
      const leaders = leftOver();
      if (leaders.length > 0) await endProcesses(leaders, tree);
      pipes.close();
      options.sandbox?.close();
      return leaders.length;
    },
    killAll: () => {
      tree.signal(tree.groups(new Set(leftOver())), "SIGKILL");
      options.sandbox?.close();
    },
  };
};

const bashSchema = (maxTimeoutMs: number) =>
  z.object({
    command: z.string().describe("The bash command to run"),
    timeout_ms: z.int().min(1).max(maxTimeoutMs).optional().describe("Time limit in milliseconds"),
    description: z.string().optional().describe("What the command does, in a few words, for the person who watches"),
  });

const description = (timeoutMs: number, maxTimeoutMs: number, maxOutputBytes: number): string =>
  [
    "Run a command with `bash -c` in the work directory and return its output (stdout and stderr together) and exit status.",
    "Each call is a new shell: `cd` and variables do not carry over. There is no standard input and no terminal.",
    `Default time limit ${timeoutMs / 1000} s; set timeout_ms for more (at most ${maxTimeoutMs}).`,
    `Output over ${maxOutputBytes} bytes is cut in the middle and kept in a file that read_file can read.`,
    "Processes started with `&` live on until the session ends.",
  ].join(" ");

/** Why a command could not be started, for the model; undefined for an error that is not the system's. */
const startFailure = (
  error: unknown,
  context: { command: string; shell: string; workDir: string; strings: Strings["bash"] },
): string | undefined => {
  const { command, shell, workDir, strings } = context;
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return undefined;
  if (!isDirectory(workDir)) return strings.workDirMissing(workDir);
  if (error.code === "ENOENT") return strings.shellMissing(shell);
  if (error.code === "E2BIG") return strings.tooLong(byteLength(command));
  return strings.notStarted(shell, error.message);
};

/** The command has not run. A shell that is missing has that effect too, and is told as anywhere. */
const sandboxFailure = (
  { message }: SandboxFailure,
  context: { shell: string; path: string; name: string; strings: Pick<Strings, "bash" | "sandbox"> },
): string => {
  const { shell, path, name, strings } = context;
  const isMissing = shell.includes("/") ? !existsSync(shell) : findProgram(shell, path) === undefined;
  return isMissing ? strings.bash.shellMissing(shell) : strings.sandbox.notStarted(name, message);
};

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
