import { readFile } from "node:fs/promises";
import { type Attachment, isObservation, type Message, type Thinking } from "../schema/message.ts";
import type { ToolCall } from "../schema/tool.ts";
import { byteLength } from "../text/utf8.ts";
import type { ModelOptions } from "./model-options.ts";
import type { ModelRequest } from "./provider.ts";
import { isObject, type JsonObject, parseJson } from "./wire.ts";

/** A piece of a user's message. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly base64: string };

export type Result = {
  readonly toolCallId: string;
  readonly isError: boolean;
  readonly text: string;
  readonly images: readonly Part[];
};

/** The history as an API takes it: neighbours of one role are one message, and nothing in it is empty. */
export type Group =
  | { readonly role: "system"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly blocks: readonly JsonObject[];
      /** As in `Thinking`, of this text, these blocks and these calls. */
      readonly layout?: Thinking["layout"];
      readonly toolCalls: readonly ToolCall[];
    }
  | { readonly role: "user"; readonly results: readonly Result[]; readonly parts: readonly Part[] };

type HistoryOptions = Pick<ModelOptions, "strings" | "vision">;

/**
 * The messages in groups. A two-stage thought and its act are one assistant message; an assistant message without text and
 * calls is left out; observations come before what the person said in the same group.
 */
export const groupMessages = async (
  messages: readonly Message[],
  options: HistoryOptions,
): Promise<readonly Group[]> => {
  const groups: Group[] = [];
  for (const message of messages) {
    const next = await toGroup(message, options);
    const last = groups.at(-1);
    const joined = next && last && join(last, next);
    if (joined) groups[groups.length - 1] = joined;
    else if (next) groups.push(next);
  }
  return groups.map((group) => fill(group, options));
};

const toGroup = async (message: Message, options: HistoryOptions): Promise<Group | undefined> => {
  switch (message.role) {
    case "system":
      return message.content.trim() === "" ? undefined : { role: "system", text: message.content };
    case "assistant": {
      const thought = message.thinking?.kind === "two-stage" ? message.thinking.text : "";
      const { content, toolCalls } = message;
      const text = joinTexts(thought, content);
      if (text === "" && toolCalls.length === 0) return undefined;
      const layout = text === content ? message.thinking?.layout : undefined;
      return { role: "assistant", text, blocks: nativeBlocks(message.thinking), toolCalls, ...(layout && { layout }) };
    }
    case "user": {
      const images = await Promise.all((message.attachments ?? []).map((image) => loadImage(image, options)));
      if (!isObservation(message))
        return { role: "user", results: [], parts: [...textParts(message.content), ...images] };
      const { toolCallId, isError, content: text } = message;
      return { role: "user", results: [{ toolCallId, isError, text, images }], parts: [] };
    }
    default:
      return message satisfies never;
  }
};

const nativeBlocks = (thinking: Thinking | undefined): readonly JsonObject[] =>
  thinking?.kind === "native" ? (thinking.blocks ?? []).filter(isObject) : [];

const textParts = (text: string): readonly Part[] => (text.trim() === "" ? [] : [{ type: "text", text }]);

const joinTexts = (...texts: readonly string[]): string => texts.filter((text) => text.trim() !== "").join("\n\n");

const join = (a: Group, b: Group): Group | undefined => {
  if (a.role === "user" && b.role === "user")
    return { role: "user", results: [...a.results, ...b.results], parts: [...a.parts, ...b.parts] };
  if (a.role === "assistant" && b.role === "assistant" && a.toolCalls.length === 0)
    return {
      role: "assistant",
      text: joinTexts(a.text, b.text),
      blocks: [...a.blocks, ...b.blocks],
      toolCalls: b.toolCalls,
    };
  return undefined;
};

// APIs refuse an empty text, and with it every later request of the session.
const fill = (group: Group, { strings }: HistoryOptions): Group => {
  if (group.role !== "user") return group;
  const results = group.results.map((result) =>
    result.text.trim() === "" ? { ...result, text: strings.emptyContent } : result,
  );
  const isEmpty = results.length === 0 && group.parts.length === 0;
  return { role: "user", results, parts: isEmpty ? [{ type: "text", text: strings.emptyContent }] : group.parts };
};

// What Anthropic takes for one image; an image that the API refuses would come again in every later request.
const MAX_IMAGE_BYTES = 3_750_000;

const loadImage = async ({ mediaType, path }: Attachment, { strings, vision }: HistoryOptions): Promise<Part> => {
  if (!vision) return { type: "text", text: strings.imageOmitted(path) };
  try {
    const bytes = await readFile(path);
    return bytes.length > MAX_IMAGE_BYTES
      ? { type: "text", text: strings.imageTooLarge(path, bytes.length) }
      : { type: "image", mediaType, base64: bytes.toString("base64") };
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return { type: "text", text: strings.imageUnreadable(path, reason) };
  }
};

/** A tool's name as the APIs accept it: a model may have made up another one. */
export const wireName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";

/** The arguments where they are a JSON object. Broken ones ran nowhere and are never repaired: they go back as none. */
export const wireArguments = (raw: string): JsonObject | undefined => {
  const value = parseJson(raw);
  return isObject(value) ? value : undefined;
};

/** The ids of all calls in the history: a new call must not take one again. */
export const callIds = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(
    messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls.map((call) => call.id) : [])),
  );

// Fewer is no answer, whatever the window says.
const MIN_OUTPUT_TOKENS = 1024;
// On the safe side of the usual four.
const BYTES_PER_TOKEN = 3;

/** `limit` cut to what the window leaves beside the request: some APIs refuse a request whose sum does not fit. */
export const fitOutputTokens = (limit: number, request: ModelRequest, contextWindow: number | null): number => {
  if (contextWindow === null) return limit;
  const bytes = request.messages.reduce(
    (sum, message) => sum + messageBytes(message),
    byteLength(JSON.stringify(request.tools ?? [])),
  );
  return Math.min(limit, Math.max(MIN_OUTPUT_TOKENS, contextWindow - Math.ceil(bytes / BYTES_PER_TOKEN)));
};

const messageBytes = (message: Message): number => {
  const calls = message.role === "assistant" ? message.toolCalls : [];
  return byteLength(message.content) + calls.reduce((sum, call) => sum + byteLength(call.arguments), 0);
};
