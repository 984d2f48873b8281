import type { ToolCall, ToolDefinition, ToolResult } from "../schema/tool.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import {
  ArgumentError,
  errorResult,
  type Invocation,
  type Next,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolMiddleware,
} from "./tool.ts";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_QUOTED = 400;

export type RegistryOptions = {
  readonly strings: Strings["registry"];
  /** From the outside in. */
  readonly middlewares?: readonly ToolMiddleware[];
};

/** The tools that the model may call, and the one place where a failure becomes a result. */
export class Registry {
  readonly #strings: Strings["registry"];
  readonly #middlewares: readonly ToolMiddleware[];
  readonly #tools = new Map<string, Tool>();
  readonly #run: Next;

  constructor({ strings, middlewares = [] }: RegistryOptions) {
    this.#strings = strings;
    this.#middlewares = middlewares;
    this.#run = middlewares.reduceRight<Next>(
      (next, middleware) => (invocation) => middleware(invocation, next),
      runTool,
    );
  }

  /** @throws Error for a bad name, a missing execute, or a name that is taken; the tool that was first stays. */
  register(tool: Tool): void {
    if (this.#tools.has(tool.definition.name)) throw new Error(`tool "${tool.definition.name}" already registered`);
    this.replace(tool);
  }

  /** Puts the tool in the place of the one with its name, or adds it. */
  replace(tool: Tool): void {
    checkTool(tool.definition.name, tool.execute);
    this.#tools.set(tool.definition.name, tool);
  }

  /** False when there was none. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** In the order of registration. */
  getAvailableTools(): readonly ToolDefinition[] {
    return [...this.#tools.values()].map((tool) => tool.definition);
  }

  /** The tool's template filled with the call's arguments, for people. */
  display(call: ToolCall): string {
    const template = this.#tools.get(call.name)?.definition.display;
    if (template === undefined) return call.name;
    const args = parseLoosely(call.arguments);
    return template.replace(/\{(\w+)\}/g, (_, key: string) => displayValue(args[key]));
  }

  /** Whether a person will be asked about the call. Runs nothing; a call that will fail anyway asks nobody. */
  async mayAsk(call: ToolCall, context: ToolContext): Promise<boolean> {
    const tool = this.#tools.get(call.name);
    if (!tool) return false;
    let args: unknown;
    try {
      args = tool.parse(JSON.parse(call.arguments));
    } catch {
      // The same failure becomes the call's result in `execute`.
      return false;
    }
    for (const middleware of this.#middlewares) if (await middleware.asks?.({ call, tool, args, context })) return true;
    return false;
  }

  /** Runs the call through the middlewares. Never throws: every failure is an error result with the call's id. */
  async execute(call: ToolCall, context: ToolContext): Promise<ToolResult> {
    const tool = this.#tools.get(call.name);
    if (!tool) return errorResult(call, this.#strings.unknownTool(call.name, [...this.#tools.keys()]));
    let value: unknown;
    try {
      value = JSON.parse(call.arguments);
    } catch (error) {
      return errorResult(call, this.#strings.argumentsNotJson(errorMessage(error), quote(call.arguments)));
    }
    try {
      return await this.#run({ call, tool, args: tool.parse(value), context });
    } catch (error) {
      if (error instanceof ArgumentError || error instanceof ToolError) return errorResult(call, error.message);
      return errorResult(call, this.#strings.executionFailed(call.name, errorMessage(error)));
    }
  }
}

const checkTool = (name: string, execute: unknown): void => {
  if (name === "") throw new Error("tool name cannot be empty");
  if (!NAME.test(name)) throw new Error(`tool name "${name}" must match ${NAME.source}`);
  if (typeof execute !== "function") throw new Error(`tool "${name}" has no execute function`);
};

const runTool: Next = async ({ call, tool, args, context }: Invocation): Promise<ToolResult> => {
  const output = await tool.execute(args, context);
  if (typeof output === "string") return { toolCallId: call.id, name: call.name, output, isError: false };
  return {
    toolCallId: call.id,
    name: call.name,
    output: output.output,
    isError: output.isError ?? false,
    ...(output.data !== undefined && { data: output.data }),
  };
};

const quote = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);

const parseLoosely = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // What cannot be read is shown without arguments.
    return {};
  }
};

const displayValue = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
