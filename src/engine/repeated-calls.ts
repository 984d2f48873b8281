import { createHash } from "node:crypto";
import type { ToolCall, ToolResult } from "../schema/tool.ts";

/** Counts calls that come again with the same arguments and the same result. */
export type RepeatedCalls = {
  /** How often this call has now given this result in a row; 1 for a new one. */
  count(call: ToolCall, result: Pick<ToolResult, "output" | "isError">): number;
  /** Starts the count of this call again. */
  forget(call: ToolCall): void;
};

export const createRepeatedCalls = (): RepeatedCalls => {
  const seen = new Map<string, { readonly result: string; readonly times: number }>();
  return {
    count(call, result) {
      const key = callKey(call);
      const digest = hash(`${result.isError} ${result.output}`);
      const before = seen.get(key);
      const times = before?.result === digest ? before.times + 1 : 1;
      seen.set(key, { result: digest, times });
      return times;
    },
    forget: (call) => void seen.delete(callKey(call)),
  };
};

const callKey = (call: ToolCall): string => hash(`${call.name} ${canonicalJson(call.arguments)}`);

const hash = (text: string): string => createHash("sha256").update(text).digest("base64");

/** The same text for the same value, whatever the order of its keys. */
const canonicalJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    // Not JSON: the text itself is the key.
    return text;
  }
};
