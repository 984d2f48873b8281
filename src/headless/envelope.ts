import { randomUUID } from "node:crypto";
import type { EngineEvent, EngineEventBody, FinishReason, PermissionMode } from "../schema/event.ts";
import type { Usage } from "../schema/model.ts";
import type { ToolCall } from "../schema/tool.ts";
import { exitCode } from "./exit-code.ts";

/** One line of the stream-json envelope. */
export type EnvelopeMessage = {
  readonly type: "system" | "assistant" | "user" | "result";
  readonly [key: string]: unknown;
};

export type EnvelopeOptions = {
  readonly version: string;
  /** Names of the tools that the model is offered. */
  readonly tools: readonly string[];
  /** The answer as a checked JSON value, where a schema was asked for. */
  readonly structuredOutput?: (answer: string) => unknown;
  /** The id of what is made of an event; absent = a random one. */
  readonly uuid?: (event: EngineEvent) => string;
};

/**
 * Turns events into the envelope that Claude Code's `stream-json` made common: `system/init`, `assistant`, `user`,
 * one `result`. Feed it every event of the run in order.
 */
export const createEnvelope = (options: EnvelopeOptions): ((event: EngineEvent) => readonly EnvelopeMessage[]) => {
  const { uuid = randomUUID } = options;
  const calls = new Map<string, ToolCall>();
  let model = "";
  let contextWindow: number | null = null;
  let stopReason: string | null = null;
  let requestedAt = 0;
  let apiMs = 0;

  return (event) => {
    const base = { uuid: uuid(event), session_id: event.sessionId };
    const parent = { parent_tool_use_id: event.parentToolCallId ?? null };
    switch (event.type) {
      case "run.started":
        model = event.model;
        return [
          {
            type: "system",
            subtype: "init",
            ...base,
            cwd: event.workDir,
            model,
            permissionMode: PERMISSION_MODES[event.permissionMode],
            tools: options.tools,
            mcp_servers: [],
            slash_commands: [],
            skills: [],
            agents: [],
            plugins: [],
            apiKeySource: "user",
            harness9_version: options.version,
          },
        ];
      case "phase.started":
        requestedAt = Date.parse(event.time);
        return [];
      case "message.completed": {
        apiMs += Date.parse(event.time) - requestedAt;
        stopReason = STOP_REASONS[event.finishReason];
        const { content, thinking, toolCalls } = event.message;
        for (const call of toolCalls) calls.set(call.id, call);
        const message = {
          id: `msg_${event.seq}`,
          type: "message",
          role: "assistant",
          model,
          content: [
            ...(thinking ? [{ type: "thinking", thinking: thinking.text }] : []),
            ...(content === "" ? [] : [{ type: "text", text: content }]),
            ...toolCalls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: input(call) })),
          ],
          stop_reason: stopReason,
          stop_sequence: null,
          usage: usageFields(event.usage),
        };
        return [{ type: "assistant", ...base, message, ...parent }];
      }
      case "tool.completed": {
        const { output, isError, data } = event.result;
        const block = { type: "tool_result", tool_use_id: event.toolCallId, content: output, is_error: isError };
        const message = { role: "user", content: [block] };
        return [{ type: "user", ...base, message, ...parent, ...(data && { tool_use_result: data }) }];
      }
      case "input.added":
        // The prompt itself is the caller's own; what joins later is news.
        if (event.source === "person" || event.source === "stdin") return [];
        return [
          {
            type: "user",
            ...base,
            message: { role: "user", content: event.content },
            ...parent,
            isSynthetic: event.source !== "queue",
          },
        ];
      case "provider.retrying":
        return [
          {
            type: "system",
            subtype: "api_retry",
            ...base,
            attempt: event.attempt,
            max_retries: event.maxAttempts,
            retry_delay_ms: event.delayMs,
            error_status: event.error.status ?? null,
            error: event.error.message,
          },
        ];
      case "context.compacted": {
        const compact_metadata = { trigger: "auto", pre_tokens: event.before.tokens };
        return [{ type: "system", subtype: "compact_boundary", ...base, compact_metadata }];
      }
      case "usage.updated":
        contextWindow = event.contextWindow;
        return [];
      case "run.completed":
        return [
          {
            type: "result",
            ...resultFields(event, options),
            ...base,
            duration_ms: event.durationMs,
            duration_api_ms: apiMs,
            num_turns: event.turns,
            stop_reason: stopReason,
            total_cost_usd: event.costUsd,
            usage: usageFields(event.usage),
            modelUsage: model === "" ? {} : { [model]: modelUsage(event, contextWindow) },
            permission_denials: event.permissionDenials.map(({ toolCallId, name }) => {
              const call = calls.get(toolCallId);
              return { tool_name: name, tool_use_id: toolCallId, tool_input: call ? input(call) : null };
            }),
          },
        ];
      default:
        return [];
    }
  };
};

const resultFields = (
  event: EngineEventBody<"run.completed">,
  { structuredOutput }: EnvelopeOptions,
): Readonly<Record<string, unknown>> => {
  const { reason, text, error } = event;
  const isError = exitCode(event) !== 0;
  const answer = text === "" && isError ? {} : { result: text };
  const errors = isError ? { errors: [error ? [error.message, error.hint].filter(Boolean).join(" ") : reason] } : {};
  const structured = !isError && structuredOutput ? { structured_output: structuredOutput(text) } : {};
  return {
    subtype: isError ? subtype(event, structuredOutput !== undefined) : "success",
    is_error: isError,
    ...answer,
    ...errors,
    ...structured,
  };
};

const subtype = ({ reason, error }: EngineEventBody<"run.completed">, structured: boolean): string => {
  if (reason === "max_turns") return "error_max_turns";
  if (reason === "budget") return "error_max_budget_usd";
  if (structured && error?.kind === "protocol") return "error_max_structured_output_retries";
  return "error_during_execution";
};

const PERMISSION_MODES: Readonly<Record<PermissionMode, string>> = {
  ask: "default",
  "auto-edit": "acceptEdits",
  plan: "plan",
  auto: "auto",
  yolo: "bypassPermissions",
};

const STOP_REASONS: Readonly<Record<FinishReason, string | null>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
  refusal: "refusal",
  pause: "pause_turn",
  error: null,
};

const usageFields = (usage: Usage) => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cache_read_input_tokens: usage.cacheReadTokens,
  cache_creation_input_tokens: usage.cacheWriteTokens,
});

const modelUsage = ({ usage, costUsd }: EngineEventBody<"run.completed">, contextWindow: number | null) => ({
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  cacheReadInputTokens: usage.cacheReadTokens,
  cacheCreationInputTokens: usage.cacheWriteTokens,
  costUSD: costUsd,
  contextWindow,
});

/** The arguments as a value, or their raw text where they are no JSON. */
const input = (call: ToolCall): unknown => {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return call.arguments;
  }
};
