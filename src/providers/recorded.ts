import { setImmediate } from "node:timers/promises";
import type { Message } from "../schema/message.ts";
import type { Strings } from "../text/strings.ts";
import { collect, type LLMProvider, type ModelRequest, ProviderError, type StreamChunk } from "./provider.ts";
import type { RecordedRequest } from "./recorded-requests.ts";

export type RecordedOptions = {
  /** Of the provider and the model that were recorded. */
  readonly name: string;
  readonly model: string;
  readonly requests: readonly RecordedRequest[];
  /** Hears once of the first request, counted from 1, that is not the recorded one: its answer may no longer fit. */
  readonly onDeparture: (request: number) => void;
  readonly strings: Strings["replay"];
};

/**
 * A model that gives recorded answers, in order and without waiting: the same deltas, retries and failures.
 * @throws ProviderError of kind protocol where the recording has no more.
 */
export const createRecorded = (options: RecordedOptions): LLMProvider => {
  const { name, model, requests, strings } = options;
  let count = 0;
  let hasDeparted = false;

  async function* generateStream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamChunk> {
    const recorded = requests[count];
    count += 1;
    if (!recorded) throw new ProviderError(strings.answersEnd, { kind: "protocol" });
    if (!hasDeparted && recorded.news && !isSame(recorded.news, newsOf(request.history ?? request.messages))) {
      hasDeparted = true;
      options.onDeparture(count);
    }
    for (const chunk of recorded.chunks) {
      // Lets a key press in between.
      await setImmediate();
      if (signal.aborted) throw new ProviderError("cancelled", { kind: "cancelled", cause: signal.reason });
      yield chunk;
    }
    yield { type: "completed", response: responseOf(recorded, strings) };
  }

  return {
    name,
    model,
    generateStream,
    generate: (request, signal) => collect(generateStream(request, signal)),
  };
};

const responseOf = ({ end }: RecordedRequest, strings: Strings["replay"]) => {
  switch (end.type) {
    case "completed":
      return end.response;
    case "failed": {
      const { kind, message, hint } = end.error;
      throw new ProviderError(message, { kind, ...(hint !== undefined && { hint }) });
    }
    case "stopped":
      throw new ProviderError(strings.answersStop, { kind: "protocol" });
    default:
      return end satisfies never;
  }
};

/** What came since the newest answer. */
const newsOf = (messages: readonly Message[]): readonly string[] =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
    .flatMap(({ role, content }) => (role === "system" ? [] : [content]));

const isSame = (recorded: readonly string[], asked: readonly string[]): boolean =>
  recorded.length === asked.length && recorded.every((text, index) => text === asked[index]);
