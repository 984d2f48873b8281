import {
  baseUrlHint,
  classifyError,
  classifyErrorBody,
  type ErrorContext,
  HttpFailure,
  providerFailure,
} from "./classify-error.ts";
import type { Timeouts } from "./model-options.ts";
import type { ModelResponse, ProviderError, StreamChunk } from "./provider.ts";
import { createSseReader, type SseEvent } from "./sse.ts";
import type { Fetch, HttpResponse } from "./transport.ts";
import { isObject, parseJson } from "./wire.ts";

/** The deltas of one network read, neighbours of a kind joined. */
export type Deltas = { readonly text: (text: string) => void; readonly thinking: (text: string) => void };

/** One answer being read, in one of the two dialects. Methods throw ProviderError. */
export type Turn = {
  /** One event of the stream, parsed. */
  readonly event: (value: unknown, deltas: Deltas) => void;
  /** The whole answer of a request without streaming. */
  readonly whole: (value: unknown, deltas: Deltas) => void;
  /** Whether the finish reason has come. */
  readonly isFinished: () => boolean;
  readonly complete: (deltas: Deltas) => ModelResponse;
};

export type StreamOptions = {
  /** Sends the request through the SDK, which gets this fetch and this signal. */
  readonly send: (fetch: Fetch, signal: AbortSignal) => Promise<HttpResponse>;
  readonly fetch: Fetch;
  readonly turn: Turn;
  readonly context: ErrorContext;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal;
  /** Whether the next try is different because of this refusal (a parameter that the server does not know). */
  readonly adapt: (error: unknown) => boolean;
};

/**
 * Sends one request and reads its answer: events or one JSON body, told apart by the first character, because servers without
 * streaming and errors under HTTP 200 come with any content type.
 * @throws ProviderError; kind `cancelled` when `signal` aborted.
 */
export async function* streamModel(options: StreamOptions): AsyncGenerator<StreamChunk> {
  const { turn, context } = options;
  if (UNUSABLE_IN_HEADER.test(context.apiKey))
    throw providerFailure("auth", context.strings.unusableKey, context, {
      hint: context.strings.hintKey(context.keyVariable ?? "API key"),
    });
  const watch = startWatch(options);
  try {
    const response = await callThrough(options, watch.signal);
    yield* readBody(response, options, watch);
    const deltas = createDeltas();
    const completed = turn.complete(deltas);
    yield* deltas.take();
    yield { type: "completed", response: completed };
  } catch (error) {
    throw watch.failure() ?? classifyError(error, context);
  } finally {
    watch.stop();
  }
}

// The error that node or the SDK throws for it would quote the key.
const UNUSABLE_IN_HEADER = /[^\x20-\x7e]/;

/** What went wrong in our fetch, not what the SDK makes of it: it wraps some causes and loses others. */
const callThrough = async (options: StreamOptions, signal: AbortSignal): Promise<HttpResponse> => {
  const { fetch, send, adapt } = options;
  let failure: unknown;
  const guarded: Fetch = async (url, init) => {
    try {
      const response = await fetch(url, init);
      if (response.ok) return response;
      throw new HttpFailure(response.status, response.headers, await response.text());
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    return await send(guarded, signal);
  } catch (error) {
    if (adapt(failure)) return callThrough(options, signal);
    throw failure ?? error;
  }
};

async function* readBody(response: HttpResponse, options: StreamOptions, watch: Watch): AsyncGenerator<StreamChunk> {
  const { turn, context } = options;
  const iterator = (response.body ?? emptyBody())[Symbol.asyncIterator]();
  const body = createBodyReader(turn, context);
  while (!body.isDone()) {
    const next = await readNext(iterator, options);
    watch.alive(turn.isFinished());
    const deltas = createDeltas();
    const failure = attempt(() => (next.done ? body.end(deltas) : body.feed(next.value, deltas)));
    // What came before the failure in the same read is shown first.
    yield* deltas.take();
    if (failure) throw failure.error;
    if (next.done) break;
  }
  watch.release();
  void drain(iterator, watch);
}

/** The next bytes. A connection that breaks after the finish reason has only ended. */
const readNext = async (
  iterator: AsyncIterator<Uint8Array>,
  { turn, signal, context }: StreamOptions,
): Promise<IteratorResult<Uint8Array>> => {
  try {
    return await iterator.next();
  } catch (cause) {
    if (turn.isFinished() && !signal.aborted) return { done: true, value: undefined };
    throw providerFailure("network", context.strings.brokenStream, context, { retryable: true, cause });
  }
};

const attempt = (action: () => void): { readonly error: unknown } | undefined => {
  try {
    action();
    return undefined;
  } catch (error) {
    return { error };
  }
};

const DRAIN_MS = 1_000;

/** Reads what follows `[DONE]`, so that the connection can be used again; a server that never ends is cut off. Nobody waits for it. */
const drain = async (iterator: AsyncIterator<Uint8Array>, watch: Watch): Promise<void> => {
  const timer = setTimeout(watch.cut, DRAIN_MS);
  timer.unref();
  try {
    while (!(await iterator.next()).done);
  } catch {
    // The answer is whole; how its connection ends is no one's concern.
    watch.cut();
  } finally {
    clearTimeout(timer);
  }
};

type BodyReader = {
  readonly feed: (bytes: Uint8Array, deltas: Deltas) => void;
  readonly end: (deltas: Deltas) => void;
  readonly isDone: () => boolean;
};

const MAX_QUOTED = 200;

const createBodyReader = (turn: Turn, context: ErrorContext): BodyReader => {
  const sse = createSseReader();
  const decoder = new TextDecoder();
  let form: "unknown" | "events" | "whole" = "unknown";
  const held: Uint8Array[] = [];
  let whole = "";
  let isDone = false;

  const takeEvents = (events: readonly SseEvent[], deltas: Deltas, isLast: boolean): void => {
    for (const { data, name } of events) {
      if (isDone) return;
      if (data.startsWith("[DONE]")) {
        isDone = true;
        return;
      }
      const value = parseJson(data);
      const isWrong = value === undefined || isErrorEvent(value, name);
      // Blank data, or words after the last one.
      if (data.trim() === "" || (isWrong && turn.isFinished())) continue;
      // Cut in the middle of an event: the missing finish reason tells it.
      if (value === undefined && isLast) return;
      if (value === undefined)
        throw providerFailure("protocol", context.strings.brokenEvent(data.slice(0, MAX_QUOTED)), context, {
          retryable: true,
        });
      if (isWrong) throw classifyErrorBody(value, context, false);
      turn.event(value, deltas);
    }
  };

  /** Events or one body: the first character tells, however few bytes come at first. */
  const begin = (bytes: Uint8Array, deltas: Deltas): void => {
    held.push(bytes);
    whole += decoder.decode(bytes, { stream: true });
    const first = whole.trimStart()[0];
    if (first === undefined) return;
    form = first === "{" || first === "[" || first === "<" ? "whole" : "events";
    if (form === "whole") return;
    for (const part of held) takeEvents(sse.feed(part), deltas, false);
  };

  return {
    isDone: () => isDone,
    feed: (bytes, deltas) => {
      if (form === "unknown") begin(bytes, deltas);
      else if (form === "events") takeEvents(sse.feed(bytes), deltas, false);
      else whole += decoder.decode(bytes, { stream: true });
    },
    end: (deltas) => {
      if (form === "whole") readWhole(whole + decoder.decode(), turn, context, deltas);
      else takeEvents(sse.end(), deltas, true);
    },
  };
};

const readWhole = (text: string, turn: Turn, context: ErrorContext, deltas: Deltas): void => {
  const { strings } = context;
  const value = parseJson(text);
  if (value === undefined) {
    const isPage = text.trimStart().startsWith("<");
    const words = isPage ? strings.htmlAnswer : strings.notJson(text.slice(0, MAX_QUOTED));
    throw providerFailure("protocol", words, context, { hint: baseUrlHint(context) });
  }
  const outer: unknown = Array.isArray(value) ? value[0] : value;
  if (isErrorEvent(outer, undefined)) throw classifyErrorBody(outer, context, true);
  turn.whole(outer, deltas);
};

const isErrorEvent = (value: unknown, name: string | undefined): boolean =>
  isObject(value) &&
  (name === "error" || value["type"] === "error" || value["object"] === "error" || Boolean(value["error"]));

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

const createDeltas = (): Deltas & { readonly take: () => readonly StreamChunk[] } => {
  const chunks: { type: "text.delta" | "thinking.delta"; text: string }[] = [];
  const add = (type: "text.delta" | "thinking.delta", text: string): void => {
    const last = chunks.at(-1);
    if (text === "") return;
    if (last?.type === type) last.text += text;
    else chunks.push({ type, text });
  };
  return {
    text: (text) => add("text.delta", text),
    thinking: (text) => add("thinking.delta", text),
    take: () => chunks,
  };
};

type Watch = {
  /** Aborts with the caller's signal, or when the server has been silent too long. */
  readonly signal: AbortSignal;
  /** Bytes came, of whatever kind. */
  readonly alive: (isFinished: boolean) => void;
  /** The answer is whole: the request ends by itself. */
  readonly release: () => void;
  readonly cut: () => void;
  readonly stop: () => void;
  /** Why the watch aborted the request, if it did. */
  readonly failure: () => ProviderError | undefined;
};

// A server that sends the finish reason but neither [DONE] nor an end has said all.
const AFTER_FINISH_MS = 3_000;

const startWatch = ({ signal, timeouts, context }: StreamOptions): Watch => {
  const { strings } = context;
  const controller = new AbortController();
  let silence: ProviderError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isReleased = false;
  const cut = (): void => controller.abort();
  const arm = (ms: number, words: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      silence = providerFailure("timeout", words, context, { retryable: true, hint: strings.hintLater });
      cut();
    }, ms);
  };
  if (signal.aborted) cut();
  signal.addEventListener("abort", cut, { once: true });
  if (timeouts.firstByteMs !== null) arm(timeouts.firstByteMs, strings.firstByteTimeout(timeouts.firstByteMs / 1000));

  return {
    signal: controller.signal,
    alive: (isFinished) => {
      const ms = isFinished ? Math.min(AFTER_FINISH_MS, timeouts.silenceMs) : timeouts.silenceMs;
      arm(ms, strings.silenceTimeout(ms / 1000));
    },
    release: () => {
      isReleased = true;
      clearTimeout(timer);
    },
    cut,
    stop: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cut);
      if (!isReleased) cut();
    },
    failure: () => {
      if (signal.aborted) return providerFailure("cancelled", strings.cancelled, context);
      return silence;
    },
  };
};
