import type { EngineEvent, RunError } from "../schema/event.ts";
import { NO_USAGE, type Usage } from "../schema/model.ts";
import type { ToolCall } from "../schema/tool.ts";
import { type ModelResponse, ProviderError, type StreamChunk } from "./provider.ts";

/** What the model did with one request, as the events of a session tell it. */
export type RecordedRequest = {
  readonly chunks: readonly StreamChunk[];
  readonly end:
    | { readonly type: "completed"; readonly response: ModelResponse }
    | { readonly type: "failed"; readonly error: RunError }
    /** The run was cancelled, or the recording ends here. */
    | { readonly type: "stopped" };
  /** What the history got since the answer before; undefined where the request has more than the history. */
  readonly news: readonly string[] | undefined;
};

export interface RequestFold {
  add(event: EngineEvent): void;
  requests(): readonly RecordedRequest[];
}

type Open = { readonly chunks: StreamChunk[]; readonly news: RecordedRequest["news"]; readonly isThinking: boolean };

/** The calls of an answer, until their observations are in the history. */
type Batch = {
  readonly calls: readonly ToolCall[];
  readonly started: Set<string>;
  readonly outputs: Map<string, string>;
  /** Where the answer stands among the requests. */
  readonly index: number;
};

/** What a model was asked and said, from the events of a session in order; a journal's, without deltas, will do. */
export const createRequestFold = (): RequestFold => {
  const requests: RecordedRequest[] = [];
  let open: Open | undefined;
  let batch: Batch | undefined;
  /** Has its observations; whether its run was cancelled shows later. */
  let settled: Batch | undefined;
  let hasThought = false;
  let news: string[] = [];

  const close = (end: RecordedRequest["end"]): void => {
    if (open) requests.push({ chunks: open.chunks, end, news: open.news });
    open = undefined;
  };

  const retried = ({ attempt, maxAttempts, delayMs, error, discard }: EngineEvent<"provider.retrying">): void => {
    if (!open) return;
    const { kind, status, message } = error;
    if (kind !== "empty_tool_calls") {
      const failure = new ProviderError(message, { kind, ...(status !== undefined && { status }) });
      open.chunks.push({ type: "retrying", attempt, maxAttempts, delayMs, error: failure, discard });
      return;
    }
    // It is the engine that asks again then, with a request of its own.
    const again: Open = { ...open, chunks: [] };
    close({ type: "failed", error: { kind, message } });
    open = again;
  };

  const answered = (event: EngineEvent<"message.completed">): void => {
    if (!open) return;
    const { isThinking } = open;
    const response = responseOf(event, isThinking);
    if (!open.chunks.some(({ type }) => type === "text.delta" || type === "thinking.delta"))
      open.chunks.push(...deltasOf(response));
    close(event.finishReason === "error" ? { type: "stopped" } : { type: "completed", response });
    if (isThinking) {
      // It joins the history with the answer that acts on it.
      hasThought = response.message.content !== "";
      return;
    }
    news = [];
    const { toolCalls: calls } = event.message;
    const index = requests.length - 1;
    batch = calls.length > 0 ? { calls, started: new Set(), outputs: new Map(), index } : undefined;
  };

  const observed = ({ changed = [] }: EngineEvent<"observations.added">): void => {
    const texts = new Map(changed.map(({ toolCallId, content }) => [toolCallId, content]));
    if (batch) news.push(...batch.calls.map(({ id }) => texts.get(id) ?? batch?.outputs.get(id) ?? ""));
    settled = batch;
    batch = undefined;
  };

  /** A call that got a result and never began was cut off by the output limit, unless the run was cancelled. */
  const markCut = (): void => {
    const { calls = [], started, index = -1 } = settled ?? {};
    const request = requests[index];
    const cutCalls = calls.map(({ id }) => id).filter((id) => !started?.has(id));
    if (request?.end.type === "completed" && cutCalls.length > 0)
      requests[index] = { ...request, end: { type: "completed", response: { ...request.end.response, cutCalls } } };
    settled = undefined;
  };

  return {
    add: (event) => {
      // A child session has a model of its own.
      if (event.parentToolCallId !== undefined) return;
      switch (event.type) {
        case "input.added":
          // While calls wait for their observations, these stand within one.
          if (!batch || (event.source !== "hook" && event.source !== "reminder")) news.push(event.content);
          break;
        case "turn.started":
          markCut();
          hasThought = false;
          break;
        case "phase.started":
          open = { chunks: [], news: hasThought ? undefined : [...news], isThinking: event.phase === "thinking" };
          break;
        case "text.delta":
        case "thinking.delta":
          open?.chunks.push({ type: event.type, text: event.text });
          break;
        case "provider.retrying":
          retried(event);
          break;
        case "message.completed":
          answered(event);
          break;
        case "tool.started":
          batch?.started.add(event.call.id);
          break;
        case "tool.completed":
          batch?.outputs.set(event.toolCallId, event.result.output);
          break;
        case "observations.added":
          observed(event);
          break;
        case "run.completed":
          if (event.reason === "cancelled" || event.reason === "budget") settled = undefined;
          markCut();
          close(event.error && event.reason === "error" ? { type: "failed", error: event.error } : { type: "stopped" });
      }
    },
    requests: () => [...requests, ...(open ? [{ chunks: open.chunks, news: open.news, end: STOPPED }] : [])],
  };
};

const STOPPED = { type: "stopped" } as const;

const responseOf = (
  { message, finishReason, usage }: EngineEvent<"message.completed">,
  isThinking: boolean,
): ModelResponse => ({
  message: isThinking ? { role: "assistant", content: message.thinking?.text ?? "", toolCalls: [] } : message,
  finishReason,
  usage: isKnown(usage) ? usage : null,
});

/** Where the server gave no figures, the event has zeros. */
const isKnown = (usage: Usage): boolean => (Object.keys(NO_USAGE) as (keyof Usage)[]).some((key) => usage[key] > 0);

const deltasOf = ({ message: { content, thinking } }: ModelResponse): readonly StreamChunk[] => [
  ...(thinking?.text ? [{ type: "thinking.delta", text: thinking.text } as const] : []),
  ...(content === "" ? [] : [{ type: "text.delta", text: content } as const]),
];
