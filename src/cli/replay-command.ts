import { type HeadlessOptions, printStartFailure } from "../headless/run-headless.ts";
import { createPlayer, type Pace } from "../session/replay-player.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { stderrPaint } from "./paint.ts";
import type { ReplayRequest, RunOptions } from "./program.ts";
import { printReplay } from "./replay-headless.ts";
import { openReplay } from "./replay-source.ts";
import { say } from "./say.ts";
import { prepare, type Setup, type Surroundings } from "./setup.ts";
import { watchSignals } from "./signals.ts";

/** `harness9 replay`: nothing runs, no model is asked and no file changes. Returns the exit code. @throws UserError */
export const runReplay = async (
  request: ReplayRequest,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<number> => {
  const setup = await prepare(surroundings, options);
  const pace = request.speed === undefined ? undefined : paceOf(request.speed, setup.strings.replay);
  const { stdin, stdout } = process;
  if (request.format === undefined && stdin.isTTY && stdout.isTTY) {
    const { showReplay } = await import("./replay-chat.ts");
    return showReplay(setup, { file: request.file, pace: pace ?? 1 });
  }
  return print(setup, request, options, pace ?? "max");
};

const print = async (setup: Setup, request: ReplayRequest, options: RunOptions, pace: Pace): Promise<number> => {
  const { stdout, stderr } = process;
  const { strings } = setup;
  const stop = watchSignals();
  const isWatched = options.verbose === true || stderr.isTTY;
  const headless: HeadlessOptions = {
    format: request.format ?? "text",
    stdout,
    stderr,
    ...(isWatched && { progress: await stderrPaint(setup.env) }),
    strings: strings.headless,
    version: "",
    tools: [],
  };
  stdout.on("error", stop.close);
  try {
    const source = await openReplay(setup, request.file, stop.signal);
    const { harness9: version, tools } = source.head;
    const player = createPlayer(source.events, { pace, now: Date.now });
    stop.signal.addEventListener("abort", player.stop, { once: true });
    const code = await printReplay(player.events, { ...headless, version, tools });
    const problem = source.problem();
    if (problem !== undefined) say(problem);
    return stop.exitCode ?? code;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, hint, exitCode } = error;
    const failure = { kind: "input", message, ...(hint !== undefined && { hint }) } as const;
    printStartFailure(failure, { ...headless, time: new Date() });
    return exitCode;
  } finally {
    stop.dispose();
  }
};

const MIN_SPEED = 0.01;
const MAX_SPEED = 1000;

const paceOf = (text: string, strings: Strings["replay"]): Pace => {
  if (text === "max") return "max";
  const speed = /^\d{1,4}(?:\.\d{1,4})?x?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (!(speed >= MIN_SPEED && speed <= MAX_SPEED))
    throw new UserError(strings.badSpeed(text), { exitCode: EXIT.usage });
  return speed;
};
