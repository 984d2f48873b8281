import { setMaxListeners } from "node:events";
import type { Emit, EngineEventBody } from "../schema/event.ts";
import type { ToolCall, ToolDefinition, ToolResult } from "../schema/tool.ts";
import type { Mask } from "../text/mask.ts";
import type { ToolContext } from "../tools/tool.ts";

/** What the engine needs of the registry. */
export interface ToolRunner {
  getAvailableTools(): readonly ToolDefinition[];
  display(call: ToolCall): string;
  mayAsk(call: ToolCall, context: ToolContext): Promise<boolean>;
  execute(call: ToolCall, context: ToolContext): Promise<ToolResult>;
}

export type BatchOptions = {
  readonly tools: ToolRunner;
  readonly session: ToolContext["session"];
  readonly maxConcurrentTools: number;
  readonly mask: Mask;
  readonly emit: Emit;
  readonly now: () => number;
  /** The result of a call that the cancelled run no longer starts. */
  readonly cancelled: (call: ToolCall) => ToolResult;
};

/**
 * Runs the calls of one turn together; the results keep the order of the calls, whatever finishes first.
 * When any call will need a person's yes, the batch runs one at a time. One failure never stops the others.
 */
export const runBatch = async (
  calls: readonly ToolCall[],
  signal: AbortSignal,
  options: BatchOptions,
): Promise<readonly ToolResult[]> => {
  // Each call listens to it; Node would take more than ten for a leak, and say so in the midst of the output.
  setMaxListeners(0, signal);
  const emit: Emit = (event) => options.emit(maskEvent(event, options.mask));
  const contexts = calls.map((call): ToolContext => ({ call, signal, emit, session: options.session }));
  const asking = await Promise.all(calls.map((call, index) => options.tools.mayAsk(call, contextAt(contexts, index))));
  const limit = asking.includes(true) ? 1 : options.maxConcurrentTools || calls.length;

  const results = new Array<ToolResult>(calls.length);
  const pending = calls.entries();
  const worker = async (): Promise<void> => {
    for (const [index, call] of pending) results[index] = await runCall(call, contextAt(contexts, index), options);
  };
  await Promise.all(Array.from({ length: Math.min(limit, calls.length) }, worker));
  return results;
};

const runCall = async (call: ToolCall, context: ToolContext, options: BatchOptions): Promise<ToolResult> => {
  const { tools, emit, now } = options;
  if (context.signal.aborted) return complete(options.cancelled(call), 0, emit);
  emit({ type: "tool.started", call, display: tools.display(call) });
  const startedAt = now();
  const waiting = createStopwatch(now);
  const timed: Emit = (event) => {
    if (event.type === "permission.requested") waiting.start();
    if (event.type === "permission.resolved") waiting.stop();
    context.emit(event);
  };
  const result = await tools.execute(call, { ...context, emit: timed });
  return complete(maskResult(result, options.mask), now() - startedAt - waiting.stop(), emit);
};

/** The time that a call waits for a person: it is not the tool's. */
const createStopwatch = (now: () => number) => {
  let total = 0;
  let since: number | undefined;
  return {
    start: (): void => {
      since ??= now();
    },
    stop: (): number => {
      if (since !== undefined) total += now() - since;
      since = undefined;
      return total;
    },
  };
};

/** Tells of a result; every call of a batch gets exactly one. */
export const complete = (result: ToolResult, durationMs: number, emit: Emit): ToolResult => {
  const { toolCallId, name, output, isError, data } = result;
  emit({
    type: "tool.completed",
    toolCallId,
    name,
    result: { output, isError, ...(data !== undefined && { data }) },
    durationMs: Math.round(durationMs),
  });
  return result;
};

/** What a call shows of the files and programs that it deals with. Its arguments stay as the model wrote them. */
const maskEvent = (event: EngineEventBody, mask: Mask): EngineEventBody => {
  if (event.type === "tool.progress") return { ...event, text: mask(event.text) };
  if (event.type !== "permission.requested" || event.question.preview === undefined) return event;
  return { ...event, question: { ...event.question, preview: maskStrings(event.question.preview, mask) } };
};

const maskResult = (result: ToolResult, mask: Mask): ToolResult => ({
  ...result,
  output: mask(result.output),
  ...(result.data !== undefined && { data: maskStrings(result.data, mask) }),
});

const maskStrings = <T>(value: T, mask: Mask): T => {
  if (typeof value === "string") return mask(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskStrings(item, mask)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskStrings(inner, mask)])) as T;
};

const contextAt = (contexts: readonly ToolContext[], index: number): ToolContext => {
  const context = contexts[index];
  if (!context) throw new Error(`no context for call ${index}`);
  return context;
};
