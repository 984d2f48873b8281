import type { Engine } from "../engine/engine.ts";
import type { Input, RunInput } from "../engine/options.ts";
import type { EngineEvent, EngineEventBody } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";

export type { Input };

/** Records an event. Called at the moment it happens, before the step that depends on it; must not throw. */
export type Sink = (event: EngineEvent) => void;

export type SessionOptions = {
  readonly id: string;
  readonly systemPrompt: string;
  readonly engine: Engine;
  readonly sinks: readonly Sink[];
  readonly clock: () => Date;
  readonly stopping?: RunInput["stopping"];
};

/** One conversation: its history, the numbering of its events, and what the person has queued. */
export class Session {
  readonly id: string;
  readonly #options: SessionOptions;
  readonly #history: Message[];
  #queue: Input[] = [];
  #seq = 0;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#history = [{ role: "system", content: options.systemPrompt }];
  }

  /** Runs one input. The events end with exactly one `run.completed`. One run at a time. */
  run(input: Input, signal: AbortSignal): AsyncIterable<EngineEvent> {
    const { engine, stopping } = this.#options;
    const takeQueued = (): readonly Input[] => {
      const taken = this.#queue;
      this.#queue = [];
      return taken;
    };
    const run = { history: this.#history, input, takeQueued, stopping };
    return engine.runStream(run, signal, (body) => this.#publish(body));
  }

  /** Joins the running run after the current tools, or the next one. */
  queue(input: Input): void {
    this.#queue.push(input);
  }

  #publish(body: EngineEventBody): EngineEvent {
    this.#seq += 1;
    const event: EngineEvent = {
      ...body,
      sessionId: this.id,
      seq: this.#seq,
      time: this.#options.clock().toISOString(),
    };
    for (const sink of this.#options.sinks) sink(event);
    return event;
  }
}
