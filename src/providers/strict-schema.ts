import type { JsonSchema } from "../schema/tool.ts";
import { isObject } from "./wire.ts";

const KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "$ref",
  "$defs",
  "pattern",
  "format",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
]);

const FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/**
 * The schema as OpenAI's strict mode takes it (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas),
 * with `additionalProperties: false` where an object leaves it open by saying nothing; undefined where it does not fit:
 * an optional property, an open object, an unsupported keyword.
 */
export const strictSchema = (schema: JsonSchema): JsonSchema | undefined =>
  schema["type"] === "object" && schema["anyOf"] === undefined ? strict(schema) : undefined;

const strict = (schema: unknown): JsonSchema | undefined => {
  if (!isObject(schema) || Object.keys(schema).some((key) => !KEYWORDS.has(key))) return undefined;
  if (schema["format"] !== undefined && !FORMATS.has(schema["format"])) return undefined;
  const isTyped = ["type", "enum", "const", "anyOf", "$ref"].some((key) => key in schema);
  if (!isTyped) return undefined;
  const inner: Record<string, unknown> = {};
  for (const key of ["properties", "$defs"]) {
    if (!isObject(schema[key])) continue;
    const entries = Object.entries(schema[key]).map(([name, value]) => [name, strict(value)] as const);
    if (entries.some(([, value]) => value === undefined)) return undefined;
    inner[key] = Object.fromEntries(entries);
  }
  if (schema["items"] !== undefined) inner["items"] = strict(schema["items"]);
  if (Array.isArray(schema["anyOf"])) inner["anyOf"] = strictAll(schema["anyOf"]);
  if (Object.values(inner).some((value) => value === undefined)) return undefined;
  const types = [schema["type"]].flat();
  if (types.includes("array") && !("items" in inner)) return undefined;
  if (!types.includes("object")) return { ...schema, ...inner };
  return isClosed(schema)
    ? { properties: {}, required: [], ...schema, ...inner, additionalProperties: false }
    : undefined;
};

const strictAll = (schemas: readonly unknown[]): readonly JsonSchema[] | undefined => {
  const all = schemas.map(strict);
  return all.every((schema) => schema !== undefined) ? all : undefined;
};

/** Every property is required, and no others are asked for. */
const isClosed = (schema: JsonSchema): boolean => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const isOpen = schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false;
  return !isOpen && names.every((name) => required.includes(name));
};
