import { ProviderError } from "../providers/provider.ts";
import type { Emit, EngineEventBody, RunEndReason, RunError } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import { contextTokens, NO_USAGE, type Usage } from "../schema/model.ts";
import type { ToolCall, ToolResult } from "../schema/tool.ts";
import { errorMessage } from "../text/error-message.ts";
import { errorResult } from "../tools/tool.ts";
import { type Budget, createBudget } from "./budget.ts";
import type { PendingRequest, PrepareContext } from "./context-view.ts";
import { createDenials, type Denials } from "./denials.ts";
import { estimateTokens, estimateUsage } from "./estimate-usage.ts";
import type { ModelTurn } from "./model-turn.ts";
import { type CheckContext, type EngineOptions, type Input, type RunInput, StopError } from "./options.ts";
import { preparedTurn, sideTurn } from "./prepared-turn.ts";
import { createRepeatedCalls, type RepeatedCalls } from "./repeated-calls.ts";
import { createSpending, type Spending } from "./spending.ts";
import { complete, runBatch } from "./tool-batch.ts";

type End = { readonly reason: RunEndReason; readonly text: string; readonly error?: RunError };

const REMIND_AT = 3;

/** The state of one run. */
export class Run {
  readonly #options: EngineOptions;
  readonly #history: Message[];
  readonly #run: RunInput;
  readonly #publish: Emit;
  readonly #repeated: RepeatedCalls;
  readonly #denials: Denials;
  readonly #spending: Spending;
  readonly #budget: Budget;
  #turn = 0;
  #outOfTime = false;

  constructor(options: EngineOptions, run: RunInput, publish: Emit) {
    this.#options = options;
    this.#run = run;
    this.#history = run.history;
    this.#publish = publish;
    this.#repeated = createRepeatedCalls(options);
    this.#denials = createDenials(options.permissionMode);
    this.#spending = createSpending(options.info);
    this.#budget = options.budget ?? createBudget(options.limits);
  }

  async start(signal: AbortSignal): Promise<void> {
    const { limits, now } = this.#options;
    const startedAt = now();
    const stop = new AbortController();
    const cancel = (): void => stop.abort();
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const clock =
      limits.maxTimeMs === undefined
        ? undefined
        : setTimeout(() => {
            this.#outOfTime = true;
            cancel();
          }, limits.maxTimeMs);
    try {
      this.#announce();
      const refusal = await this.#enter(this.#run.input, stop.signal);
      const end =
        refusal === undefined ? await this.#loop(stop.signal) : (this.#exhausted(stop.signal) ?? refused(refusal));
      this.#complete(end, now() - startedAt);
    } catch (error) {
      const message = errorMessage(error);
      this.#complete({ reason: "error", text: "", error: { kind: "internal", message } }, now() - startedAt);
      throw error;
    } finally {
      clearTimeout(clock);
      signal.removeEventListener("abort", cancel);
    }
  }

  async #loop(signal: AbortSignal): Promise<End> {
    const { limits, strings } = this.#options;
    for (;;) {
      const exhausted = await this.#outOfBudget(signal);
      if (exhausted) return exhausted;
      if (this.#turn >= limits.maxTurns) return failed("max_turns", strings.maxTurns(limits.maxTurns));
      this.#turn += 1;
      this.#emit({ type: "turn.started", contextMessages: this.#history.length });

      const turn = await this.#think(signal);
      if (turn.type === "failed") return this.#modelFailed(turn, signal);
      const { message, finishReason, cutCalls = [] } = turn.response;
      if (message.toolCalls.length > 0) {
        const end = await this.#act(message.toolCalls, cutCalls, signal);
        if (end) return end;
        continue;
      }
      if (finishReason === "pause") continue;
      const end = await this.#answered(message.content, finishReason, signal);
      if (end) return end;
    }
  }

  /** The turn's request, after a thinking pass without tools where the session wants one. */
  async #think(signal: AbortSignal): Promise<ModelTurn> {
    const { thinking, tools, strings } = this.#options;
    let thought = "";
    if (thinking === "two-stage") {
      this.#emit({ type: "phase.started", phase: "thinking", tools: 0 });
      const turn = await this.#request({ after: [], tools: [] }, signal);
      if (turn.type === "failed") return turn;
      thought = turn.response.message.content;
      const { finishReason, usage } = turn.response;
      // Calls that the thinking pass made up are dropped: it has no tools.
      const message = {
        role: "assistant",
        content: "",
        thinking: { kind: "two-stage", text: thought },
        toolCalls: [],
      } as const;
      this.#emit({ type: "message.completed", message, finishReason, usage: usage ?? NO_USAGE });
      this.#count(usage, thought);
    }

    const offered = tools.getAvailableTools();
    this.#emit({ type: "phase.started", phase: "action", tools: offered.length });
    const after = thought === "" ? [] : afterThought(thought, strings);
    const turn = await this.#request({ after, tools: offered }, signal);
    if (turn.type === "failed") return turn;
    const { message, finishReason, usage } = turn.response;
    this.#history.push(thought === "" ? message : { ...message, thinking: { kind: "two-stage", text: thought } });
    this.#emit({ type: "message.completed", message, finishReason, usage: usage ?? NO_USAGE });
    this.#count(usage, message.content);
    return turn;
  }

  async #request(request: Pick<PendingRequest, "after" | "tools">, signal: AbortSignal): Promise<ModelTurn> {
    if (await this.#outOfBudget(signal)) return notSent();
    const { provider, info, tools } = this.#options;
    const { emit } = this.#checkContext(signal);
    const complete: PrepareContext["complete"] = async (beside) => {
      if (this.#exhausted(signal)) return notSent();
      const turn = await sideTurn(provider, beside, { signal, emit });
      if (turn.type === "answered") this.#count(turn.response.usage, turn.response.message.content);
      // Asked here: what follows is a request too.
      await this.#outOfBudget(signal);
      return turn;
    };
    return preparedTurn(
      { ...request, history: this.#history },
      {
        provider,
        view: this.#run.view,
        context: { info, tools: tools.getAvailableTools(), complete, signal, emit },
        mayGoOn: () => this.#exhausted(signal) === undefined,
      },
    );
  }

  /** Runs the calls and adds what came of them. Returns the run's end where that settles it. */
  async #act(calls: readonly ToolCall[], cutCalls: readonly string[], signal: AbortSignal): Promise<End | undefined> {
    const { strings, session, provider, tools, limits, mask, now } = this.#options;
    const emit = (event: EngineEventBody): void => this.#emit(event);
    const whole = calls.filter((call) => !cutCalls.includes(call.id));
    const ran = await runBatch(whole, signal, {
      tools,
      session: { ...session, model: provider.model },
      maxConcurrentTools: limits.maxConcurrentTools,
      mask,
      emit,
      now,
      cancelled: (call) => errorResult(call, strings.callCancelled),
    });
    const cut = calls
      .filter((call) => cutCalls.includes(call.id))
      .map((call) => complete(errorResult(call, strings.callCut), 0, emit));
    const byId = new Map([...ran, ...cut].map((result) => [result.toolCallId, result]));
    const results = calls.flatMap((call) => byId.get(call.id) ?? []);

    const counted = calls.flatMap((call, index) => {
      const result = results[index];
      return result ? [{ call, times: this.#observe(call, result) }] : [];
    });
    const changed = this.#changedObservations(results);
    this.#emit({
      type: "observations.added",
      count: results.length,
      contextMessages: this.#history.length,
      ...(changed.length > 0 && { changed }),
    });
    // What is queued now is for the run that follows a cancelled one.
    if (signal.aborted) return undefined;
    const times = await this.#repeated.endsRun(counted, signal);
    if (times !== undefined) return failed("repeated_call", strings.repeatedCall(times));
    const queued = signal.aborted ? undefined : this.#run.takeQueued?.();
    const refusal = queued && (await this.#enter(queued, signal));
    if (refusal !== undefined && !signal.aborted) this.#emit({ type: "notice", level: "warning", text: refusal });
    return undefined;
  }

  /** Adds a call's result to the history. Returns how often the call has now given this result. */
  #observe(call: ToolCall, result: ToolResult): number {
    const { strings } = this.#options;
    const { toolCallId, output, isError } = result;
    this.#denials.settle(result);
    const times = this.#repeated.count(call, result);
    // Some servers refuse an empty observation.
    const content = output === "" ? strings.emptyOutput : output;
    const reminder = times === REMIND_AT ? strings.repeatedReminder(call.name, times) : undefined;
    this.#history.push({
      role: "user",
      toolCallId,
      content: reminder === undefined ? content : `${content}\n\n${reminder}`,
      isError,
    });
    if (reminder !== undefined) this.#emit({ type: "input.added", content: reminder, source: "reminder" });
    return times;
  }

  /** The newest observations that say something else than their results: whoever reads the events can rebuild the history. */
  #changedObservations(results: readonly ToolResult[]): readonly { toolCallId: string; content: string }[] {
    const added = results.length === 0 ? [] : this.#history.slice(-results.length);
    return added.flatMap(({ content }, index) => {
      const result = results[index];
      return result && result.output !== content ? [{ toolCallId: result.toolCallId, content }] : [];
    });
  }

  /** An answer without tool calls. Returns nothing where the run goes on. */
  async #answered(text: string, finishReason: string, signal: AbortSignal): Promise<End | undefined> {
    const { strings } = this.#options;
    if (finishReason === "content_filter" || finishReason === "refusal") {
      const message = finishReason === "refusal" ? strings.refused : strings.contentFiltered;
      return { reason: "error", text, error: { kind: "content_filter", message } };
    }
    if (finishReason === "length") this.#emit({ type: "notice", level: "warning", text: strings.answerCut });
    try {
      const more = await this.#run.stopping?.(text, this.#checkContext(signal));
      if (more) {
        this.#addInput(more);
        return undefined;
      }
    } catch (error) {
      if (error instanceof StopError)
        return { reason: "error", text, error: { kind: "protocol", message: error.message } };
      throw error;
    }
    return { reason: this.#denials.isBlocked() ? "blocked" : "completed", text };
  }

  #modelFailed({ error, text }: ModelTurn & { readonly type: "failed" }, signal: AbortSignal): End {
    if (signal.aborted) {
      // What had been said stays, so that the person can build on it.
      if (text !== "") {
        const message = { role: "assistant", content: text, toolCalls: [] } as const;
        this.#history.push(message);
        this.#emit({ type: "message.completed", message, finishReason: "error", usage: NO_USAGE });
      }
      return this.#exhausted(signal) ?? failed("cancelled", error.message);
    }
    const { kind, message, hint } = error;
    // What came before the request has used up the budget.
    if (kind === "cancelled") return this.#exhausted(signal) ?? failed("cancelled", message);
    return { reason: "error", text, error: { kind, message, ...(hint !== undefined && { hint }) } };
  }

  /** Why no further request may go out. */
  #exhausted(signal: AbortSignal): End | undefined {
    const { limits, strings } = this.#options;
    if (this.#outOfTime && limits.maxTimeMs !== undefined)
      return failed("budget", strings.budgetTime(`${limits.maxTimeMs / 1000}s`));
    if (signal.aborted) return failed("cancelled", strings.cancelled);
    const spent = this.#budget.exhausted(strings);
    return spent === undefined ? undefined : failed("budget", spent);
  }

  /** The same, after a person could extend a budget that is used up. */
  async #outOfBudget(signal: AbortSignal): Promise<End | undefined> {
    const { ask, strings } = this.#options;
    if (ask && !signal.aborted && !this.#outOfTime) await this.#budget.extend(ask, signal, strings);
    return this.#exhausted(signal);
  }

  #count(usage: Usage | null, answer: string): void {
    const { info, strings } = this.#options;
    const { view } = this.#run;
    const counted = usage ?? NO_USAGE;
    this.#spending.add(counted);
    if (usage) this.#budget.add(usage, info.prices, "server");
    else {
      const sent = view?.tokens() ?? estimateTokens(this.#history, "");
      this.#budget.add(estimateUsage(sent, answer), info.prices, "estimate");
    }
    this.#emit({
      type: "usage.updated",
      usage: counted,
      total: this.#spending.total(),
      costUsd: this.#spending.costUsd(),
      contextTokens: view?.tokens() ?? (usage ? contextTokens(usage) : estimateTokens(this.#history, answer)),
      contextWindow: info.contextWindow,
    });
    for (const text of this.#budget.warnings(strings)) this.#emit({ type: "notice", level: "warning", text });
    for (const text of view?.notices() ?? []) this.#emit({ type: "notice", level: "info", text });
  }

  /** Adds what a person sent, with what comes along with it. Returns why it was blocked, if it was. */
  async #enter(input: Input, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#run.admit) {
      this.#addInput(input);
      return undefined;
    }
    const admission = await this.#run.admit(input, this.#checkContext(signal));
    if (admission.type === "blocked") return admission.reason;
    for (const admitted of admission.inputs) this.#addInput(admitted);
    return undefined;
  }

  #checkContext(signal: AbortSignal): CheckContext {
    return { emit: (event) => this.#emit(event), signal };
  }

  #addInput({ content, source, attachments }: Input): void {
    this.#history.push({ role: "user", content, ...(attachments && { attachments }) });
    this.#emit({ type: "input.added", content, source, ...(attachments && { attachments }) });
  }

  #announce(): void {
    const { session, provider, thinking, limits, permissionMode, sandbox, logFile } = this.#options;
    const { maxTurns, toolTimeoutMs, maxConcurrentTools } = limits;
    this.#publish({
      type: "run.started",
      workDir: session.workDir,
      provider: provider.name,
      model: provider.model,
      thinking,
      maxTurns,
      toolTimeoutMs,
      maxConcurrentTools,
      permissionMode: permissionMode(),
      sandbox,
      logFile,
    });
  }

  #complete(end: End, durationMs: number): void {
    this.#publish({
      type: "run.completed",
      reason: end.reason,
      text: end.text,
      turns: this.#turn,
      contextMessages: this.#history.length,
      usage: this.#spending.total(),
      costUsd: this.#spending.costUsd(),
      durationMs: Math.round(durationMs),
      permissionDenials: this.#denials.list(),
      ...(end.error && { error: end.error }),
    });
  }

  #emit(event: EngineEventBody): void {
    if (event.type === "permission.resolved") this.#denials.note(event);
    this.#publish(this.#turn === 0 ? event : { ...event, turn: this.#turn });
  }
}

const ERROR_KINDS = { max_turns: "input", repeated_call: "protocol", budget: "input", cancelled: "cancelled" } as const;

const failed = (reason: keyof typeof ERROR_KINDS, message: string): End => ({
  reason,
  text: "",
  error: { kind: ERROR_KINDS[reason], message },
});

const refused = (message: string): End => ({ reason: "error", text: "", error: { kind: "input", message } });

/**
 * The thought as it stands in the request that acts on it. A user message closes it,
 * since some APIs refuse a request that ends with the assistant's own words.
 */
const afterThought = (thought: string, strings: EngineOptions["strings"]): Message[] => [
  { role: "assistant", content: thought, toolCalls: [] },
  { role: "user", content: strings.actOnThought },
];

/** Ends the turn; why is in the budget. */
const notSent = (): ModelTurn => ({
  type: "failed",
  error: new ProviderError("not sent: the budget is used up", { kind: "cancelled" }),
  text: "",
});
