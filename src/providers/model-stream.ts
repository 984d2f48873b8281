import {
  baseUrlHint,
  classifyError,
  classifyErrorBody,
  type ErrorContext,
  HttpFailure,
  providerFailure,
  quoted,
} from "./classify-error.ts";
import type { Timeouts } from "./model-options.ts";
import type { ModelResponse, StreamChunk } from "./provider.ts";
import { createSseReader, type SseEvent } from "./sse.ts";
import type { Fetch, HttpResponse } from "./transport.ts";
import { startWatch, type Watch } from "./watch.ts";
import { isObject, type JsonObject, parseJson, textAt } from "./wire.ts";

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
  /** Whether the event has come after which there is nothing. */
  readonly isEnded: () => boolean;
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
      throw new HttpFailure(response.status, response.headers, await readRefusal(response));
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

const MAX_REFUSAL_BYTES = 65_536;
const REFUSAL_MS = 3_000;

/** The words of a refusal as far as they come: with its status it is one, however its body ends. */
const readRefusal = async (response: HttpResponse): Promise<string> => {
  const iterator = (response.body ?? emptyBody())[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ readonly done: true }>((resolve) => {
    timer = setTimeout(() => resolve({ done: true }), REFUSAL_MS);
  });
  const words = (): string => new TextDecoder().decode(Buffer.concat(parts));
  try {
    for (let size = 0; size < MAX_REFUSAL_BYTES; ) {
      const next = await Promise.race([iterator.next(), late]);
      if (next.done) break;
      parts.push(next.value);
      size += next.value.length;
    }
    return words();
  } catch {
    // The connection broke off: what has come has to do.
    return words();
  } finally {
    clearTimeout(timer);
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

const createBodyReader = (turn: Turn, context: ErrorContext): BodyReader => {
  const sse = createSseReader();
  const decoder = new TextDecoder();
  let form: "unknown" | "events" | "whole" = "unknown";
  const held: Uint8Array[] = [];
  let whole = "";
  let isDone = false;

  const takeEvents = (events: readonly SseEvent[], deltas: Deltas, isLast: boolean): void => {
    for (const { data, name } of events.flatMap(splitLines)) {
      if (isDone) return;
      if (data.trimStart().startsWith("[DONE]")) {
        isDone = true;
        return;
      }
      const parsed = parseJson(data);
      const value = parsed === undefined && name === "error" ? data : parsed;
      const isWrong = value === undefined || isErrorEvent(value, name);
      // Blank data, or words after the last one.
      if (data.trim() === "" || (isWrong && turn.isFinished())) continue;
      // Cut in the middle of an event: the missing finish reason tells it.
      if (value === undefined && isLast) return;
      if (value === undefined)
        throw providerFailure("protocol", context.strings.brokenEvent(quoted(data, context)), context, {
          retryable: true,
        });
      if (isWrong) throw classifyErrorBody(value, context, false);
      turn.event(value, deltas);
      isDone = turn.isEnded();
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
      if (form === "unknown") return begin(bytes, deltas);
      // Of events only the beginning is kept, to be quoted should they turn out to be none.
      if (form === "whole" || whole.length < BEGINNING) whole += decoder.decode(bytes, { stream: true });
      if (form === "events") takeEvents(sse.feed(bytes), deltas, false);
    },
    end: (deltas) => {
      if (form === "whole") return readWhole(whole + decoder.decode(), turn, context, deltas);
      // A gateway's own words, in plain text: whatever ails it may pass.
      if (form === "events" && !FIELD.test(whole))
        throw providerFailure("protocol", context.strings.notJson(quoted(whole, context)), context, {
          retryable: true,
          hint: baseUrlHint(context),
        });
      takeEvents(sse.end(), deltas, true);
    },
  };
};

/** Some servers leave the blank line between two events out: then each line of data is one. */
const splitLines = (event: SseEvent): readonly SseEvent[] =>
  event.data.includes("\n") && parseJson(event.data) === undefined
    ? event.data.split("\n").map((data) => ({ data, name: event.name }))
    : [event];

const readWhole = (text: string, turn: Turn, context: ErrorContext, deltas: Deltas): void => {
  const { strings } = context;
  const value = parseJson(text);
  if (value === undefined) {
    const isPage = text.trimStart().startsWith("<");
    const words = isPage ? strings.htmlAnswer : strings.notJson(quoted(text, context));
    throw providerFailure("protocol", words, context, { hint: baseUrlHint(context) });
  }
  const outer: unknown = Array.isArray(value) && value.length > 0 ? value[0] : value;
  if (isErrorEvent(outer, undefined)) throw classifyErrorBody(outer, context, true);
  turn.whole(outer, deltas);
};

const isErrorEvent = (value: unknown, name: string | undefined): boolean =>
  name === "error" ||
  (isObject(value) &&
    (value["type"] === "error" || value["object"] === "error" || Boolean(value["error"]) || isBareError(value)));

/** `{code, message}` in the place of an answer. Anthropic's events have a message too, but it is no text. */
const isBareError = (value: JsonObject): boolean =>
  Boolean(value["code"]) && textAt(value, "message") !== "" && !("choices" in value);

const BEGINNING = 1000;
const FIELD = /^\ufeff?(?:data|event|id|retry)?:/m;

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
