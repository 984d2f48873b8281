import type { EngineEvent } from "../schema/event.ts";
import { drawable } from "../session/recording-read.ts";
import { createPlayer, type Pace } from "../session/replay-player.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { suspend } from "./chat-command.ts";
import { openReplay } from "./replay-source.ts";
import { say } from "./say.ts";
import type { Setup } from "./setup.ts";
import { watchSignals } from "./signals.ts";

/** Shows a replay in the terminal. Returns the exit code: 0, or 42 where the recording breaks off. @throws UserError */
export const showReplay = async (
  setup: Setup,
  { file, pace }: { readonly file: string; readonly pace: Pace },
): Promise<number> => {
  const { env, strings, config } = setup;
  const { settings } = config;
  const stop = watchSignals();
  const source = await openReplay(setup, file, stop.signal);
  const isLinear = settings.screenReader || env["TERM"] === "dumb";
  const { startReplay } = isLinear
    ? await import("../ui/linear/start-linear-replay.ts")
    : await import("../ui/start-replay.ts");
  const { stdin, stdout } = process;
  const replay = startReplay({
    input: stdin,
    output: stdout,
    env,
    settings,
    strings,
    title: { name: source.name, ...source.head },
    player: createPlayer(drawn(source.events), { pace, now: Date.now }),
    problem: source.problem,
    signal: stop.signal,
    onInterrupt: stop.onInterrupt,
    suspend,
  });
  const onCrash = (error: unknown): void => {
    replay.release();
    say(strings.cli.bug(errorMessage(error), null));
    process.exit(EXIT.failed);
  };
  process.on("uncaughtException", onCrash);
  process.on("unhandledRejection", onCrash);
  process.on("exit", replay.release);
  stop.onForce(replay.release);
  try {
    const how = await replay.ended;
    return stop.exitCode ?? (how === "played" && source.breaksOff() ? EXIT.input : EXIT.completed);
  } finally {
    replay.release();
    process.off("exit", replay.release);
  }
};

async function* drawn(events: AsyncIterable<EngineEvent>): AsyncGenerator<EngineEvent> {
  for await (const event of events) yield drawable(event);
}
