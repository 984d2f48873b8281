import { createHash } from "node:crypto";
import type { Ask } from "../schema/ask.ts";
import type { ToolCall, ToolResult } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";

const END_AT = 5;

export type CountedCall = { readonly call: ToolCall; readonly times: number };

/** Counts calls that come again with the same arguments and the same result. */
export type RepeatedCalls = {
  /** How often this call has now given this result in a row; 1 for a new one. */
  count(call: ToolCall, result: Pick<ToolResult, "output" | "isError">): number;
  /** The count that ends the run; undefined where it goes on. A person may want that, and the count starts again. */
  endsRun(counted: readonly CountedCall[], signal: AbortSignal): Promise<number | undefined>;
};

export const createRepeatedCalls = (options: {
  readonly ask?: Ask | undefined;
  readonly strings: Strings["engine"];
}): RepeatedCalls => {
  const { ask, strings } = options;
  const seen = new Map<string, { readonly result: string; readonly times: number }>();

  const goesOn = async ({ call, times }: CountedCall, signal: AbortSignal): Promise<boolean> => {
    if (!ask) return false;
    const choices = [
      { id: "continue", label: strings.repeatedContinue },
      { id: "stop", label: strings.repeatedStop },
    ];
    const title = strings.repeatedQuestion(call.name, times);
    const answer = await ask({ kind: "choice", title, options: choices }, signal);
    return "choice" in answer && answer.choice === "continue";
  };

  return {
    count(call, result) {
      const key = callKey(call);
      const digest = hash(`${result.isError} ${result.output}`);
      const before = seen.get(key);
      const times = before?.result === digest ? before.times + 1 : 1;
      seen.set(key, { result: digest, times });
      return times;
    },
    async endsRun(counted, signal) {
      for (const one of counted) {
        if (one.times < END_AT) continue;
        if (!(await goesOn(one, signal))) return one.times;
        seen.delete(callKey(one.call));
      }
      return undefined;
    },
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
