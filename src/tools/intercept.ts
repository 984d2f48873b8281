import type { ToolResult } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import { errorResult, type Invocation, type ToolMiddleware } from "./tool.ts";

export type Interceptor = {
  /** Names the rule that refuses the call, or lets it pass by returning nothing. */
  readonly before?: (invocation: Invocation) => string | undefined | Promise<string | undefined>;
  /** Sees, and may replace, the result of a call that was not refused here. */
  readonly after?: (invocation: Invocation, result: ToolResult) => ToolResult | Promise<ToolResult>;
};

/** A middleware from a before and an after: the two-method interceptor of the founding documents. */
export const intercept = ({ before, after }: Interceptor, strings: Strings["permission"]): ToolMiddleware => {
  return async (invocation, next) => {
    const rule = await before?.(invocation);
    if (rule !== undefined) return errorResult(invocation.call, strings.denied(rule));
    const result = await next(invocation);
    return after ? after(invocation, result) : result;
  };
};
