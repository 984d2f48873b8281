import type { OpenAI } from "openai";
import type { ToolDefinition } from "../schema/tool.ts";
import { fitOutputTokens, type Group, groupMessages, type Part, wireArguments, wireName } from "./history.ts";
import type { ModelOptions } from "./model-options.ts";
import type { Reasoning } from "./openai-turn.ts";
import type { ModelRequest } from "./provider.ts";
import { strictSchema } from "./strict-schema.ts";
import type { JsonObject } from "./wire.ts";

/** Which optional parameters this server takes. */
export type OpenAIFeatures = {
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly streamUsage: boolean;
  readonly cacheKey: boolean;
  readonly strict: boolean;
  readonly effort: boolean;
};

type Body = OpenAI.ChatCompletionCreateParams;
type WireMessage = OpenAI.ChatCompletionMessageParam;

/** The request as Chat Completions takes it. The same history gives the same bytes, so that caches hold. */
export const buildOpenAIRequest = async (
  request: ModelRequest,
  options: ModelOptions,
  features: OpenAIFeatures,
): Promise<Body> => {
  const groups = await groupMessages(request.messages, options);
  const tools = request.tools ?? [];
  const limit = options.maxOutputTokens;
  return {
    model: options.model,
    messages: groups.flatMap((group) => toWire(group, options)),
    ...(tools.length > 0 && { tools: tools.map((tool) => toWireTool(tool, features)) }),
    stream: options.stream,
    ...(options.stream && features.streamUsage && { stream_options: { include_usage: true } }),
    ...(limit !== undefined && {
      [features.maxTokensField]: fitOutputTokens(limit, request, options.info.contextWindow),
    }),
    ...(features.cacheKey && { prompt_cache_key: options.cacheKey }),
    ...reasoningParameters(options, features),
  } as Body;
};

const DEFAULT_EFFORT = "medium";

const reasoningParameters = (options: ModelOptions, features: OpenAIFeatures): JsonObject => {
  if (options.thinking !== "native" || !features.effort) return {};
  return { reasoning_effort: options.effort ?? DEFAULT_EFFORT };
};

const toWireTool = (tool: ToolDefinition, features: OpenAIFeatures): OpenAI.ChatCompletionFunctionTool => {
  const strict = features.strict ? strictSchema(tool.inputSchema) : undefined;
  return {
    type: "function",
    function: {
      name: tool.name,
      description: tool.description,
      parameters: { ...(strict ?? tool.inputSchema) },
      ...(strict && { strict: true }),
    },
  };
};

const toWire = (group: Group, options: ModelOptions): readonly WireMessage[] => {
  switch (group.role) {
    case "system":
      return [{ role: "system", content: group.text }];
    case "assistant":
      return [toWireAssistant(group)];
    case "user": {
      const tools = group.results.map(
        ({ toolCallId, text }): WireMessage => ({ role: "tool", tool_call_id: toolCallId, content: text }),
      );
      // A tool message takes text only: images follow as the person's.
      const images = group.results.flatMap(({ toolCallId, images: parts }): readonly Part[] =>
        parts.length === 0 ? [] : [{ type: "text", text: options.strings.imagesOf(toolCallId) }, ...parts],
      );
      const parts = [...images, ...group.parts];
      return parts.length === 0 ? tools : [...tools, { role: "user", content: toWireContent(parts) }];
    }
    default:
      return group satisfies never;
  }
};

const toWireAssistant = (group: Group & { readonly role: "assistant" }): WireMessage => {
  const toolCalls = group.toolCalls.map(({ id, name, arguments: raw }) => ({
    id,
    type: "function" as const,
    function: { name: wireName(name), arguments: wireArguments(raw) ? raw : "{}" },
  }));
  return {
    role: "assistant",
    content: group.text === "" ? null : group.text,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls, ...reasoningOf(group.blocks) }),
  };
};

/**
 * The reasoning that led to tool calls, in the fields in which the server gave it: DeepSeek refuses the history without it.
 * It stays with its message for good, because a prefix that changes is lost to the cache; other answers go without.
 */
const reasoningOf = (blocks: readonly JsonObject[]): Reasoning => {
  const own = blocks.find((block) => !("type" in block)) ?? {};
  const { reasoning_content, reasoning, reasoning_details } = own as Reasoning;
  return {
    ...(typeof reasoning_content === "string" && { reasoning_content }),
    ...(typeof reasoning === "string" && { reasoning }),
    ...(Array.isArray(reasoning_details) && { reasoning_details }),
  };
};

const toWireContent = (parts: readonly Part[]): string | OpenAI.ChatCompletionContentPart[] => {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.length === parts.length) return texts.join("\n\n");
  return parts.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${part.base64}` } },
  );
};
