import * as z from "zod";
import type { JsonSchema, ToolData } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import {
  ArgumentError,
  type Proposal,
  type Tool,
  type ToolContext,
  type ToolKind,
  type ToolOutput,
  type ToolPermission,
} from "./tool.ts";

export type ToolOptions<Schema extends z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  /** The arguments. The JSON Schema for the model and the parsing both come from it. */
  readonly schema: Schema;
  /** The template that people see, as in `bash {command}`. */
  readonly display?: string;
  readonly kind: ToolKind;
  readonly permission: ToolPermission;
  readonly timeoutMs?: number | null | ((args: z.output<Schema>) => number);
  readonly retries?: number;
  readonly preview?: (args: z.output<Schema>) => Promise<ToolData | undefined>;
  readonly proposal?: (args: z.output<Schema>) => Promise<Proposal>;
  readonly execute: (args: z.output<Schema>, context: ToolContext) => Promise<ToolOutput>;
};

/**
 * A tool from a zod schema and a function.
 * @throws Error when the schema cannot be written as JSON Schema.
 */
export const defineTool = <Schema extends z.ZodObject>(
  options: ToolOptions<Schema>,
  strings: Strings["registry"],
): Tool<z.output<Schema>> => ({
  definition: {
    name: options.name,
    description: options.description,
    inputSchema: jsonSchema(options.schema),
    ...(options.display !== undefined && { display: options.display }),
  },
  kind: options.kind,
  permission: options.permission,
  retries: options.retries ?? 0,
  ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  ...(options.preview && { preview: options.preview }),
  ...(options.proposal && { proposal: options.proposal }),
  parse: (value) => {
    const parsed = options.schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map((issue) =>
      strings.argumentProblem(fieldName(issue.path), issue.message, describe(valueAt(value, issue.path))),
    );
    throw new ArgumentError(strings.argumentsInvalid(problems.join("; ")));
  },
  execute: options.execute,
});

const jsonSchema = (schema: z.ZodObject): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
};

const fieldName = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? "arguments" : path.map(String).join(".");

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );

const MAX_DESCRIBED = 80;

const describe = (value: unknown): string => {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > MAX_DESCRIBED ? `${text.slice(0, MAX_DESCRIBED)}…` : text;
};
