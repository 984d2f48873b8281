import type { Anthropic } from "@anthropic-ai/sdk";
import type { ToolCall, ToolDefinition } from "../schema/tool.ts";
import { isThinking } from "./anthropic-turn.ts";
import {
  fitOutputTokens,
  type Group,
  groupMessages,
  type Part,
  type Result,
  wireArguments,
  wireName,
} from "./history.ts";
import type { ModelOptions } from "./model-options.ts";
import type { ModelRequest } from "./provider.ts";
import type { JsonObject } from "./wire.ts";

/** What this server takes. */
export type AnthropicFeatures = {
  readonly thinkingStyle: "adaptive" | "budget";
  readonly effort: boolean;
  /** Thinking blocks that it did not take back. */
  readonly refusedThinking: WeakSet<object>;
  /** A history with calls needs tools, also where none may be called. */
  readonly declaresTools: boolean;
};

type Body = Anthropic.MessageCreateParams;
type WireMessage = { readonly role: "user" | "assistant"; readonly content: Anthropic.ContentBlockParam[] };

const DEFAULT_MAX_TOKENS = 8192;
const CACHE: Anthropic.CacheControlEphemeral = { type: "ephemeral" };

/**
 * The request as the Messages API takes it. Cache breakpoints (at most four): the last tool, the system prompt, and the last
 * two user messages, of which the earlier is the one that the request before this one wrote.
 */
export const buildAnthropicRequest = async (
  request: ModelRequest,
  options: ModelOptions,
  features: AnthropicFeatures,
): Promise<Body> => {
  const groups = await groupMessages(request.messages, options);
  const system = groups.flatMap((group) => (group.role === "system" ? [group.text] : [])).join("\n\n");
  const tools = request.tools ?? [];
  const limit = options.maxOutputTokens ?? options.info.maxOutputTokens ?? DEFAULT_MAX_TOKENS;
  const maxTokens = fitOutputTokens(limit, request, options.info.contextWindow);
  const messages = toMessages(groups, options, features);
  return {
    model: options.model,
    max_tokens: maxTokens,
    ...(system !== "" && { system: [{ type: "text", text: system, cache_control: CACHE }] }),
    ...(tools.length > 0 && { tools: toWireTools(tools) }),
    ...(tools.length === 0 && features.declaresTools && declareTools(groups)),
    messages: markForCache(messages),
    stream: options.stream,
    ...(mayThink(messages, features) && thinkingParameters(options, features, maxTokens)),
  } as Body;
};

const toWireTools = (tools: readonly ToolDefinition[]): readonly Anthropic.Tool[] =>
  tools.map(({ name, description, inputSchema }, i) => ({
    name,
    description,
    input_schema: inputSchema as Anthropic.Tool.InputSchema,
    ...(i === tools.length - 1 && { cache_control: CACHE }),
  }));

const declareTools = (groups: readonly Group[]): JsonObject => {
  const calls = groups.flatMap((group) => (group.role === "assistant" ? group.toolCalls : []));
  const names = new Set(calls.map(({ name }) => wireName(name)));
  if (names.size === 0) return {};
  const tools = [...names].map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools, tool_choice: { type: "none" } };
};

const MIN_BUDGET = 1024;
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 64_000,
};
const DEFAULT_BUDGET = 8192;

const thinkingParameters = (options: ModelOptions, features: AnthropicFeatures, maxTokens: number): JsonObject => {
  if (options.thinking !== "native") return {};
  if (features.thinkingStyle === "adaptive") {
    const effort = features.effort ? options.effort : undefined;
    return {
      thinking: { type: "adaptive", display: "summarized" },
      ...(effort !== undefined && { output_config: { effort } }),
    };
  }
  // The budget is part of max_tokens and must leave room for the answer.
  const budget = Math.min(BUDGETS[options.effort ?? ""] ?? DEFAULT_BUDGET, Math.floor(maxTokens / 2));
  if (Math.max(budget, MIN_BUDGET) >= maxTokens) return {};
  return { thinking: { type: "enabled", budget_tokens: Math.max(budget, MIN_BUDGET) } };
};

/** With a budget the API wants thinking before the calls whose results it gets; there is none where it was switched on since. */
const mayThink = (messages: readonly WireMessage[], { thinkingStyle }: AnthropicFeatures): boolean => {
  const before = messages.at(-2)?.content ?? [];
  const hasCalls = before.some((block) => block.type === "tool_use");
  return thinkingStyle === "adaptive" || !hasCalls || isThinking(before[0] as unknown as JsonObject);
};

const toMessages = (
  groups: readonly Group[],
  { strings }: ModelOptions,
  features: AnthropicFeatures,
): readonly WireMessage[] => {
  const messages = groups.flatMap((group): readonly WireMessage[] => {
    if (group.role === "system") return [];
    return [group.role === "assistant" ? toWireAssistant(group, features) : toWireUser(group)];
  });
  const filler: Anthropic.ContentBlockParam = { type: "text", text: strings.emptyContent };
  if (messages[0]?.role !== "user") messages.unshift({ role: "user", content: [filler] });
  const last = messages.at(-1);
  const thought = last?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  const before = messages.at(-2);
  // Newer models refuse a request that ends with the assistant (prefill): a thought to act on goes to the user's side.
  if (last?.role === "assistant" && thought && before && !last.content.some((block) => block.type === "tool_use")) {
    const content: Anthropic.ContentBlockParam[] = [
      ...before.content,
      { type: "text", text: strings.thoughtSoFar(thought) },
    ];
    messages.splice(-2, 2, { role: "user", content });
  }
  return messages;
};

const toWireAssistant = (group: Group & { readonly role: "assistant" }, features: AnthropicFeatures): WireMessage => {
  const own = group.blocks.filter((block) => isThinking(block) && !features.refusedThinking.has(block));
  return {
    role: "assistant",
    content:
      inOrder(own, group) ??
      ([
        ...own,
        ...(group.text === "" ? [] : [{ type: "text", text: group.text }]),
        ...group.toolCalls.map(toWireCall),
      ] as unknown as Anthropic.ContentBlockParam[]),
  };
};

const toWireCall = ({ id, name, arguments: raw }: ToolCall): Anthropic.ToolUseBlockParam => ({
  type: "tool_use",
  id: wireId(id),
  name: wireName(name),
  input: wireArguments(raw) ?? {},
});

/** The message with its blocks where the model had them; undefined where nobody knows, or it is another message by now. */
const inOrder = (
  own: readonly JsonObject[],
  { layout, text, toolCalls }: Group & { readonly role: "assistant" },
): Anthropic.ContentBlockParam[] | undefined => {
  if (!layout) return undefined;
  const blocks = [...own];
  const calls = [...toolCalls];
  let at = 0;
  const content = layout.flatMap((part): readonly unknown[] => {
    if (part === "thinking") return blocks.splice(0, 1);
    if (part === "call") return calls.splice(0, 1).map(toWireCall);
    const piece = text.slice(at, at + part);
    at += part;
    // The API gives blank texts but takes none.
    return piece.trim() === "" ? [] : [{ type: "text", text: piece }];
  });
  const thoughts = layout.filter((part) => part === "thinking").length;
  const isWhole = thoughts === own.length && calls.length === 0 && at === text.length;
  return isWhole ? (content as Anthropic.ContentBlockParam[]) : undefined;
};

const toWireUser = (group: Group & { readonly role: "user" }): WireMessage => ({
  role: "user",
  // The API wants the results before anything else.
  content: [...group.results.map(toWireResult), ...group.parts.map(toWirePart)],
});

const toWireResult = ({ toolCallId, isError, text, images }: Result): Anthropic.ToolResultBlockParam => ({
  type: "tool_result",
  tool_use_id: wireId(toolCallId),
  content: images.length === 0 ? text : [{ type: "text", text }, ...images.map(toWirePart)],
  is_error: isError,
});

const toWirePart = (part: Part): Anthropic.TextBlockParam | Anthropic.ImageBlockParam =>
  part.type === "text"
    ? { type: "text", text: part.text }
    : {
        type: "image",
        source: {
          type: "base64",
          media_type: part.mediaType as Anthropic.Base64ImageSource["media_type"],
          data: part.base64,
        },
      };

// Other vendors' ids have characters that this API refuses.
const wireId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_") || "unknown";

const CACHED_MESSAGES = 2;

const markForCache = (messages: readonly WireMessage[]): Anthropic.MessageParam[] => {
  const marked = new Set(messages.filter(({ role }) => role === "user").slice(-CACHED_MESSAGES));
  return messages.map((message) => {
    const last = message.content.at(-1);
    if (!marked.has(message) || !last) return message;
    const block = { ...last, cache_control: CACHE } as Anthropic.ContentBlockParam;
    return { ...message, content: [...message.content.slice(0, -1), block] };
  });
};
