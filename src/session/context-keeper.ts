import type { ContextView, PendingRequest, PrepareContext, Prepared } from "../engine/context-view.ts";
import type { ModelResponse, ProviderError } from "../providers/provider.ts";
import type { Emit, EngineEvent } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import { type ModelInfo, UNKNOWN_MODEL } from "../schema/model.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import { type Compaction, type ContextSize, type Part, partsOf, summaryMessage, viewOf } from "./compaction.ts";
import {
  type CompactionFold,
  type CompactionState,
  type ContextFigure,
  createCompactions,
  modelOf,
} from "./compaction-fold.ts";
import { type CompactionCause, type Made, makeCompaction } from "./compaction-make.ts";
import { type CacheWatch, createCacheWatch, type LostCache } from "./context-cache.ts";
import { refusedAgain, tooLong } from "./context-errors.ts";
import { compactsAt, windowOf } from "./context-limit.ts";
import { createViewMessages } from "./context-messages.ts";
import {
  calibrated,
  createSizes,
  estimateMessage,
  type Measured,
  measure,
  ratioOf,
  type Sizes,
} from "./context-tokens.ts";
import type { CompactionEntry, CompactionUndoneEntry, JournalEntry } from "./journal.ts";

export type ContextKeeperOptions = {
  /** The session's messages, system prompt first, as they grow and are cut. */
  readonly history: readonly Message[];
  readonly past?: CompactionState | undefined;
  /** The share of the window from which on it compacts. */
  readonly at: number;
  readonly strings: Strings["compaction"];
  /** Writes an entry down; it comes back by `observe`. */
  readonly note: (entry: CompactionEntry | CompactionUndoneEntry) => void;
  readonly clock: () => Date;
};

export type CompactOptions = { readonly focus?: string | undefined };

/** What came of a person's wish to compact. */
export type Compacted =
  | { readonly type: "compacted"; readonly compaction: Compaction; readonly failure?: string }
  /** `failure`: why no summary could be made; empty where the model has written none. */
  | { readonly type: "useless"; readonly failure?: string }
  | { readonly type: "cancelled" };

/** What fills the context. */
export type ContextState = {
  readonly messages: readonly Message[];
  /** The message that is the summary; null where there is none. */
  readonly summary: Message | null;
  readonly tokens: number;
  /** Whether the tokens rest on a figure of the server's. */
  readonly isMeasured: boolean;
  readonly window: number | null;
  readonly compactsAt: number | null;
};

/** Where a try has not helped, the next one waits until the context has grown by this. */
const NEXT_TRY = 1.1;
// An estimate may be so much too high before a server has given a figure.
const UNCERTAIN = 1.5;
/** A refusal shows that the window is smaller than what was sent. */
const REFUSED_SHARE = 0.9;

/** Decides what of a session's history the model is sent, and knows how much that is. */
export class ContextKeeper implements ContextView {
  readonly #options: ContextKeeperOptions;
  readonly #fold: CompactionFold;
  readonly #viewMessages: ReturnType<typeof createViewMessages>;
  readonly #sizes: Sizes = createSizes();
  readonly #cache: CacheWatch = createCacheWatch();
  #info: ModelInfo = UNKNOWN_MODEL;
  #tools: readonly ToolDefinition[] = [];
  #model: string | undefined;
  /** With all else that changes what a server's cache can use. */
  #cacheKey: string | undefined;
  #measured: Measured | undefined;
  /** From the journal, until the tools are known. */
  #figure: ContextFigure | undefined;
  /** Of the request that went out last. */
  #sent = { estimated: 0, hasTools: false };
  #learned: number | undefined;
  #uselessAt: number | undefined;
  #lost: LostCache | undefined;

  constructor(options: ContextKeeperOptions) {
    this.#options = options;
    this.#viewMessages = createViewMessages(options.history);
    this.#fold = createCompactions(() => options.history.length, options.past);
    this.#model = options.past?.model;
    this.#learned = options.past?.learned;
    this.#figure = options.past?.figure;
  }

  /** Every event and entry of the session, when the history has what it tells of. */
  observe(entry: JournalEntry | EngineEvent): void {
    this.#fold.add(entry);
    switch (entry.type) {
      case "run.started":
        this.#begin(entry);
        break;
      case "rewind":
      case "redo":
        this.#cache.forget();
        break;
      default:
      // What else happens leaves the beginning of the requests as it is.
    }
  }

  #begin(run: EngineEvent<"run.started">): void {
    const model = modelOf(run);
    if (this.#model !== model) {
      this.#measured = undefined;
      this.#figure = undefined;
      this.#learned = undefined;
    }
    this.#model = model;
    const cacheKey = `${model} ${run.thinking}`;
    if (this.#cacheKey !== cacheKey) this.#cache.forget();
    this.#cacheKey = cacheKey;
    this.#cache.begin();
  }

  async prepare(pending: PendingRequest, context: PrepareContext): Promise<Prepared> {
    this.#use(context);
    const { after, tools, isRefused } = pending;
    const extra = after.reduce((sum, message) => sum + estimateMessage(message), 0);
    const tokens = this.#size(this.#messages(), extra);
    if (isRefused) this.#learned = Math.floor(tokens * REFUSED_SHARE);
    const limit = this.#limit();
    const isTooMuch = limit !== null && tokens > limit && (tokens > (this.#uselessAt ?? 0) || !this.#mayFit(tokens));
    if (isRefused || isTooMuch) {
      const result = await this.#compact(isRefused ? "refused" : "full", { context, extra, limit: limit ?? tokens });
      const now = this.#size(this.#messages(), extra);
      const isHopeless = result.type === "useless" && isRefused;
      if (result.type !== "cancelled" && (isHopeless || !this.#mayFit(now)))
        return { type: "failed", error: this.#tooLong(now) };
      if (result.type === "useless") this.#uselessAt = tokens * NEXT_TRY;
    }
    const messages = this.#messages();
    this.#sent = {
      estimated: this.#sizes.sum(messages) + extra + this.#sizes.tools(tools),
      hasTools: tools.length > 0,
    };
    return { type: "messages", messages };
  }

  answered({ usage, message }: ModelResponse): void {
    if (!usage) return;
    const keepsReasoning = (message.thinking?.blocks?.length ?? 0) > 0;
    const measured = measure(usage, this.#sent.estimated + this.#sizes.of(message), { keepsReasoning });
    this.#measured = measured ?? this.#measured;
    if (measured && measured.exact > (this.#learned ?? Number.POSITIVE_INFINITY)) this.#learned = undefined;
    const atMs = this.#options.clock().getTime();
    this.#lost = this.#cache.answered(usage, atMs, { hasTools: this.#sent.hasTools, prices: this.#info.prices });
  }

  notices(): readonly string[] {
    const lost = this.#lost;
    this.#lost = undefined;
    return lost ? [this.#options.strings.cacheLost(lost.tokens, lost.costUsd)] : [];
  }

  tokens(): number {
    return this.#size(this.#messages(), 0);
  }

  giveUp(error: ProviderError): ProviderError {
    return refusedAgain(error, this.#options.strings);
  }

  /** Compacts as a person asks for it, between runs. */
  async compact({ focus }: CompactOptions, context: PrepareContext): Promise<Compacted> {
    this.#use(context);
    const result = await this.#compact("person", { context, extra: 0, limit: this.#limit() ?? this.tokens(), focus });
    if (result.type !== "made") return result;
    const compaction = this.#fold.current();
    if (!compaction) return { type: "useless" };
    return { type: "compacted", compaction, ...(result.failure !== undefined && { failure: result.failure }) };
  }

  /** The compaction that is the view now. */
  get current(): Compaction | undefined {
    return this.#fold.current();
  }

  /** Makes the compaction before the newest the view again, or the history itself. False where there is none. */
  undo(emit: Emit): boolean {
    if (!this.#fold.current()) return false;
    const before = this.#figures();
    this.#options.note({ type: "compaction.undone", time: this.#now() });
    this.#changed(before, emit);
    return true;
  }

  /** Another text for the summary. False where there is none. */
  rewriteSummary(summary: string, emit: Emit): boolean {
    const current = this.#fold.current();
    if (current?.summary === undefined) return false;
    const before = this.#figures();
    const { messages, tokens } = before;
    const change = this.#sizes.of(summaryMessage(summary)) - this.#sizes.of(summaryMessage(current.summary));
    const after = { messages, tokens: Math.max(0, tokens + Math.round(change * ratioOf(this.#measured))) };
    this.#note({ ...current, summary, automatic: false, before, after });
    this.#changed(before, emit);
    return true;
  }

  /** What the context holds, by the model and the tools that the next request has. */
  state(next: Pick<PrepareContext, "info" | "tools">): ContextState {
    this.#use(next);
    const messages = this.#messages();
    const place = partsOf(this.#options.history, this.#fold.current()).findIndex(({ at }) => at === null);
    return {
      messages,
      summary: messages[place] ?? null,
      tokens: this.tokens(),
      isMeasured: this.#measured !== undefined,
      window: windowOf(this.#info, this.#learned),
      compactsAt: this.#limit(),
    };
  }

  async #compact(
    cause: CompactionCause,
    {
      context,
      extra,
      limit,
      focus,
    }: {
      readonly context: PrepareContext;
      readonly extra: number;
      readonly limit: number;
      readonly focus?: string | undefined;
    },
  ): Promise<Made> {
    const { history, strings } = this.#options;
    const sum = (parts: readonly Part[]): number =>
      parts.reduce((all, { message }) => all + this.#sizes.of(message), extra + this.#sizes.tools(this.#tools));
    const result = await makeCompaction({
      history,
      parts: partsOf(history, this.#fold.current()),
      cause,
      focus,
      limit,
      window: windowOf(this.#info, this.#learned),
      size: (parts) => calibrated(sum(parts), this.#measured),
      ratio: ratioOf(this.#measured),
      sizes: this.#sizes,
      outputs: this.#fold.state().outputs,
      context,
    });
    if (result.type !== "made") return result;
    this.#note({ ...result.compaction, ...(this.#learned !== undefined && { window: this.#learned }) });
    const { before, after } = result.compaction;
    context.emit({ type: "context.compacted", before, after });
    if (result.failure !== undefined) {
      const isWithoutSteps = result.compaction.summary !== undefined;
      const text = (isWithoutSteps ? strings.noSummary : strings.noSummaryPruned)(result.failure);
      context.emit({ type: "notice", level: "warning", text });
    }
    this.#cache.forget();
    this.#uselessAt = undefined;
    return result;
  }

  #note(compaction: Compaction): void {
    this.#options.note({ type: "compaction", time: this.#now(), ...compaction });
  }

  #changed(before: ContextSize, emit: Emit): void {
    this.#cache.forget();
    this.#uselessAt = undefined;
    emit({ type: "context.compacted", before, after: this.#figures() });
  }

  #figures(): ContextSize {
    return { tokens: this.tokens(), messages: this.#messages().length };
  }

  #messages(): readonly Message[] {
    return this.#viewMessages(this.#fold.current());
  }

  #size(messages: readonly Message[], extra: number): number {
    return calibrated(this.#sizes.sum(messages) + extra + this.#sizes.tools(this.#tools), this.#measured);
  }

  #limit(): number | null {
    const { isHeld } = this.#fold.state().compactions;
    return compactsAt(this.#info, { at: this.#options.at, learned: this.#learned, isHeld });
  }

  /** False where it is certain that the window does not hold so much. */
  #mayFit(tokens: number): boolean {
    const window = windowOf(this.#info, this.#learned);
    return window === null || tokens <= window * (this.#measured ? 1 : UNCERTAIN);
  }

  #tooLong(tokens: number): ProviderError {
    const { contextWindow } = this.#info;
    // A refusal has shown what does not fit, and not what would.
    const isKnown = windowOf(this.#info, this.#learned) === contextWindow;
    return tooLong(tokens, isKnown ? contextWindow : null, this.#options.strings);
  }

  #use({ info, tools }: Pick<PrepareContext, "info" | "tools">): void {
    this.#info = info;
    this.#tools = tools;
    this.#measured ??= this.#measuredBefore();
    this.#figure = undefined;
  }

  /** The figure of a session that goes on, beside what is estimated for the messages of that time. */
  #measuredBefore(): Measured | undefined {
    if (!this.#figure) return undefined;
    const { tokens: exact, length, compaction } = this.#figure;
    const messages = viewOf(this.#options.history.slice(0, length), compaction);
    return { exact, estimated: this.#sizes.sum(messages) + this.#sizes.tools(this.#tools) };
  }

  #now(): string {
    return this.#options.clock().toISOString();
  }
}
