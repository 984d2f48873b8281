import { homedir, userInfo } from "node:os";
import { CommanderError } from "commander";
import { OUTPUT_FORMATS, type OutputFormat } from "../headless/output-format.ts";
import { EXIT } from "../text/exit.ts";
import { earlyLanguage, loadStrings, type Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { createProgram } from "./program.ts";
import { say } from "./say.ts";

declare const HARNESS9_VERSION: string;

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
  process.exit(isLost ? EXIT.failed : code);
};

const runProgram = async (): Promise<number> => {
  const { env } = process;
  const strings = await loadStrings(earlyLanguage(env));
  // With an empty HOME the first is empty, and the work directory would be taken for the home.
  const surroundings = { env, cwd: currentDir(env), homeDir: homedir() || userInfo().homedir };
  let code = 0;
  const start = { surroundings, version: HARNESS9_VERSION, strings };
  const program = createProgram(HARNESS9_VERSION, strings.cli, {
    perform: async (action) => {
      const { createActions } = await import("./actions.ts");
      code = await action(createActions(start));
    },
    openChat: async (prompt, options, commandNames) => {
      const { chat } = await import("./chat-command.ts");
      code = await chat({ ...start, prompt, options, commandNames });
    },
  });
  try {
    await program.parseAsync();
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageFailure(error, strings);
    if (error instanceof UserError) {
      say(error.hint === undefined ? error.message : `${error.message}\n${error.hint}`);
      return error.exitCode;
    }
    // The system's own words, as a folder that cannot be written. All else is a bug.
    if (!(error instanceof Error && "syscall" in error)) throw error;
    say(error.message);
    return EXIT.failed;
  }
};

/** Commander has said what is wrong; its own exit code for it is 1. A program that reads our JSON is told as well. */
const usageFailure = async ({ message }: CommanderError, strings: Strings): Promise<number> => {
  const format = asksForJson(process.argv.slice(2));
  if (format === undefined) return EXIT.usage;
  const { printStartFailure } = await import("../headless/run-headless.ts");
  const { stdout, stderr } = process;
  const output = { format, stdout, stderr, strings: strings.headless, version: HARNESS9_VERSION, tools: [] };
  printStartFailure({ kind: "input", message }, { ...output, time: new Date() });
  return EXIT.usage;
};

/** The JSON format that a command line names, though it cannot be understood as a whole. */
const asksForJson = (args: readonly string[]): OutputFormat | undefined => {
  const name = args.join(" ").match(/--output-format[= ](\S+)/)?.[1];
  return OUTPUT_FORMATS.find((format) => format === name && format !== "text");
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
