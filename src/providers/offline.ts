import { setImmediate } from "node:timers/promises";
import { isObservation, type Message } from "../schema/message.ts";
import type { ToolCall } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import { type OfflineStep, parseOrder } from "./offline-order.ts";
import { collect, type LLMProvider, type ModelRequest, ProviderError, type StreamChunk } from "./provider.ts";

export type OfflineOptions = {
  /** In the chat an order outside the grammar gets help; elsewhere it ends the run. */
  readonly chat: boolean;
  readonly strings: Strings["offline"];
};

/**
 * The demonstration without a model: it carries out fixed orders (see `parseOrder`) through the real engine and tools,
 * one call a turn. A failed call stops it; the last turn says what was done.
 * @throws ProviderError of kind auth for an order outside its grammar, except in the chat.
 */
export const createOffline = (options: OfflineOptions): LLMProvider => {
  const generateStream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<StreamChunk> =>
    stream(answer(request, options), signal);
  return {
    name: "offline",
    model: "demo",
    generateStream,
    generate: (request, signal) => collect(generateStream(request, signal)),
  };
};

type Answer = { readonly text: string; readonly call?: ToolCall };

const answer = (request: ModelRequest, { chat, strings }: OfflineOptions): Answer => {
  const order = currentOrder(request.messages);
  if (!order) {
    if (chat) return { text: strings.help };
    throw new ProviderError(strings.notUnderstood, { kind: "auth", hint: strings.connect });
  }
  const results = request.messages.slice(order.index + 1).filter(isObservation);
  const failed = results.findIndex(({ isError }) => isError);
  const done = order.steps.slice(0, failed < 0 ? results.length : failed).map((step) => describe(step, strings));
  const failedStep = failed < 0 ? undefined : order.steps[failed];
  if (failedStep) return { text: strings.stopped(failedStep.source, done) };
  const next = order.steps[results.length];
  // A pass without tools is for thinking, and there is nothing to think about.
  if (next && !request.tools?.length) return { text: next.source };
  if (next) return { text: "", call: { id: nextId(request.messages), ...toolCall(next) } };
  return { text: strings.done(done) };
};

type Order = { readonly index: number; readonly steps: readonly OfflineStep[] };

/** The newest order. A message that comes along with one, or with an observation, as a reminder does, does not end the order under way. */
const currentOrder = (messages: readonly Message[]): Order | null => {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== "user" || isObservation(message)) continue;
    const steps = parseOrder(message.content);
    if (steps) return { index, steps };
    if (messages[index - 1]?.role !== "user") return null;
  }
  return null;
};

const toolCall = (step: OfflineStep): Omit<ToolCall, "id"> => {
  switch (step.kind) {
    case "read":
      return { name: "read_file", arguments: JSON.stringify({ path: step.path }) };
    case "write":
      return { name: "write_file", arguments: JSON.stringify({ path: step.path, content: step.text }) };
    case "replace":
      return {
        name: "edit_file",
        arguments: JSON.stringify({ path: step.path, source_text: step.from, target_text: step.to }),
      };
    case "run":
      return { name: "bash", arguments: JSON.stringify({ command: step.command }) };
    default:
      return step satisfies never;
  }
};

const describe = (step: OfflineStep, strings: Strings["offline"]): string => {
  switch (step.kind) {
    case "read":
      return strings.read(step.path);
    case "write":
      return strings.written(step.path);
    case "replace":
      return strings.replaced(step.path);
    case "run":
      return strings.ran(step.command);
    default:
      return step satisfies never;
  }
};

const ID = /^offline-(\d+)$/;

/** One above the highest of the history, which a resumed session brings along. */
const nextId = (messages: readonly Message[]): string => {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  return `offline-${1 + Math.max(0, ...calls.map(({ id }) => Number(ID.exec(id)?.[1] ?? 0)))}`;
};

const WORDS = /\p{Script=Han}|[^\s\p{Script=Han}]+\s*|\s+/gu;

const stream = async function* ({ text, call }: Answer, signal: AbortSignal): AsyncIterable<StreamChunk> {
  for (const word of text.match(WORDS) ?? []) {
    // Lets a key press in between.
    await setImmediate();
    if (signal.aborted) throw new ProviderError("cancelled", { kind: "cancelled", cause: signal.reason });
    yield { type: "text.delta", text: word };
  }
  yield {
    type: "completed",
    response: {
      message: { role: "assistant", content: text, toolCalls: call ? [call] : [] },
      finishReason: call ? "tool_calls" : "stop",
      usage: null,
    },
  };
};
