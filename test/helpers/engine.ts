import * as z from "zod";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions, RunInput } from "../../src/engine/options.ts";
import type { EngineEventBody, EventType } from "../../src/schema/event.ts";
import type { Message } from "../../src/schema/message.ts";
import { loadStrings } from "../../src/text/strings.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { Registry } from "../../src/tools/registry.ts";
import { limitTime } from "../../src/tools/timeout.ts";
import type { Tool, ToolContext, ToolMiddleware, ToolOutput } from "../../src/tools/tool.ts";
import type { ScriptedProvider } from "./scripted-provider.ts";

export const zh = await loadStrings("zh");

/** A tool with one optional argument `text`. */
export const tool = (
  name: string,
  execute: (text: string, context: ToolContext) => ToolOutput | Promise<ToolOutput>,
  more: { readonly timeoutMs?: number | null; readonly retries?: number; readonly kind?: Tool["kind"] } = {},
): Tool =>
  defineTool(
    {
      name,
      description: `${name} for tests`,
      schema: z.object({ text: z.string().optional() }),
      display: `${name} {text}`,
      kind: more.kind ?? "other",
      permission: "low",
      ...more,
      execute: async ({ text = "" }, context) => execute(text, context),
    },
    zh.registry,
  ) as Tool;

export const registryOf = (tools: readonly Tool[], middlewares: readonly ToolMiddleware[] = []): Registry => {
  const registry = new Registry({
    strings: zh.registry,
    middlewares: [...middlewares, limitTime({ toolTimeoutMs: 60_000, strings: zh.registry, graceMs: 200 })],
  });
  for (const one of tools) registry.register(one);
  return registry;
};

/** What an engine needs beside its model and its tools. */
export const ENGINE_OPTIONS: Omit<EngineOptions, "provider" | "tools"> = {
  info: { contextWindow: null, maxOutputTokens: null, prices: null },
  limits: { maxTurns: 50, toolTimeoutMs: 60_000, maxConcurrentTools: 0 },
  thinking: "off",
  permissionMode: () => "auto",
  sandbox: "off",
  logFile: null,
  session: { id: "test", workDir: "/work" },
  mask: (text) => text,
  strings: zh.engine,
  now: () => 0,
};

export type TestRun = {
  readonly events: readonly EngineEventBody[];
  readonly history: readonly Message[];
  readonly end: EngineEventBody<"run.completed">;
};

export type TestRunOptions = {
  readonly tools?: readonly Tool[];
  readonly middlewares?: readonly ToolMiddleware[];
  readonly engine?: Partial<EngineOptions>;
  readonly run?: Partial<RunInput>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: EngineEventBody) => void;
};

/** Runs "do it" against a scripted model and collects everything. */
export const runEngine = async (provider: ScriptedProvider, options: TestRunOptions = {}): Promise<TestRun> => {
  const history: Message[] = [{ role: "system", content: "Your working directory is: /work" }];
  const engine = new Engine({
    provider,
    ...ENGINE_OPTIONS,
    tools: registryOf(options.tools ?? [], options.middlewares),
    now: () => performance.now(),
    ...options.engine,
  });
  const events: EngineEventBody[] = [];
  const input = { history, input: { content: "do it", source: "person" } as const, ...options.run };
  for await (const event of engine.runStream(input, options.signal ?? new AbortController().signal, (body) => {
    options.onEvent?.(body);
    return body;
  }))
    events.push(event);
  const end = events.at(-1);
  if (end?.type !== "run.completed") throw new Error("the last event is not run.completed");
  return { events, history, end };
};

/** The events of one type, in order. */
export const only = <T extends EventType>(
  events: readonly EngineEventBody[],
  type: T,
): readonly Extract<EngineEventBody, { type: T }>[] =>
  events.filter((event): event is Extract<EngineEventBody, { type: T }> => event.type === type);
