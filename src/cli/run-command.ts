import { resolve } from "node:path";
import { exitCode } from "../headless/exit-code.ts";
import { answerText, type HeadlessOptions, printStartFailure, runHeadless } from "../headless/run-headless.ts";
import type { ErrorKind } from "../schema/event.ts";
import type { Input } from "../session/session.ts";
import { errorMessage, errorStack } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { type AnswerSchema, loadAnswerSchema } from "./answer-schema.ts";
import { compose, type Machine } from "./compose.ts";
import { checkOutput, writeOutput } from "./named-files.ts";
import { stderrPaint } from "./paint.ts";
import type { RunOptions } from "./program.ts";
import { promptText, readPrompt } from "./prompt.ts";
import { resumeRequest } from "./resume-request.ts";
import { say } from "./say.ts";
import { prepare, type Surroundings } from "./setup.ts";
import { type Stop, watchSignals } from "./signals.ts";

export type RunRequest = {
  readonly prompt: readonly string[];
  readonly options: RunOptions;
  readonly surroundings: Surroundings;
  readonly version: string;
  /** The strings until the settings are read. */
  readonly strings: Strings;
};

/** `harness9 run`: one task, one final result. Returns the process's exit code. */
export const run = async (request: RunRequest): Promise<number> => {
  const { stdout, stderr } = process;
  const stop = watchSignals();
  const isWatched = request.options.verbose === true || stderr.isTTY;
  const headless: HeadlessOptions = {
    format: request.options.outputFormat,
    stdout,
    stderr,
    ...(isWatched && { progress: await stderrPaint(request.surroundings.env) }),
    strings: request.strings.headless,
    version: request.version,
    tools: [],
  };
  // `| head` has seen enough: no message, and nothing goes on in the background.
  stdout.on("error", stop.close);

  let machine: Machine | undefined;
  try {
    const started = await unlessStopped(start(request), stop, request.strings);
    machine = started.machine;
    stop.onForce(machine.kill);
    return await finish(started, headless, stop, request);
  } catch (error) {
    return fail(error, machine, headless, request.strings);
  } finally {
    stop.dispose();
  }
};

type Started = {
  readonly machine: Machine;
  readonly input: Input;
  readonly answer: AnswerSchema | undefined;
  readonly strings: Strings;
};

/** Until the run begins there is nothing to end: the process goes, whatever it waits for. */
const unlessStopped = <T>(work: Promise<T>, stop: Stop, strings: Strings): Promise<T> => {
  const stopped = new Promise<never>((_resolve, reject) => {
    const cancel = (): void =>
      reject(new UserError(strings.engine.cancelled, { exitCode: stop.exitCode ?? EXIT.interrupted }));
    if (stop.signal.aborted) cancel();
    stop.signal.addEventListener("abort", cancel, { once: true });
  });
  return Promise.race([work, stopped]);
};

const start = async ({ prompt, options, surroundings, version }: RunRequest): Promise<Started> => {
  const setup = await prepare(surroundings, options);
  const { strings, cwd } = setup;
  // Before anything that may fail: they may be the reason.
  for (const warning of setup.warnings) say(warning);
  if (options.output !== undefined) checkOutput(resolve(cwd, options.output), strings);
  const answer =
    options.jsonSchema === undefined ? undefined : await loadAnswerSchema(resolve(cwd, options.jsonSchema), strings);
  const systemPrompt = promptText(options, "systemPrompt", cwd, strings.cli);
  const appendSystemPrompt = promptText(options, "appendSystemPrompt", cwd, strings.cli);
  // It needs a person who chooses.
  if (options.resume) throw new UserError(strings.sessions.resumeNeedsTerminal, { exitCode: EXIT.usage });
  const resume = resumeRequest(options, strings.sessions);
  const input = await readPrompt(prompt.join(" "), strings.cli);
  // Loaded for itself: a new session reads no journal.
  const past = resume && (await (await import("./resume.ts")).openPast(setup, resume));
  try {
    const prompts = { systemPrompt, appendSystemPrompt, answer };
    const machine = await compose(setup, { run: options, chat: false, version, ...prompts, past });
    return { machine, input, answer, strings };
  } catch (error) {
    past?.release?.();
    throw error;
  }
};

const finish = async (
  { machine, input, answer, strings }: Started,
  headless: HeadlessOptions,
  stop: Stop,
  { options, surroundings }: RunRequest,
): Promise<number> => {
  for (const warning of [...machine.warnings, ...(headless.progress ? machine.notes : [])]) say(warning);
  if (machine.choice.kind === "offline") say(strings.offline.label);
  const run = {
    ...headless,
    strings: strings.headless,
    tools: machine.registry.getAvailableTools().map(({ name }) => name),
    ...(answer && { structuredOutput: answer.parse }),
  };
  const end = await runHeadless(machine.session, input, stop.signal, run);
  const ended = await machine.close();
  if (ended > 0) say(strings.cli.backgroundEnded(ended));
  const text = answerText(end, run);
  if (options.output !== undefined && text !== undefined)
    await writeOutput(resolve(surroundings.cwd, options.output), text, strings);
  return stop.exitCode ?? exitCode(end);
};

/** Prints the one final result of a run that could not start, or that has a bug. */
const fail = async (
  error: unknown,
  machine: Machine | undefined,
  headless: HeadlessOptions,
  strings: Strings,
): Promise<number> => {
  const output = { ...headless, time: new Date() };
  if (error instanceof UserError) {
    const { message, hint, exitCode: code } = error;
    if (machine) say(message);
    else
      printStartFailure(
        { kind: ERROR_KINDS[code] ?? "internal", message, ...(hint !== undefined && { hint }) },
        output,
      );
    return code;
  }
  const stack = errorStack(error);
  machine?.log?.writeText(stack);
  const message = errorMessage(error);
  if (machine) say(strings.cli.bug(message, machine.log?.path ?? null));
  else printStartFailure({ kind: "internal", message: strings.cli.bug(message, null) }, output);
  await machine?.close();
  return EXIT.failed;
};

const ERROR_KINDS: Readonly<Record<number, ErrorKind>> = {
  [EXIT.usage]: "input",
  [EXIT.auth]: "auth",
  [EXIT.input]: "input",
  [EXIT.config]: "config",
  129: "cancelled",
  130: "cancelled",
  143: "cancelled",
};
