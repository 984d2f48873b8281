/** Readers for JSON from a server: nothing about its shape is taken on trust. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The object under `key`, or an empty one. */
export const objectAt = (value: unknown, key: string): JsonObject => {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
};

/** The text under `key`, or "". */
export const textAt = (value: unknown, key: string): string => {
  const inner = isObject(value) ? value[key] : undefined;
  return typeof inner === "string" ? inner : "";
};

/** The array under `key`, or an empty one. */
export const listAt = (value: unknown, key: string): readonly unknown[] => {
  const inner = isObject(value) ? value[key] : undefined;
  return Array.isArray(inner) ? inner : [];
};

/** The count under `key`: 0 for what is missing, null, negative or no number. */
export const countAt = (value: unknown, key: string): number => {
  const inner = isObject(value) ? value[key] : undefined;
  return typeof inner === "number" && Number.isFinite(inner) && inner > 0 ? inner : 0;
};

/** The parsed value, or undefined for what is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
