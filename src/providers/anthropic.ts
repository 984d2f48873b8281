import { randomBytes } from "node:crypto";
import { BaseAnthropic, type ClientOptions } from "@anthropic-ai/sdk/client";
import { type AnthropicFeatures, buildAnthropicRequest } from "./anthropic-request.ts";
import { createAnthropicTurn, isThinking } from "./anthropic-turn.ts";
import { refusesParameter } from "./classify-error.ts";
import { callIds } from "./history.ts";
import type { ModelOptions } from "./model-options.ts";
import { streamModel } from "./model-stream.ts";
import { collect, type LLMProvider, type ModelRequest, type StreamChunk } from "./provider.ts";
import { createToolCallAccumulator } from "./tool-call-accumulator.ts";
import type { Fetch, HttpResponse } from "./transport.ts";
import { isObject } from "./wire.ts";

const VENDOR_URL = "https://api.anthropic.com";
// Ours counts bytes, which the SDK's does not; it must not fire first.
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** A model behind Anthropic's Messages API, or a compatible server. Retries are not its matter. */
export const createAnthropic = (options: ModelOptions): LLMProvider => {
  const baseUrl = (options.baseUrl ?? VENDOR_URL).replace(/\/+$/, "").replace(/\/v1(?:\/messages)?$/, "");
  const context = { ...options, baseUrl };
  const features = createFeatures(options);

  async function* generateStream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamChunk> {
    const toolCalls = createToolCallAccumulator(callIds(request.history ?? request.messages), createCallId);
    yield* streamModel({
      fetch: options.fetch,
      // Not messages.create(): it writes warnings about models to the terminal with console.warn.
      send: async (fetch, innerSignal) =>
        createClient(options, baseUrl, fetch)
          .post("/v1/messages", {
            body: await buildAnthropicRequest(request, options, features.current()),
            signal: innerSignal,
            stream: options.stream,
          })
          .asResponse() as Promise<unknown> as Promise<HttpResponse>,
      adapt: (error) => features.adapt(error, request),
      turn: createAnthropicTurn(toolCalls, context),
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

const createCallId = (): string => `toolu_${randomBytes(12).toString("hex")}`;

// A client holds no connection: one for each request costs microseconds, and its fetch is that request's own.
const createClient = (options: ModelOptions, baseURL: string, fetch: Fetch): BaseAnthropic =>
  new BaseAnthropic({
    baseURL,
    apiKey: options.apiKey || "none",
    // Compatible servers know the older header and version; the SDK sends the key as a bearer and the newest version.
    ...(new URL(baseURL).hostname !== new URL(VENDOR_URL).hostname && {
      defaultHeaders: { "x-api-key": options.apiKey || "none", "anthropic-version": "2023-06-01" },
    }),
    fetch: fetch as unknown as NonNullable<ClientOptions["fetch"]>,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
  });

// From 4.6 on the models choose for themselves how long to think; the newest refuse a budget.
const ADAPTIVE_MODELS = /claude-(?:opus|sonnet|haiku)-(?:4-(?:[6-9]|1\d)|[5-9]|[1-9]\d)(?!\d)|claude-(?:mythos|fable)/;

type Features = {
  readonly current: () => AnthropicFeatures;
  readonly adapt: (error: unknown, request: ModelRequest) => boolean;
};

/** How thinking is asked for: by the model's name, until a refusal that names it teaches otherwise. */
const createFeatures = (options: ModelOptions): Features => {
  const refusedThinking = new WeakSet<object>();
  const isAdaptive = ADAPTIVE_MODELS.test(options.model);
  let features: AnthropicFeatures = {
    refusedThinking,
    declaresTools: false,
    thinkingStyle: options.quirks?.thinkingStyle ?? (isAdaptive ? "adaptive" : "budget"),
    effort: true,
  };
  const tried = new Set<string>();
  const isFirst = (name: string): boolean => !tried.has(name) && Boolean(tried.add(name));
  return {
    current: () => features,
    adapt: (error, request) => {
      // Blocks that this API did not sign (another key, another server) or does not find where they were: it goes on without
      // them, or the session could never go on.
      if (refusesParameter(error, "redacted_thinking") || refusesParameter(error, "signature")) {
        const blocks = thinkingOf(request.messages).filter((block) => !refusedThinking.has(block));
        for (const block of blocks) refusedThinking.add(block);
        if (blocks.length > 0) return true;
      }
      const isWithoutTools = (request.tools ?? []).length === 0 && callIds(request.messages).size > 0;
      const wantsTools = refusesParameter(error, "tools") || refusesParameter(error, "toolConfig");
      if (isWithoutTools && wantsTools && isFirst("tools")) {
        features = { ...features, declaresTools: true };
        return true;
      }
      if (options.thinking !== "native") return false;
      if (refusesParameter(error, "effort") && isFirst("effort")) {
        features = { ...features, effort: false };
        return true;
      }
      const isRefused = ["thinking", "adaptive", "budget_tokens"].some((name) => refusesParameter(error, name));
      if (!isRefused || !isFirst("thinking")) return false;
      features = { ...features, thinkingStyle: features.thinkingStyle === "adaptive" ? "budget" : "adaptive" };
      return true;
    },
  };
};

const thinkingOf = (messages: ModelRequest["messages"]): readonly object[] =>
  messages.flatMap((message) => {
    const blocks = message.role === "assistant" ? (message.thinking?.blocks ?? []) : [];
    return blocks.filter((block) => isObject(block) && isThinking(block)) as object[];
  });
