import type { ToolResult } from "../../src/schema/tool.ts";
import { zh } from "../../src/text/zh.ts";
import { Registry } from "../../src/tools/registry.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";
import { FileError, type FileErrorKind } from "../../src/tools/workspace/file-error.ts";

/** Calls a tool as the engine does, with a value or with the model's raw JSON text. */
export const callTool = (tool: Tool, args: unknown, signal = new AbortController().signal): Promise<ToolResult> => {
  const registry = new Registry({ strings: zh.registry });
  registry.register(tool);
  const context = contextFor(tool, args, signal);
  return registry.execute(context.call, context);
};

/** The kind of the FileError that the call ends with, or undefined when it succeeds. */
export const failureOf = async (tool: Tool, args: unknown): Promise<FileErrorKind | undefined> => {
  try {
    await tool.execute(tool.parse(args), contextFor(tool, args, new AbortController().signal));
    return undefined;
  } catch (error) {
    if (error instanceof FileError) return error.kind;
    throw error;
  }
};

const contextFor = (tool: Tool, args: unknown, signal: AbortSignal): ToolContext => ({
  call: {
    id: "call_1",
    name: tool.definition.name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  },
  signal,
  emit: () => {},
  session: { id: "20260101-000000-test", workDir: "/", model: "test" },
});
