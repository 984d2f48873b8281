import { randomBytes } from "node:crypto";
import { type ClientOptions, OpenAI } from "openai";
import { refusesParameter } from "./classify-error.ts";
import { callIds } from "./history.ts";
import type { ModelOptions } from "./model-options.ts";
import { streamModel } from "./model-stream.ts";
import { buildOpenAIRequest, type OpenAIFeatures } from "./openai-request.ts";
import { createOpenAITurn } from "./openai-turn.ts";
import { collect, type LLMProvider, type ModelRequest, type StreamChunk } from "./provider.ts";
import { createToolCallAccumulator } from "./tool-call-accumulator.ts";
import type { Fetch, HttpResponse } from "./transport.ts";

const VENDOR_URL = "https://api.openai.com/v1";
// Ours counts bytes, which the SDK's does not; it must not fire first.
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** A model behind Chat Completions: OpenAI's own, or any compatible server. Retries are not its matter. */
export const createOpenAI = (options: ModelOptions): LLMProvider => {
  const baseUrl = (options.baseUrl ?? VENDOR_URL).replace(/\/+$|\/chat\/completions\/?$/, "");
  const isVendor = new URL(baseUrl).hostname === new URL(VENDOR_URL).hostname;
  const context = { ...options, baseUrl };
  const features = createFeatures(options, isVendor);

  async function* generateStream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamChunk> {
    const toolCalls = createToolCallAccumulator(callIds(request.history ?? request.messages), createCallId);
    yield* streamModel({
      fetch: options.fetch,
      send: async (fetch, innerSignal) => {
        const body = await buildOpenAIRequest(request, options, features.current());
        return createClient(options, baseUrl, isVendor, fetch)
          .chat.completions.create(body, { signal: innerSignal })
          .asResponse() as Promise<unknown> as Promise<HttpResponse>;
      },
      adapt: features.adapt,
      turn: createOpenAITurn(toolCalls, context),
      context,
      timeouts: options.timeouts,
      signal,
    });
  }

  return {
    name: options.name,
    model: options.model,
    generateStream,
    generate: (request, signal) => collect(generateStream(request, signal)),
  };
};

const createCallId = (): string => `call_${randomBytes(12).toString("hex")}`;

// A client holds no connection: one for each request costs microseconds, and its fetch is that request's own.
const createClient = (options: ModelOptions, baseURL: string, isVendor: boolean, fetch: Fetch): OpenAI =>
  new OpenAI({
    baseURL,
    // The SDK refuses to start without one; local servers ask for none.
    apiKey: options.apiKey || "none",
    fetch: fetch as unknown as NonNullable<ClientOptions["fetch"]>,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    // The SDK would send these from the environment, to any server.
    adminAPIKey: null,
    ...(!isVendor && { organization: null, project: null }),
  });

/**
 * What the server takes of the optional parameters. It begins with what is known and learns: a refusal that names a parameter
 * switches it off (or the output limit to its other name), once, for the provider's life.
 */
const createFeatures = (
  { quirks = {} }: ModelOptions,
  isVendor: boolean,
): { readonly current: () => OpenAIFeatures; readonly adapt: (error: unknown) => boolean } => {
  const maxTokensField = quirks.maxTokensField ?? (isVendor ? "max_completion_tokens" : "max_tokens");
  let features: OpenAIFeatures = {
    maxTokensField,
    streamUsage: quirks.streamUsage ?? true,
    cacheKey: isVendor,
    strict: quirks.strict ?? isVendor,
    effort: true,
  };
  const tried = new Set<object>();
  const otherField = maxTokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  const steps: readonly { readonly names: readonly string[]; readonly change: Partial<OpenAIFeatures> }[] = [
    { names: [maxTokensField], change: { maxTokensField: otherField } },
    { names: ["stream_options"], change: { streamUsage: false } },
    { names: ["prompt_cache_key"], change: { cacheKey: false } },
    { names: ["reasoning_effort"], change: { effort: false } },
    { names: ["strict", "invalid_function_parameters"], change: { strict: false } },
  ];
  return {
    current: () => features,
    adapt: (error) => {
      const step = steps.find((one) => !tried.has(one) && one.names.some((name) => refusesParameter(error, name)));
      if (!step) return false;
      tried.add(step);
      features = { ...features, ...step.change };
      return true;
    },
  };
};
