import { homedir, userInfo } from "node:os";
import { CommanderError } from "commander";
import { nearest } from "../text/nearest.ts";
import { UserError } from "../text/user-error.ts";
import { type Actions, createProgram } from "./program.ts";
import { say } from "./say.ts";
import { earlyStrings } from "./setup.ts";

declare const HARNESS9_VERSION: string;

const FAILED = 1;
const USAGE = 2;

/** The whole program. Ends the process: an open keep-alive socket must not hold it. */
export const main = async (): Promise<never> => {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on("error", (error) => {
    failure ??= error;
  });
  process.stderr.on("error", () => undefined);
  const code = await runProgram();
  await drained(process.stdout);
  // A reader that has gone, as `| head`, has what it wanted. Anything else has lost the output.
  const isLost = failure !== undefined && failure.code !== "EPIPE";
  if (isLost) say(`stdout: ${failure?.message}`);
  await drained(process.stderr);
  process.exit(isLost ? FAILED : code);
};

const runProgram = async (): Promise<number> => {
  const { env } = process;
  const strings = earlyStrings(env);
  // With an empty HOME the first is empty, and the work directory would be taken for the home.
  const surroundings = { env, cwd: currentDir(env), homeDir: homedir() || userInfo().homedir };
  let code = 0;
  const actions: Actions = {
    run: async (prompt, options) => {
      const { run } = await import("./run-command.ts");
      code = await run({ prompt, options, surroundings, version: HARNESS9_VERSION, strings });
    },
    chat: async (prompt) => {
      const [word = ""] = prompt;
      const [near] = prompt.length === 1 && !word.includes(" ") ? nearest(word, commandNames) : [];
      if (near !== undefined) throw new UserError(strings.cli.didYouMean(word, near), { exitCode: USAGE });
      const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
      throw new UserError(isTerminal ? strings.cli.chatNotYet : strings.cli.chatNeedsTerminal, { exitCode: USAGE });
    },
    config: async (request, options) => {
      const { runConfig } = await import("./config-command.ts");
      await runConfig(request, options, surroundings);
    },
    tools: async (options) => {
      const { printTools } = await import("./tools-command.ts");
      await printTools(options, surroundings);
    },
    logs: async (options) => {
      const { runLogs } = await import("./logs-command.ts");
      code = await runLogs(options, surroundings);
    },
    doctor: async (options) => {
      const { runDoctor } = await import("./doctor-command.ts");
      code = await runDoctor(options, surroundings, HARNESS9_VERSION);
    },
    completion: async (shell, self) => {
      const { completionScript } = await import("./completion-command.ts");
      process.stdout.write(completionScript(shell, self, strings.cli));
    },
  };
  const program = createProgram(HARNESS9_VERSION, strings.cli, actions);
  const commandNames = program.commands.map((command) => command.name());
  try {
    await program.parseAsync();
    return code;
  } catch (error) {
    // Commander has said what is wrong; its own code for every usage error is 1.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (error instanceof UserError) {
      say(error.hint === undefined ? error.message : `${error.message}\n${error.hint}`);
      return error.exitCode;
    }
    // The system's own words, as a folder that cannot be written. All else is a bug.
    if (!(error instanceof Error && "syscall" in error)) throw error;
    say(error.message);
    return FAILED;
  }
};

const currentDir = (env: NodeJS.ProcessEnv): string => {
  try {
    return process.cwd();
  } catch {
    // It has been deleted; what needs it will say so by its name.
    return env["PWD"] ?? "";
  }
};

/** Resolves when everything written so far is out, or can no longer be. */
const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    // The error event of a failed write comes after its callback.
    const settle = (): void => void setImmediate(resolve);
    if (stream.destroyed || !stream.writable) settle();
    else stream.write("", settle);
  });
