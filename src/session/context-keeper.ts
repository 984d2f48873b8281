import type { ContextView, PendingRequest, PrepareContext, Prepared } from "../engine/context-view.ts";
import { type ModelResponse, ProviderError } from "../providers/provider.ts";
import type { Emit, EngineEvent } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import { type ModelInfo, UNKNOWN_MODEL } from "../schema/model.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import { type Compaction, type ContextSize, type Part, partsOf, summaryMessage, viewOf } from "./compaction.ts";
import { type CompactionFold, type CompactionState, createCompactions } from "./compaction-fold.ts";
import { type CompactionCause, type Made, makeCompaction } from "./compaction-make.ts";
import { type CacheWatch, createCacheWatch, type LostCache } from "./context-cache.ts";
import { compactsAt, windowOf } from "./context-limit.ts";
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
  | { readonly type: "useless" }
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
  readonly #sizes: Sizes = createSizes();
  readonly #cache: CacheWatch = createCacheWatch();
  #info: ModelInfo = UNKNOWN_MODEL;
  #tools: readonly ToolDefinition[] = [];
  #model: string | undefined;
  #measured: Measured | undefined;
  /** Of the request that went out last. */
  #sent = { estimated: 0, hasTools: false };
  #learned: number | undefined;
  #uselessAt: number | undefined;
  #lost: LostCache | undefined;
  #view: { compaction: Compaction; count: number; last: Message | undefined; messages: Message[] } | undefined;

  constructor(options: ContextKeeperOptions) {
    this.#options = options;
    this.#fold = createCompactions(() => options.history.length, options.past);
    this.#learned = options.past?.compactions.list.findLast(({ window }) => window !== undefined)?.window;
  }

  /** Every event and entry of the session, when the history has what it tells of. */
  observe(entry: JournalEntry | EngineEvent): void {
    this.#fold.add(entry);
    if (entry.type !== "run.started") return;
    this.#cache.begin();
    this.#lost = undefined;
    const model = `${entry.provider}/${entry.model}`;
    if (this.#model !== undefined && this.#model !== model) {
      // Another model counts in another way.
      this.#measured = undefined;
      this.#learned = undefined;
      this.#cache.forget();
    }
    this.#model = model;
  }

  async prepare(pending: PendingRequest, context: PrepareContext): Promise<Prepared> {
    this.#use(context);
    this.#tellOfCache(context.emit);
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

  tokens(): number {
    return this.#size(this.#messages(), 0);
  }

  giveUp(error: ProviderError): ProviderError {
    const { strings } = this.#options;
    return new ProviderError(error.message, {
      kind: error.kind,
      hint: strings.tooLongHint,
      cause: error,
      ...(error.status !== undefined && { status: error.status }),
    });
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
    if (result.failure !== undefined)
      context.emit({ type: "notice", level: "warning", text: strings.noSummary(result.failure) });
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

  /** The view now. The history itself where nothing is compacted; else a list that grows with it. */
  #messages(): readonly Message[] {
    const { history } = this.#options;
    const compaction = this.#fold.current();
    if (!compaction) return history;
    const view = this.#view;
    if (view?.compaction === compaction && view.count <= history.length && history[view.count - 1] === view.last) {
      view.messages.push(...history.slice(view.count));
      view.count = history.length;
      view.last = history.at(-1);
      return view.messages;
    }
    const messages = [...viewOf(history, compaction)];
    this.#view = { compaction, count: history.length, last: history.at(-1), messages };
    return messages;
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
    const { strings } = this.#options;
    return new ProviderError(strings.tooLong(tokens, windowOf(this.#info, this.#learned)), {
      kind: "context_overflow",
      hint: strings.tooLongHint,
    });
  }

  #tellOfCache(emit: Emit): void {
    const lost = this.#lost;
    this.#lost = undefined;
    if (lost) emit({ type: "notice", level: "info", text: this.#options.strings.cacheLost(lost.tokens, lost.costUsd) });
  }

  #use({ info, tools }: Pick<PrepareContext, "info" | "tools">): void {
    this.#info = info;
    this.#tools = tools;
  }

  #now(): string {
    return this.#options.clock().toISOString();
  }
}
