import type { Answer, Ask, DecidedBy, PermissionQuestion, Reviser, RuleScope } from "../schema/ask.ts";
import { argumentsDigest } from "./arguments-digest.ts";
import type { Invocation } from "./tool.ts";

/** The question about a call, with what the call would do. */
export const permissionQuestion = async (
  { call, tool, args }: Invocation,
  why: Pick<PermissionQuestion, "reason" | "by" | "rule" | "offers">,
): Promise<PermissionQuestion> => {
  const preview = await tool.preview?.(args);
  return {
    kind: "permission",
    toolCallId: call.id,
    name: call.name,
    arguments: call.arguments,
    ...(preview !== undefined && { preview }),
    ...why,
  };
};

/** Puts the question and tells of it. An abort is a dismissal, also for an `Ask` that does not look at its signal. */
export const askPerson = async (
  { context }: Invocation,
  question: PermissionQuestion,
  ask: Ask,
  reviser?: Reviser,
): Promise<Answer> => {
  const { signal } = context;
  context.emit({ type: "permission.requested", toolCallId: question.toolCallId, question });
  if (signal.aborted) return { dismissed: true };
  let onAbort = () => {};
  const aborted = new Promise<Answer>((settle) => {
    onAbort = () => settle({ dismissed: true });
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([ask(question, signal, reviser), aborted]);
  } catch (error) {
    if (signal.aborted) return { dismissed: true };
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
};

export type Resolution = {
  readonly decision: "allow" | "reject";
  readonly by: DecidedBy;
  readonly scope?: "once" | RuleScope;
  readonly rule?: string | undefined;
  readonly feedback?: string | undefined;
};

/** Tells how a call was decided, and by whom. */
export const resolved = (
  { call, context }: Pick<Invocation, "call" | "context">,
  { decision, by, scope = "once", rule, feedback = "" }: Resolution,
): void =>
  context.emit({
    type: "permission.resolved",
    toolCallId: call.id,
    name: call.name,
    decision,
    scope,
    by,
    ...(rule !== undefined && { rule }),
    ...(feedback !== "" && { feedback }),
    argumentsDigest: argumentsDigest(call),
  });
