import type { Emit, EngineEventBody } from "../schema/event.ts";
import { Channel } from "./channel.ts";
import type { EngineOptions, RunInput } from "./options.ts";
import { Run } from "./run.ts";

/** Turns until the model answers without tool calls. */
export class Engine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * Runs one input to its end. Events come in order and exactly one `run.completed` is the last, cancelled runs included.
   * `publish` sees each event at the moment it happens, before the step that depends on it; what it returns is iterated.
   */
  runStream<T>(run: RunInput, signal: AbortSignal, publish: (event: EngineEventBody) => T): AsyncIterable<T> {
    const channel = new Channel<T>();
    // The promise is not awaited: its end, bugs included, is the channel's end.
    void new Run(this.#options, run, (event) => channel.push(publish(event))).start(signal).then(
      () => channel.close(),
      (error: unknown) => channel.close({ error }),
    );
    return channel;
  }

  /** Runs one input to its end and returns how it ended. */
  async run(
    run: RunInput,
    signal: AbortSignal,
    publish: Emit = () => undefined,
  ): Promise<EngineEventBody<"run.completed">> {
    let end: EngineEventBody<"run.completed"> | undefined;
    for await (const event of this.runStream(run, signal, (event) => {
      publish(event);
      return event;
    }))
      if (event.type === "run.completed") end = event;
    if (!end) throw new Error("the run ended without run.completed");
    return end;
  }
}
