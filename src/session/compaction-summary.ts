import type { PrepareContext } from "../engine/context-view.ts";
import type { ModelTurn } from "../engine/model-turn.ts";
import type { ModelRequest, ProviderError } from "../providers/provider.ts";
import type { Message } from "../schema/message.ts";

export type SummaryOutcome =
  | { readonly type: "summary"; readonly text: string }
  /** `reason`: the server's words; absent where the model has written none. */
  | { readonly type: "failed"; readonly reason?: string }
  /** The person has stopped it, or the budget is used up. */
  | { readonly type: "cancelled" }
  /** The conversation is too long for the request for its summary. */
  | { readonly type: "too long"; readonly reason: string };

/**
 * Asks the model for the summary of a conversation. The request begins with the bytes of the turn's own requests, the
 * tools included: then all of it comes from the cache. An answer that calls tools instead is asked for once more, without them.
 */
export const askForSummary = async (
  messages: readonly Message[],
  { complete, tools }: Pick<PrepareContext, "complete" | "tools">,
  options: { readonly focus?: string | undefined; readonly maxTokens: number },
): Promise<SummaryOutcome> => {
  const asked: readonly Message[] = [...messages, { role: "user", content: requestText(options) }];
  const requests: readonly ModelRequest[] = [
    ...(tools.length > 0 ? [{ messages: asked, tools }] : []),
    { messages: asked },
  ];
  for (const request of requests) {
    const turn = await complete(request);
    if (turn.type === "failed") return failureOf(turn.error);
    const text = summaryOf(turn);
    if (text !== "") return { type: "summary", text };
  }
  return { type: "failed" };
};

const failureOf = ({ kind, message: reason }: ProviderError): SummaryOutcome => {
  if (kind === "cancelled") return { type: "cancelled" };
  return { type: kind === "context_overflow" ? "too long" : "failed", reason };
};

/** Empty where it is none: a refusal, or text that only says what is about to be called. */
const summaryOf = ({ response: { message, finishReason } }: ModelTurn & { readonly type: "answered" }): string => {
  const isAnswer = message.toolCalls.length === 0 && (finishReason === "stop" || finishReason === "length");
  return isAnswer ? message.content.trim() : "";
};

/** Stands for the summary where there is none. */
export const NO_SUMMARY =
  "No summary could be made. What was read, changed and decided in the steps that are left out must be found out again from the files where it matters.";

// About how many words a token is.
const WORDS_PER_TOKEN = 0.6;

const requestText = ({
  focus,
  maxTokens,
}: {
  readonly focus?: string | undefined;
  readonly maxTokens: number;
}): string => `[harness9] The context is nearly full. Write a summary of this conversation, from which you will go on: the steps so far will be left out. The person's own messages are kept word for word and need no repetition. Do not call tools and do not go on with the task now. Answer with the summary only, in the language of the conversation, at most ${Math.round(maxTokens * WORDS_PER_TOKEN)} words, under exactly these headings:

## Intent
What the person wants, with the limits and wishes that still hold.
## Decisions
What was decided and why, and what was tried and did not work.
## Files
Read: path and what matters in it. Changed: path and what was changed.
## Progress
What is done, and what proves it; what is open.
## Next step
The very next thing to do.

Keep paths, names, numbers, commands and error messages exact. A summary that stands in the conversation already goes into this one: carry over what still holds.${focus === undefined ? "" : `\n\nThe person asks you to keep above all: ${focus}`}`;
