import type { ThinkingMode } from "../schema/event.ts";
import { isLoopback } from "../text/address.ts";
import type { Strings } from "../text/strings.ts";
import type { ListModels, ModelChoice, ProviderChoice } from "./choose-provider.ts";
import type { ModelOptions } from "./model-options.ts";
import { listModels } from "./models-endpoint.ts";
import { createOffline } from "./offline.ts";
import type { LLMProvider } from "./provider.ts";
import { withRetry } from "./retry.ts";
import type { Fetch } from "./transport.ts";

const FIRST_BYTE_MS = 600_000;
const SILENCE_MS = 90_000;
const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
const MAX_RETRY_AFTER_MS = 120_000;

export type CreateProviderOptions = {
  readonly thinking: ThinkingMode;
  readonly effort: string | null;
  readonly stream: boolean;
  /** Stable within a session, so that its requests find the same cache. */
  readonly cacheKey: string;
  /** How often a request is sent at most. */
  readonly attempts: number;
  /** The offline demonstration helps in the chat and ends a run elsewhere. */
  readonly chat: boolean;
  readonly fetch: Fetch;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  readonly strings: Strings;
};

/** The provider for a choice, with its retries and time limits. Loads the one SDK that it needs; offline loads none. */
export const createProvider = async (choice: ProviderChoice, options: CreateProviderOptions): Promise<LLMProvider> => {
  if (choice.kind === "offline") return createOffline({ chat: options.chat, strings: options.strings.offline });
  return withRetry(await createModel(choice, options), {
    attempts: options.attempts,
    baseMs: BACKOFF_MS,
    capMs: MAX_BACKOFF_MS,
    maxRetryAfterMs: MAX_RETRY_AFTER_MS,
    strings: options.strings.provider,
    random: options.random,
  });
};

const createModel = async (choice: ModelChoice, options: CreateProviderOptions): Promise<LLMProvider> => {
  const { server, baseUrl } = choice;
  const modelOptions: ModelOptions = {
    name: server.name,
    model: choice.model,
    apiKey: choice.apiKey,
    keyVariable: server.keyVariable ?? undefined,
    baseUrl,
    thinking: options.thinking,
    effort: options.effort ?? undefined,
    cacheKey: options.cacheKey,
    stream: options.stream,
    vision: server.vision,
    strings: options.strings.provider,
    fetch: options.fetch,
    // A local server may have to load its model first.
    timeouts: { firstByteMs: server.isLocal || isLoopback(baseUrl) ? null : FIRST_BYTE_MS, silenceMs: SILENCE_MS },
    info: choice.info,
  };
  switch (server.dialect) {
    case "openai":
      return (await import("./openai.ts")).createOpenAI(modelOptions);
    case "anthropic":
      return (await import("./anthropic.ts")).createAnthropic(modelOptions);
    default:
      return server.dialect satisfies never;
  }
};

/** `listModels` for `chooseProvider`, over `fetch`. */
export const createListModels =
  (fetch: Fetch): ListModels =>
  (server, { baseUrl, apiKey, timeoutMs }) =>
    listModels(baseUrl, apiKey, fetch, AbortSignal.timeout(timeoutMs), server.dialect);
