import type * as z from "zod";
import { DEFAULT_SETTINGS, SETTING_SCHEMAS, type SettingKey } from "./settings.ts";

/** What a text of the command line or the environment may mean, the likeliest first. */
export const textValues = (key: SettingKey, text: string): unknown[] => {
  if (Array.isArray(DEFAULT_SETTINGS[key])) return [listValue(text)];
  // A switch in the environment is mostly a number.
  if (typeof DEFAULT_SETTINGS[key] === "boolean" && (text === "1" || text === "0")) return [text === "1", text];
  if (/^-?\d+(?:\.\d+)?$/.test(text.trim())) return [Number(text), text];
  if (text === "true" || text === "false") return [text === "true", text];
  return [text];
};

const listValue = (text: string): unknown => {
  if (!text.trim().startsWith("[")) return text.split("\n").filter((line) => line.trim() !== "");
  try {
    return JSON.parse(text);
  } catch {
    // The schema names what is wrong with it.
    return text;
  }
};

export type CheckResult = {
  /** The candidate as it was given. */
  readonly given?: unknown;
  /** What the schema makes of it. */
  readonly value?: unknown;
  readonly problems: readonly { readonly key: string; readonly rule: string }[];
  readonly unknown: readonly string[];
};

/**
 * The first of the candidates that fits the setting, or what is wrong with the likeliest one. Keys inside the value
 * that nobody knows are left out and named.
 */
export const checkValue = (key: SettingKey, candidates: readonly unknown[]): CheckResult => {
  const schema = SETTING_SCHEMAS[key]();
  const results = candidates.map((candidate) => checkOne(schema, key, candidate));
  return results.find(({ problems }) => problems.length === 0) ?? results[0] ?? { problems: [], unknown: [] };
};

const checkOne = (schema: z.ZodType, key: string, candidate: unknown): CheckResult => {
  const parsed = schema.safeParse(candidate);
  if (parsed.success) return { given: candidate, value: parsed.data, problems: [], unknown: [] };
  const unknown = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((name) => ({ path: issue.path, name })) : [],
  );
  const problems = parsed.error.issues
    .filter((issue) => issue.code !== "unrecognized_keys")
    .map((issue) => ({ key: [key, ...issue.path.map(String)].join("."), rule: issue.message }));
  if (problems.length > 0 || unknown.length === 0) return { problems, unknown: [] };
  const known = structuredClone(candidate);
  for (const { path, name } of unknown) delete at(known, path)?.[name];
  const again = checkOne(schema, key, known);
  return { ...again, unknown: unknown.map(({ path, name }) => [key, ...path.map(String), name].join(".")) };
};

const at = (value: unknown, path: readonly PropertyKey[]): Record<PropertyKey, unknown> | undefined => {
  const inner = path.reduce<unknown>((outer, key) => (outer as Record<PropertyKey, unknown> | undefined)?.[key], value);
  return inner as Record<PropertyKey, unknown> | undefined;
};
