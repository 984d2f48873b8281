import type { Emit } from "../schema/event.ts";
import type { ToolCall, ToolData, ToolDefinition, ToolResult } from "../schema/tool.ts";

export type ToolPermission = "low" | "medium" | "high";

/** What a tool does to the world, for policies: look, change files, run commands, or anything else. */
export type ToolKind = "read" | "edit" | "execute" | "other";

/** What a tool may know of the call that it serves. */
export type ToolContext = {
  readonly call: ToolCall;
  /** Aborts on cancel and at the call's time limit. */
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly session: { readonly id: string; readonly workDir: string; readonly model: string };
};

/** What a tool returns: text for the model, or text with `data` for a UI. `isError` leaves the text as it is. */
export type ToolOutput = string | { readonly output: string; readonly data?: ToolData; readonly isError?: boolean };

/** The text that a call would leave, which a person may change before it runs. */
export type Proposal = {
  /** A file name, by which an editor highlights. */
  readonly name: string;
  readonly text: string;
  /** The text that it would replace; null where there is none to compare it with. */
  readonly before: string | null;
  /** The arguments, as a JSON value, of the call that leaves exactly this text; undefined where nothing would be left to do. */
  with(text: string): unknown;
};

// The method form: a tool of any arguments is a `Tool`, since it only ever gets what its own `parse` made.
type TimeLimit<Args> = { limit(args: Args): number }["limit"];

/** Everything that a model can do is a tool. `Args` is what `parse` makes of the call's JSON value. */
export interface Tool<Args = unknown> {
  readonly definition: ToolDefinition;
  readonly kind: ToolKind;
  readonly permission: ToolPermission;
  /** Milliseconds; null = no limit; absent = the engine's own limit. */
  readonly timeoutMs?: number | null | TimeLimit<Args>;
  /** How often a recoverable failure is tried again; above 0 only for calls that are safe to repeat. */
  readonly retries: number;
  /** Checks the call's JSON value. Throws ArgumentError, which names the field, the rule and the received value. */
  parse(value: unknown): Args;
  /** What the call would do, for a question to a person. */
  preview?(args: Args): Promise<ToolData | undefined>;
  /** What a person may change of the call. Changes nothing. @throws ToolError, or the system's error, where the call cannot be done */
  proposal?(args: Args): Promise<Proposal>;
  /** Does it. A throw becomes an `Error executing` result in the registry. */
  execute(args: Args, context: ToolContext): Promise<ToolOutput>;
}

/** Arguments that miss the tool's schema. The message is complete: it goes to the model as it is. */
export class ArgumentError extends Error {}

/** A refusal of the call by the tool itself, with a message for the model that needs no prefix. */
export class ToolError extends Error {}

/** A failure that may pass by itself (a network time-out, a 5xx), for tools with `retries`. */
export class RecoverableError extends Error {}

/** One call on its way through the middlewares. */
export type Invocation = {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly args: unknown;
  readonly context: ToolContext;
  /** Why a person is to be asked before it runs, though the policy may allow it. */
  readonly confirm?: string;
};

export type Next = (invocation: Invocation) => Promise<ToolResult>;

/**
 * Governs tool calls: code above `next` runs before the tool, code below it after, in reverse order.
 * Refusing is not calling `next`; rewriting is passing another invocation.
 */
export interface ToolMiddleware {
  (invocation: Invocation, next: Next): Promise<ToolResult>;
  /** Whether a person will be asked about this call. Without side effect: the batch is planned with it. */
  asks?(invocation: Invocation): boolean | Promise<boolean>;
}

/** A result that refuses or fails a call. */
export const errorResult = (call: ToolCall, output: string): ToolResult => ({
  toolCallId: call.id,
  name: call.name,
  output,
  isError: true,
});
