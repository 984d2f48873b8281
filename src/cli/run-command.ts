import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { EXIT, exitCode } from "../headless/exit-code.ts";
import { type HeadlessOptions, printStartFailure, runHeadless } from "../headless/run-headless.ts";
import type { ErrorKind } from "../schema/event.ts";
import type { Input } from "../session/session.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { type AnswerSchema, loadAnswerSchema } from "./answer-schema.ts";
import { compose, type Machine } from "./compose.ts";
import type { RunOptions } from "./program.ts";
import { readStdin } from "./read-stdin.ts";
import { prepare, readOptionFile, type Surroundings, systemMessage } from "./setup.ts";
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
  const headless: HeadlessOptions = {
    format: request.options.outputFormat,
    stdout,
    stderr,
    progress: request.options.verbose === true || stderr.isTTY,
    strings: request.strings.headless,
    version: request.version,
    tools: [],
  };
  // `| head` has seen enough: no message, and nothing goes on in the background.
  stdout.on("error", () => stop.abort("closed"));
  stderr.on("error", () => undefined);

  let machine: Machine | undefined;
  try {
    const started = await start(request, stop);
    machine = started.machine;
    const code = await finish(started, headless, stop, request);
    return code;
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

const start = async ({ prompt, options, surroundings }: RunRequest, stop: Stop): Promise<Started> => {
  const setup = await prepare(surroundings, options);
  const { strings, cwd } = setup;
  const mode = setup.config.settings.permissionMode;
  if (mode !== null && mode !== "auto" && mode !== "yolo")
    throw new UserError(strings.cli.modeNotYet(mode), { exitCode: EXIT.config });
  if (options.output !== undefined) checkOutput(resolve(cwd, options.output), strings.cli);
  const answer =
    options.jsonSchema === undefined ? undefined : await answerSchema(resolve(cwd, options.jsonSchema), strings);
  const replace = promptText(options, "systemPrompt", cwd, strings.cli);
  const append = promptText(options, "appendSystemPrompt", cwd, strings.cli);

  const words = prompt.join(" ");
  const notice = (text: string): void => void process.stderr.write(`harness9: ${text}\n`);
  const piped = await readStdin({
    stdin: process.stdin,
    hasPrompt: words.trim() !== "",
    notice,
    signal: stop.signal,
    strings: strings.cli,
  });
  const input = joinPrompt(words, piped);
  if (input === undefined) throw new UserError(strings.cli.emptyPrompt, { exitCode: EXIT.input });

  const machine = await compose(setup, {
    run: options,
    chat: false,
    ...(replace !== undefined && { systemPrompt: replace }),
    ...(append !== undefined && { appendSystemPrompt: append }),
    ...(answer && { answer }),
  });
  stop.onForce(machine.kill);
  return { machine, input, answer, strings };
};

const finish = async (
  { machine, input, answer, strings }: Started,
  headless: HeadlessOptions,
  stop: Stop,
  { options, surroundings }: RunRequest,
): Promise<number> => {
  for (const warning of [...machine.warnings, ...(headless.progress ? machine.notes : [])])
    process.stderr.write(`harness9: ${warning}\n`);
  if (machine.choice.kind === "offline") process.stderr.write(`harness9: ${strings.offline.label}\n`);
  const end = await runHeadless(machine.session, input, stop.signal, {
    ...headless,
    strings: strings.headless,
    tools: machine.registry.getAvailableTools().map(({ name }) => name),
    ...(answer && { structuredOutput: answer.parse }),
  });
  const ended = await machine.close();
  if (ended > 0) process.stderr.write(`harness9: ${strings.cli.backgroundEnded(ended)}\n`);
  if (options.output !== undefined && (end.reason === "completed" || end.reason === "blocked"))
    writeOutput(resolve(surroundings.cwd, options.output), end.text, strings.cli);
  if (stop.cause === "closed") return EXIT.completed;
  return stop.exitCode ?? exitCode(end);
};

/** Prints the one final result of a run that could not start, or that has a bug. */
const fail = async (
  error: unknown,
  machine: Machine | undefined,
  headless: HeadlessOptions,
  strings: Strings,
): Promise<number> => {
  if (!machine && error instanceof UserError) {
    const { message, hint, exitCode: code } = error;
    const failure = { kind: ERROR_KINDS[code] ?? "internal", message, ...(hint !== undefined && { hint }) };
    printStartFailure(failure, { ...headless, time: new Date() });
    return code;
  }
  if (error instanceof UserError) {
    process.stderr.write(`harness9: ${error.message}\n`);
    return error.exitCode;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  machine?.log?.writeText(stack);
  const message = error instanceof Error ? error.message : String(error);
  if (machine) process.stderr.write(`harness9: ${strings.cli.bug(message, machine.log?.path ?? null)}\n`);
  else
    printStartFailure({ kind: "internal", message: strings.cli.bug(message, null) }, { ...headless, time: new Date() });
  await machine?.close();
  return EXIT.failed;
};

const ERROR_KINDS: Readonly<Record<number, ErrorKind>> = {
  [EXIT.usage]: "input",
  [EXIT.auth]: "auth",
  [EXIT.input]: "input",
  [EXIT.config]: "config",
};

const joinPrompt = (words: string, piped: string | undefined): Input | undefined => {
  const hasWords = words.trim() !== "";
  if (piped === undefined || piped.trim() === "") return hasWords ? { content: words, source: "person" } : undefined;
  return hasWords
    ? { content: `${words}\n\n<stdin>\n${piped.replace(/\n$/, "")}\n</stdin>`, source: "person" }
    : { content: piped, source: "stdin" };
};

const promptText = (
  options: RunOptions,
  name: "systemPrompt" | "appendSystemPrompt",
  cwd: string,
  strings: Strings["cli"],
): string | undefined => {
  const flag = name === "systemPrompt" ? "--system-prompt" : "--append-system-prompt";
  const text = options[name];
  const file = options[`${name}File`];
  if (file === undefined) return text;
  if (text !== undefined) throw new UserError(strings.bothPrompts(flag, `${flag}-file`), { exitCode: EXIT.usage });
  return readOptionFile(`${flag}-file`, resolve(cwd, file), strings);
};

const answerSchema = async (path: string, strings: Strings): Promise<AnswerSchema> => {
  try {
    return await loadAnswerSchema(path, strings.headless);
  } catch (error) {
    const message = strings.cli.fileUnreadable("--json-schema", path, systemMessage(error));
    throw new UserError(message, { exitCode: EXIT.input, cause: error });
  }
};

const checkOutput = (path: string, strings: Strings["cli"]): void => {
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  } catch (error) {
    throw new UserError(strings.outputUnwritable(path, systemMessage(error)), { exitCode: EXIT.input, cause: error });
  }
};

const writeOutput = (path: string, text: string, strings: Strings["cli"]): void => {
  try {
    writeFileSync(path, text.endsWith("\n") || text === "" ? text : `${text}\n`);
  } catch (error) {
    throw new UserError(strings.outputUnwritable(path, systemMessage(error)), { exitCode: EXIT.failed, cause: error });
  }
};
