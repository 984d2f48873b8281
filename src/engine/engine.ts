import { ProviderError } from "../providers/provider.ts";
import type { Emit, EngineEventBody } from "../schema/event.ts";
import { contextTokens, NO_USAGE } from "../schema/model.ts";
import { Channel } from "./channel.ts";
import type { PrepareContext } from "./context-view.ts";
import { estimateTokens, estimateUsage } from "./estimate-usage.ts";
import type { EngineOptions, RunInput } from "./options.ts";
import { sideTurn } from "./prepared-turn.ts";
import { Run } from "./run.ts";
import { createSpending, type Spending } from "./spending.ts";

/** Turns until the model answers without tool calls. */
export class Engine {
  readonly #options: EngineOptions;

  /** By requests beside the runs, since the last run. */
  #beside: Spending | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** What the next request goes by: the model's figures, and the tools that it offers. */
  get next(): Pick<PrepareContext, "info" | "tools"> {
    return { info: this.#options.info, tools: this.#options.tools.getAvailableTools() };
  }

  /** For requests between runs. Their usage counts, and none goes out where the budget is used up. */
  beside(signal: AbortSignal, emit: Emit): PrepareContext {
    const { provider, info, budget, strings } = this.#options;
    this.#beside ??= createSpending(info);
    const spending = this.#beside;
    return {
      ...this.next,
      signal,
      emit,
      complete: async (request) => {
        const used = await this.#usedUp(signal);
        if (used !== undefined) {
          emit({ type: "notice", level: "warning", text: used });
          return { type: "failed", error: new ProviderError(used, { kind: "cancelled" }), text: "" };
        }
        const turn = await sideTurn(provider, request, { signal, emit });
        if (turn.type === "failed") return turn;
        const usage = turn.response.usage ?? NO_USAGE;
        spending.add(usage);
        if (turn.response.usage) budget?.add(usage, info.prices, "server");
        else {
          const estimated = estimateUsage(estimateTokens(request.messages, ""), turn.response.message.content);
          budget?.add(estimated, info.prices, "estimate");
        }
        emit({
          type: "usage.updated",
          usage,
          total: spending.total(),
          costUsd: spending.costUsd(),
          contextTokens: contextTokens(usage),
          contextWindow: info.contextWindow,
        });
        for (const text of budget?.warnings(strings) ?? []) emit({ type: "notice", level: "warning", text });
        return turn;
      },
    };
  }

  /** Why nothing more may be spent, after a person could extend the budget. */
  async #usedUp(signal: AbortSignal): Promise<string | undefined> {
    const { budget, ask, strings } = this.#options;
    if (ask && !signal.aborted) await budget?.extend(ask, signal, strings);
    return budget?.exhausted(strings);
  }

  /**
   * Runs one input to its end. Events come in order and exactly one `run.completed` is the last, cancelled runs included.
   * `publish` sees each event at the moment it happens, before the step that depends on it; what it returns is iterated.
   */
  runStream<T>(run: RunInput, signal: AbortSignal, publish: (event: EngineEventBody) => T): AsyncIterable<T> {
    this.#beside = undefined;
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
