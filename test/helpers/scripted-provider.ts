import {
  collect,
  type LLMProvider,
  type ModelRequest,
  type ModelResponse,
  ProviderError,
  type StreamChunk,
} from "../../src/providers/provider.ts";
import type { FinishReason } from "../../src/schema/event.ts";
import { NO_USAGE, type Usage } from "../../src/schema/model.ts";
import type { ToolCall } from "../../src/schema/tool.ts";

/** What the scripted model does with one request. */
export type Reply =
  | {
      readonly text?: string;
      readonly calls?: readonly ToolCall[];
      readonly finishReason?: FinishReason;
      readonly usage?: Partial<Usage> | null;
      readonly cutCalls?: readonly string[];
    }
  | { readonly error: ProviderError; readonly text?: string }
  /** Says something and then nothing more until it is aborted. */
  | { readonly hang: string };

export type ScriptedProvider = LLMProvider & { readonly requests: readonly ModelRequest[] };

/** A model that answers from a script, in order; the last reply repeats. `requests` is what it was sent. */
export const scriptedProvider = (...replies: readonly Reply[]): ScriptedProvider => {
  const requests: ModelRequest[] = [];
  async function* generateStream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamChunk> {
    const reply = replies[Math.min(requests.length, replies.length - 1)];
    // A copy: the engine goes on appending to its history.
    requests.push({ ...request, messages: [...request.messages] });
    if (!reply) throw new Error("the script is empty");
    if ("hang" in reply) {
      yield { type: "text.delta", text: reply.hang };
      await aborted(signal);
      throw new ProviderError("aborted", { kind: "cancelled" });
    }
    for (const word of reply.text?.split(/(?<= )/) ?? []) yield { type: "text.delta", text: word };
    if ("error" in reply) throw reply.error;
    yield { type: "completed", response: response(reply) };
  }
  return {
    name: "scripted",
    model: "script-1",
    requests,
    generateStream,
    generate: (request, signal) => collect(generateStream(request, signal)),
  };
};

const response = (reply: Exclude<Reply, { error: ProviderError } | { hang: string }>): ModelResponse => {
  const { text = "", calls = [], cutCalls, usage = {} } = reply;
  return {
    message: { role: "assistant", content: text, toolCalls: calls },
    finishReason: reply.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop"),
    usage: usage === null ? null : { ...NO_USAGE, ...usage },
    ...(cutCalls && { cutCalls }),
  };
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

let lastId = 0;

/** A call with an id of its own. */
export const call = (name: string, args: unknown = {}): ToolCall => {
  lastId += 1;
  return { id: `call_${lastId}`, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
};
