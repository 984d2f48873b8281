import { dirname, relative } from "node:path";
import type { Answer, Ask, DecidedBy, PermissionQuestion, RuleScope } from "../schema/ask.ts";
import type { PermissionMode } from "../schema/event.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { ArgumentError, errorResult, type Invocation, type ToolMiddleware } from "../tools/tool.ts";
import type { GuardPlaces } from "./guarded-paths.ts";
import { type CallFacts, type Decision, decide } from "./policy.ts";
import { parseRule, type Rule, type Rules, ruleForCommand } from "./rules.ts";
import { parseCommand } from "./shell-command.ts";

export type PermissionOptions = {
  /** Read at each call: the chat changes it while it runs. */
  readonly mode: () => PermissionMode;
  readonly rules: Rules;
  /** False = `--no-guard`. */
  readonly guard: boolean;
  readonly places: GuardPlaces;
  /** Whether the person trusts the folder: only there git counts as reading. */
  readonly trusted?: boolean;
  readonly strings: Strings["permission"];
  /** Absent where no person can answer: what would be asked is refused. */
  readonly ask?: Ask | undefined;
};

/**
 * Decides about each call before it runs, and asks a person where the policy says so: one question at a time, and
 * an answer for the session settles the questions that wait. It stands before the time limit: waiting is not running.
 */
export const createPermissions = (options: PermissionOptions): ToolMiddleware => {
  const { ask, places, strings } = options;
  const session: { allow: Rule[]; deny: Rule[] } = { allow: [], deny: [] };
  const inTurn = createQueue();

  const judge = async (invocation: Invocation, extra: readonly Rule[] = []): Promise<[Judgement, CallFacts]> => {
    const facts = await factsOf(invocation, places);
    return [confirmed(decideNow(facts, extra), invocation), facts];
  };

  const decideNow = (facts: CallFacts, extra: readonly Rule[]): Decision => {
    const { allow, ask: asking, deny } = options.rules;
    const rules = { allow: [...allow, ...session.allow, ...extra], ask: asking, deny: [...deny, ...session.deny] };
    return decide(facts, { ...options, mode: options.mode(), rules });
  };

  const middleware: ToolMiddleware = async (invocation, next) => {
    const [decision] = await judge(invocation);
    const settled =
      decision.decision === "ask" && ask !== undefined
        ? await inTurn(() => settle(invocation, ask))
        : settleByPolicy(invocation, decision);
    return settled.isAllowed ? next(settled.invocation) : errorResult(invocation.call, settled.output);
  };

  const settleByPolicy = (invocation: Invocation, { decision, by, rule, reason }: Judgement): Settled => {
    const isAllowed = decision === "allow";
    // A rule or a hook that asks refuses nothing by itself: it is the mode that has nobody to ask.
    const who = by === "secret" || ((by === "rule" || by === "hook") && decision === "ask") ? "mode" : by;
    resolved(invocation, { decision: isAllowed ? "allow" : "reject", by: who, rule });
    if (isAllowed) return { isAllowed, invocation };
    return { isAllowed, output: decision === "ask" ? strings.needsConfirmation(reason) : strings.denied(reason) };
  };

  const settle = async (invocation: Invocation, person: Ask): Promise<Settled> => {
    // An answer to another question may have settled this one.
    const [decision, facts] = await judge(invocation);
    if (decision.decision !== "ask") return settleByPolicy(invocation, decision);
    const question = await questionFor(invocation, decision, facts);
    invocation.context.emit({ type: "permission.requested", toolCallId: invocation.call.id, question });
    const answer = await answerOf(person, question, invocation.context.signal);
    const scope = savedScope(answer, question);
    if (!("decision" in answer) || answer.decision === "reject") {
      const feedback = "decision" in answer ? (answer.feedback ?? "") : "";
      if (scope.rule !== undefined) session.deny.push(parseRule(scope.rule, strings));
      resolved(invocation, { decision: "reject", by: "person", ...scope, ...(feedback !== "" && { feedback }) });
      return { isAllowed: false, output: strings.rejected(feedback) };
    }
    if (scope.rule !== undefined) session.allow.push(parseRule(scope.rule, strings));
    if (answer.arguments === undefined || answer.arguments === invocation.call.arguments) {
      resolved(invocation, { decision: "allow", by: "person", ...scope });
      return { isAllowed: true, invocation };
    }
    return settleChanged(changed(invocation, answer.arguments), decision, person);
  };

  /** What a person wrote passes the policy again; it is asked about again only where the guard now speaks. */
  const settleChanged = async (invocation: Invocation, before: Judgement, person: Ask): Promise<Settled> => {
    const [decision] = await judge(invocation);
    if (decision.decision === "refuse") return settleByPolicy(invocation, decision);
    if (decision.decision === "ask" && decision.by === "guard" && before.by !== "guard")
      return settle(invocation, person);
    resolved(invocation, { decision: "allow", by: "person" });
    return { isAllowed: true, invocation };
  };

  const changed = (invocation: Invocation, text: string): Invocation => ({
    ...invocation,
    call: { ...invocation.call, arguments: text },
    args: invocation.tool.parse(parseJson(text, strings)),
  });

  const questionFor = async (
    { call, tool, args }: Invocation,
    decision: Judgement,
    facts: CallFacts,
  ): Promise<PermissionQuestion> => {
    const preview = await tool.preview?.(args);
    const { by, rule, reason } = decision;
    return {
      kind: "permission",
      toolCallId: call.id,
      name: call.name,
      arguments: call.arguments,
      ...(preview !== undefined && { preview }),
      reason,
      by,
      ...(rule !== undefined && { rule }),
      offers: offersFor(decision, facts),
    };
  };

  /** The rule that would have made this call run; none where no rule may. */
  const offersFor = (decision: Judgement, facts: CallFacts): PermissionQuestion["offers"] => {
    // It would ask again.
    if (decision.by === "hook") return [];
    const rule = offeredRule(decision, facts, places);
    if (rule === undefined) return [];
    if (decideNow(facts, [parseRule(rule, strings)]).decision !== "allow") return [];
    return [
      { scope: "session", rule },
      { scope: "project", rule },
      { scope: "user", rule },
    ];
  };

  middleware.asks = async (invocation) => ask !== undefined && (await judge(invocation))[0].decision === "ask";
  return middleware;
};

/** A decision of the policy, or a hook's wish to have a person asked. */
type Judgement = Omit<Decision, "by"> & { readonly by: Decision["by"] | "hook" };

/** A question that a hook wants comes on top of what the policy allows; it lifts nothing. */
const confirmed = (decision: Decision, { confirm }: Invocation): Judgement =>
  decision.decision === "allow" && confirm !== undefined
    ? { decision: "ask", by: "hook", reason: confirm, pieces: [] }
    : decision;

type Settled =
  | { readonly isAllowed: true; readonly invocation: Invocation }
  | { readonly isAllowed: false; readonly output: string };

/** Runs one task after the other; a failed one does not hold up the next. */
const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T>): Promise<T> => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
};

/** The person's answer; an abort is a dismissal, also for an `Ask` that does not look at its signal. */
const answerOf = async (ask: Ask, question: PermissionQuestion, signal: AbortSignal): Promise<Answer> => {
  if (signal.aborted) return { dismissed: true };
  let onAbort = () => {};
  const aborted = new Promise<Answer>((settle) => {
    onAbort = () => settle({ dismissed: true });
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([ask(question, signal), aborted]);
  } catch (error) {
    if (signal.aborted) return { dismissed: true };
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
};

/** A rule counts only as it was offered; anything else is for this once. */
const savedScope = (
  answer: Answer,
  { offers }: PermissionQuestion,
): { readonly scope: "once" | RuleScope; readonly rule?: string } => {
  if (!("decision" in answer) || answer.scope === "once") return { scope: "once" };
  const offer = offers.find(({ scope, rule }) => scope === answer.scope && (answer.rule ?? rule) === rule);
  return offer ?? { scope: "once" };
};

type Resolution = {
  readonly decision: "allow" | "reject";
  readonly by: DecidedBy;
  readonly scope?: "once" | RuleScope;
  readonly rule?: string | undefined;
  readonly feedback?: string;
};

const resolved = ({ call, context }: Invocation, { decision, by, scope = "once", rule, feedback }: Resolution): void =>
  context.emit({
    type: "permission.resolved",
    toolCallId: call.id,
    name: call.name,
    decision,
    scope,
    by,
    ...(rule !== undefined && { rule }),
    ...(feedback !== undefined && { feedback }),
  });

const factsOf = async ({ tool, args }: Invocation, places: GuardPlaces): Promise<CallFacts> => {
  const values: Readonly<Record<string, unknown>> =
    typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
  const { kind, permission } = tool;
  const facts = { name: tool.definition.name, kind, permission };
  const { command, path } = values;
  if (kind === "execute" && typeof command === "string")
    return { ...facts, command: await parseCommand(command, places) };
  if ((kind === "read" || kind === "edit") && typeof path === "string") return { ...facts, path };
  return { ...facts, texts: Object.values(values).filter((value) => typeof value === "string") };
};

const parseJson = (text: string, strings: Strings["permission"]): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ArgumentError(strings.answerBroken(errorMessage(error)), {
      cause: error,
    });
  }
};

const offeredRule = (
  { pieces }: Judgement,
  { name, kind, path, command }: CallFacts,
  { workDir }: GuardPlaces,
): string | undefined => {
  if (command !== undefined) {
    const [asked, ...more] = pieces.filter(({ decision }) => decision === "ask");
    return asked === undefined || more.length > 0 ? undefined : ruleForCommand(asked.command, name);
  }
  if (path === undefined) return kind === "execute" ? undefined : name;
  const inside = relative(workDir, path.startsWith("/") ? path : `${workDir}/${path}`);
  if (inside.startsWith("..") || /[*?()]/.test(inside)) return undefined;
  const folder = dirname(inside);
  return folder === "." ? `${name}(${inside})` : `${name}(${folder}/**)`;
};
