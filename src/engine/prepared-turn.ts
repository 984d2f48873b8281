import { type LLMProvider, type ModelRequest, ProviderError } from "../providers/provider.ts";
import type { EngineEventBody } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import type { ContextView, PendingRequest, PrepareContext } from "./context-view.ts";
import { type ModelTurn, modelTurn } from "./model-turn.ts";

export type PreparedTurnOptions = {
  readonly provider: LLMProvider;
  readonly view: ContextView | undefined;
  readonly context: PrepareContext;
  /** Whether a further request may go out: preparing may have used up the budget. */
  readonly mayGoOn: () => boolean;
};

/** One request with what the view makes of the history; one that is too long for the server goes out once more, compacted. */
export const preparedTurn = async (
  request: Pick<PendingRequest, "history" | "after" | "tools">,
  { provider, view, context, mayGoOn }: PreparedTurnOptions,
): Promise<ModelTurn> => {
  const { after, tools } = request;
  const { signal, emit } = context;
  const send = async (messages: readonly Message[]): Promise<ModelTurn> => {
    const turn = await modelTurn(
      provider,
      {
        messages: after.length === 0 ? messages : [...messages, ...after],
        ...(messages !== request.history && { history: request.history }),
        ...(tools.length > 0 && { tools }),
      },
      signal,
      emit,
    );
    if (turn.type === "answered") view?.answered(turn.response);
    return turn;
  };
  if (!view) return send(request.history);

  const prepared = await view.prepare({ ...request, isRefused: false }, context);
  if (prepared.type === "failed") return failed(prepared.error);
  if (!mayGoOn()) return stopped();
  const turn = await send(prepared.messages);
  if (!isOverflow(turn) || signal.aborted) return turn;

  const smaller = await view.prepare({ ...request, isRefused: true }, context);
  if (smaller.type === "failed") return failed(smaller.error);
  if (!mayGoOn()) return stopped();
  const again = await send(smaller.messages);
  return again.type === "failed" && isOverflow(again) ? failed(view.giveUp(again.error)) : again;
};

const stopped = (): ModelTurn => failed(new ProviderError("stopped before the request", { kind: "cancelled" }));

const failed = (error: ProviderError): ModelTurn => ({ type: "failed", error, text: "" });

/** Where something was said already, the request was not too long. */
const isOverflow = (turn: ModelTurn): boolean =>
  turn.type === "failed" && turn.error.kind === "context_overflow" && turn.text === "";

/** A request of which only the retries are told. */
export const sideTurn = (
  provider: LLMProvider,
  request: ModelRequest,
  { signal, emit }: Pick<PrepareContext, "signal" | "emit">,
): Promise<ModelTurn> =>
  modelTurn(provider, request, signal, (event: EngineEventBody) => {
    // Its deltas are not in the transcript, so there are none to drop.
    if (event.type === "provider.retrying") emit({ ...event, discard: false });
  });
