import type { ModelRequest, ModelResponse, ProviderError } from "../providers/provider.ts";
import type { Emit } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import type { ModelInfo } from "../schema/model.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { ModelTurn } from "./model-turn.ts";

/** A request that is about to go out. */
export type PendingRequest = {
  readonly history: readonly Message[];
  /** What goes out behind the history: a thought to act on. */
  readonly after: readonly Message[];
  /** The tools that it offers; none in a thinking pass. */
  readonly tools: readonly ToolDefinition[];
  /** The server has refused it as too long, as it was prepared last. */
  readonly isRefused: boolean;
};

export type PrepareContext = {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly info: ModelInfo;
  /** As the session offers them, whatever the request does. */
  readonly tools: readonly ToolDefinition[];
  /** A request beside the turn's: nothing of its text is told, its usage counts. It fails as a value. */
  readonly complete: (request: ModelRequest) => Promise<ModelTurn>;
};

export type Prepared =
  | { readonly type: "messages"; readonly messages: readonly Message[] }
  /** No request can go out. */
  | { readonly type: "failed"; readonly error: ProviderError };

/** What the model is sent of a history. */
export interface ContextView {
  /** Called before each request. The messages are the history itself, or a view of it. */
  prepare(pending: PendingRequest, context: PrepareContext): Promise<Prepared>;
  /** What the server gave for the request that was prepared last, before it enters the history. */
  answered(response: ModelResponse): void;
  /** The tokens that the context holds now. */
  tokens(): number;
  /** What the last answers have shown that the person should know, each once. */
  notices(): readonly string[];
  /** What to tell the person when the server has refused a request twice. */
  giveUp(error: ProviderError): ProviderError;
}
