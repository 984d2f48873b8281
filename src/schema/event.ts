import type { DecidedBy, PermissionQuestion } from "./ask.ts";
import type { AssistantMessage, Attachment } from "./message.ts";
import type { Usage } from "./model.ts";
import type { ToolCall, ToolData } from "./tool.ts";

export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "error";

export type ErrorKind =
  | "auth"
  | "rate_limit"
  | "overloaded"
  | "server"
  | "network"
  | "timeout"
  | "bad_request"
  | "context_overflow"
  | "content_filter"
  | "protocol"
  | "empty_tool_calls"
  | "cancelled"
  | "config"
  | "input"
  | "internal";

export type RunError = {
  readonly kind: ErrorKind;
  readonly message: string;
  /** What the person can do next. */
  readonly hint?: string;
};

export type RunEndReason = "completed" | "max_turns" | "budget" | "cancelled" | "blocked" | "repeated_call" | "error";

export type PermissionDenial = { readonly toolCallId: string; readonly name: string; readonly reason: string };

export type ThinkingMode = "off" | "two-stage" | "native";

export const PERMISSION_MODES = ["ask", "auto-edit", "plan", "auto", "yolo"] as const;

export type PermissionMode = (typeof PERMISSION_MODES)[number];

type Events = {
  "run.started": {
    readonly workDir: string;
    readonly provider: string;
    readonly model: string;
    readonly thinking: ThinkingMode;
    readonly maxTurns: number;
    readonly toolTimeoutMs: number;
    readonly maxConcurrentTools: number;
    readonly permissionMode: PermissionMode;
    readonly sandbox: string;
    readonly logFile: string | null;
  };
  /** A user message enters the history. */
  "input.added": {
    readonly content: string;
    readonly source: "person" | "queue" | "stdin" | "hook" | "reminder";
    readonly attachments?: readonly Attachment[];
  };
  "turn.started": { readonly contextMessages: number };
  /** `tools` is how many are offered; 0 in the thinking phase. */
  "phase.started": { readonly phase: "thinking" | "action"; readonly tools: number };
  "thinking.delta": { readonly text: string };
  "text.delta": { readonly text: string };
  "message.completed": {
    readonly message: AssistantMessage;
    readonly finishReason: FinishReason;
    readonly usage: Usage;
  };
  "tool.started": { readonly call: ToolCall; readonly display: string };
  /** The newest output, cleaned, at most 2 KB; it replaces the one before. */
  "tool.progress": { readonly toolCallId: string; readonly text: string };
  "tool.completed": {
    readonly toolCallId: string;
    readonly name: string;
    readonly result: { readonly output: string; readonly isError: boolean; readonly data?: ToolData };
    readonly durationMs: number;
  };
  /** `changed`: the observations whose text is not the output in their tool.completed, as with a reminder at the end. */
  "observations.added": {
    readonly count: number;
    readonly contextMessages: number;
    readonly changed?: readonly { readonly toolCallId: string; readonly content: string }[];
  };
  "permission.requested": { readonly toolCallId: string; readonly question: PermissionQuestion };
  "permission.resolved": {
    readonly toolCallId: string;
    readonly name: string;
    readonly decision: "allow" | "reject";
    readonly scope: "once" | "session" | "project" | "user";
    readonly by: DecidedBy;
    readonly rule?: string;
    readonly feedback?: string;
    /** Of the arguments that were decided about, as text: `sha256:` and 16 hex digits. */
    readonly argumentsDigest?: string;
  };
  "usage.updated": {
    readonly usage: Usage;
    /** Of the run; without a turn: of the requests since the last run, as far as one program with one model has sent them. */
    readonly total: Usage;
    readonly costUsd: number | null;
    readonly contextTokens: number;
    readonly contextWindow: number | null;
  };
  /** `discard`: drop every delta since the last phase.started. */
  "provider.retrying": {
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly delayMs: number;
    readonly error: { readonly kind: ErrorKind; readonly status?: number; readonly message: string };
    readonly discard: boolean;
  };
  "context.compacted": {
    readonly before: { readonly tokens: number; readonly messages: number };
    readonly after: { readonly tokens: number; readonly messages: number };
  };
  notice: { readonly level: "info" | "warning" | "error"; readonly text: string };
  /** Exactly one ends every run; `text` is the answer. */
  "run.completed": {
    readonly reason: RunEndReason;
    readonly text: string;
    readonly turns: number;
    readonly contextMessages: number;
    readonly usage: Usage;
    readonly costUsd: number | null;
    readonly durationMs: number;
    readonly permissionDenials: readonly PermissionDenial[];
    readonly error?: RunError;
  };
};

export type EventType = keyof Events;

/** An event as its source emits it: before the session gives it its place (sessionId, seq, time). */
export type EngineEventBody<T extends EventType = EventType> = {
  readonly [K in T]: { readonly type: K; readonly turn?: number } & Events[K];
}[T];

/**
 * One thing that happened, as the UI, headless output, journal and log see it. `seq` counts from 1 in a session,
 * `time` is ISO 8601 in UTC, `turn` counts from 1 in a run. An event of a child session has its own `sessionId`
 * and the `parentToolCallId` of the call that started it.
 */
export type EngineEvent<T extends EventType = EventType> = EngineEventBody<T> & {
  readonly sessionId: string;
  readonly seq: number;
  readonly time: string;
  readonly parentToolCallId?: string;
};

export type Emit = (event: EngineEventBody) => void;
