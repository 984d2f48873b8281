import { once } from "node:events";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { nearest } from "../text/nearest.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { askTrust } from "./ask-trust.ts";
import type { RunOptions } from "./program.ts";
import { resumeRequest } from "./resume-request.ts";
import { say } from "./say.ts";
import { prepare, type Surroundings } from "./setup.ts";
import { watchSignals } from "./signals.ts";

export type ChatRequest = {
  /** The first message, if the command line has one. */
  readonly prompt: readonly string[];
  readonly options: RunOptions;
  /** Of the program's commands: a single word that is nearly one is a slip. */
  readonly commandNames: readonly string[];
  readonly surroundings: Surroundings;
  readonly version: string;
  /** Until the settings are read. */
  readonly strings: Strings;
};

/** Thrown on the way to the machine when the person does not want to go on in this folder. */
class Left extends Error {}

/** `harness9`: the chat. Returns the process's exit code. @throws UserError */
export const chat = async (request: ChatRequest): Promise<number> => {
  const { prompt, options, surroundings, version } = request;
  checkCommand(request);
  const [flag] = flagsOfRun(options);
  if (flag !== undefined) throw new UserError(request.strings.cli.onlyForRun(flag), { exitCode: EXIT.usage });
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw new UserError(
      options.resume ? request.strings.sessions.resumeNeedsTerminal : request.strings.cli.chatNeedsTerminal,
      { exitCode: EXIT.usage },
    );
  const setup = await prepare(surroundings, options);
  // Before anything is drawn: what is wrong with them needs no chat.
  const resume = resumeRequest(options, setup.strings.sessions);
  const { settings } = setup.config;
  const stop = watchSignals();
  const { env } = surroundings;
  const isLinear = settings.screenReader || env["TERM"] === "dumb";
  const { startChat } = isLinear ? await import("../ui/linear/start-linear.ts") : await import("../ui/start-chat.ts");
  const ui = startChat({
    input: stdin,
    output: stdout,
    env,
    settings,
    strings: setup.strings,
    prompt: prompt.join(" "),
    picksSession: options.resume === true,
    openChat: async (ask, tell) => {
      // Nothing of the machine starts before the answer.
      const decided = await askTrust(setup, { ask, tell, signal: stop.signal });
      if (decided === null) throw new Left();
      const { createChat } = await import("./chat-machine.ts");
      return createChat(decided, { run: options, version, tell, resume }, ask);
    },
    stop,
    suspend,
    now: Date.now,
  });
  const onCrash = (error: unknown): void => {
    ui.crash(error);
    say(setup.strings.cli.bug(errorMessage(error), ui.logFile()));
    process.exit(EXIT.failed);
  };
  // Node's own listener prints them onto the terminal, across what stands there.
  process.removeAllListeners("warning");
  process.on("warning", ({ stack, message }) => ui.note(stack ?? message));
  process.on("uncaughtException", onCrash);
  process.on("unhandledRejection", onCrash);
  process.on("exit", ui.release);
  stop.onForce(ui.kill);
  try {
    return (await ui.ended) ?? stop.exitCode ?? 0;
  } catch (error) {
    if (error instanceof Left) return 0;
    throw error;
  } finally {
    ui.release();
    // Signals stay ours to the end: a Ctrl+C too many comes when the terminal is no longer raw.
    process.off("exit", ui.release);
    process.off("uncaughtException", onCrash);
    process.off("unhandledRejection", onCrash);
  }
};

const checkCommand = ({ prompt, commandNames, strings }: ChatRequest): void => {
  const [word = ""] = prompt;
  const [near] = prompt.length === 1 && !word.includes(" ") ? nearest(word, commandNames) : [];
  if (near !== undefined) throw new UserError(strings.cli.didYouMean(word, near), { exitCode: EXIT.usage });
};

/** What the command line asks for that only one task can give. */
const flagsOfRun = ({ outputFormat, jsonSchema, output }: RunOptions): readonly string[] => [
  ...(outputFormat === "text" ? [] : ["--output-format"]),
  ...(jsonSchema === undefined ? [] : ["--json-schema"]),
  ...(output === undefined ? [] : ["--output"]),
];

/** Where nobody can continue us, the kernel does not stop us: then we go on after a moment. */
const NOT_STOPPED_MS = 200;

/** Stops the whole job, as the terminal does at Ctrl+Z: a parent such as npx stops with us. */
export const suspend = async (): Promise<void> => {
  const continued = once(process, "SIGCONT");
  process.kill(0, "SIGTSTP");
  await Promise.race([continued, after(NOT_STOPPED_MS)]);
  // A new size is told to whoever has the terminal, and we had not.
  const sized = once(process, "SIGWINCH");
  process.kill(process.pid, "SIGWINCH");
  // Waiting for a signal alone would not keep the process alive.
  await Promise.race([sized, after(NOT_STOPPED_MS)]);
};

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
