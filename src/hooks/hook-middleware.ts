import type { ToolResult } from "../schema/tool.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Mask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import { headBytes } from "../text/utf8.ts";
import { resolved } from "../tools/permission-question.ts";
import { errorResult, type Invocation, type Next, type ToolContext, type ToolMiddleware } from "../tools/tool.ts";
import type { Hooks, Occasion, Verdict } from "./hooks.ts";

export type HookCallsOptions = {
  readonly hooks: Hooks;
  /** Decide after the hooks, about what these have made of the call. */
  readonly permissions: ToolMiddleware;
  /** Hides the values of known keys in the results that hooks get. */
  readonly mask: Mask;
  readonly strings: Strings["hooks"];
};

const MAX_NOTED_BYTES = 2000;

/**
 * Hooks around the permissions: `tool.pre` may block a call, change its arguments or have a person asked; then the
 * permissions decide; `tool.post` hears of what ran. Context goes to the end of the observation, since nothing may
 * stand between a call and its observation. What a person changes at a question passes `tool.pre` again.
 */
export const hookCalls = ({ hooks, permissions, mask, strings }: HookCallsOptions): ToolMiddleware => {
  const middleware: ToolMiddleware = async (invocation, next) => {
    const { context } = invocation;
    const before = await hooks.run(beforeCall(invocation), context);
    const notes = [...before.context];
    if (before.type === "blocked") return withNotes(refuse(invocation, before, strings), notes, context);

    const passed = changedBy(before, invocation, strings);
    // The model and the person see the call as it was asked for.
    if (before.arguments !== undefined) notes.push(changeNote(before.arguments));
    const decided: Next = async (allowed) => {
      const again = await personsChange(allowed, passed);
      notes.push(...(again?.context ?? []));
      if (again?.type === "blocked") return refuse(allowed, again, strings);
      const result = await next(allowed);
      if (!context.signal.aborted) notes.push(...(await afterCall(allowed, result)));
      return result;
    };
    return withNotes(await permissions(passed, decided), notes, context);
  };

  const changeNote = (changed: object): string =>
    strings.context("tool.pre", strings.changedArguments(headBytes(mask(JSON.stringify(changed)), MAX_NOTED_BYTES)));

  const personsChange = async (allowed: Invocation, passed: Invocation): Promise<Verdict | undefined> => {
    if (allowed.call.arguments === passed.call.arguments) return undefined;
    const verdict = await hooks.run(beforeCall(allowed), allowed.context);
    // A question has just been answered; but what runs is what the person saw, or nothing.
    if (verdict.type === "blocked" || verdict.arguments === undefined) return verdict;
    return { type: "blocked", context: verdict.context, reason: strings.wouldChangeAnswer, hook: "tool.pre" };
  };

  const afterCall = async (invocation: Invocation, { output, isError }: ToolResult): Promise<readonly string[]> => {
    const result = { output: mask(output), isError };
    const verdict = await hooks.run(occasionOf("tool.post", invocation, { result }), invocation.context);
    if (verdict.type === "passed" || invocation.context.signal.aborted) return verdict.context;
    // It has run: all that a no can do is to tell the model.
    return [...verdict.context, strings.context("tool.post", verdict.reason)];
  };

  middleware.asks = (invocation) => permissions.asks?.(invocation) ?? false;
  return middleware;
};

const occasionOf = (
  event: "tool.pre" | "tool.post",
  { call }: Invocation,
  details: Readonly<Record<string, unknown>> = {},
): Occasion => ({
  event,
  tool: call.name,
  arguments: JSON.parse(call.arguments) as Readonly<Record<string, unknown>>, // the registry has parsed it
  details: { toolCallId: call.id, ...details },
});

const beforeCall = (invocation: Invocation): Occasion => ({
  ...occasionOf("tool.pre", invocation),
  problemWith: (changed) => {
    try {
      invocation.tool.parse(changed);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  },
});

const changedBy = (
  { question, arguments: changed }: Verdict & { readonly type: "passed" },
  invocation: Invocation,
  strings: Strings["hooks"],
): Invocation => {
  return {
    ...invocation,
    ...(question !== undefined && { confirm: strings.asks(question) }),
    ...(changed !== undefined && {
      call: { ...invocation.call, arguments: JSON.stringify(changed) },
      args: invocation.tool.parse(changed),
    }),
  };
};

const refuse = (
  { call, context }: Invocation,
  { reason, hook }: Verdict & { readonly type: "blocked" },
  strings: Strings["hooks"],
): ToolResult => {
  if (context.signal.aborted) return errorResult(call, reason);
  resolved({ call, context }, { decision: "reject", by: "hook" });
  return errorResult(call, strings.denied(hook, reason));
};

const withNotes = (result: ToolResult, notes: readonly string[], { emit }: ToolContext): ToolResult => {
  if (notes.length === 0) return result;
  const content = notes.join("\n\n");
  emit({ type: "input.added", content, source: "hook" });
  return { ...result, output: result.output === "" ? content : `${result.output}\n\n${content}` };
};
