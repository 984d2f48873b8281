import { dirname, relative } from "node:path";
import type { Answer, Ask, PermissionQuestion, Revision, RuleScope } from "../schema/ask.ts";
import type { PermissionMode } from "../schema/event.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { askPerson, permissionQuestion, resolved } from "../tools/permission-question.ts";
import { ArgumentError, errorResult, type Invocation, type ToolMiddleware } from "../tools/tool.ts";
import { changeNote, withNote } from "./changed-call.ts";
import type { GuardPlaces } from "./guarded-paths.ts";
import { type CallFacts, type Decision, decide, type PolicyOptions } from "./policy.ts";
import { createReviser } from "./revise-call.ts";
import { parseRule, ruleForCommand } from "./rules.ts";
import { parseCommand } from "./shell-command.ts";

/**
 * Mode and rules are read at each call: the chat changes them while it runs. A rule that an answer keeps is put into
 * `rules` by the `ask`, before it answers.
 */
export type PermissionOptions = Omit<PolicyOptions, "mode"> & {
  readonly mode: () => PermissionMode;
  /** Absent where no person can answer: what would be asked is refused. */
  readonly ask?: Ask | undefined;
};

/**
 * Decides about each call before it runs, and asks a person where the policy says so: one question at a time, and
 * an answer that keeps a rule settles the questions that wait. It stands before the time limit: waiting is not running.
 */
export const createPermissions = (options: PermissionOptions): ToolMiddleware => {
  const { ask, places, strings } = options;
  const inTurn = createQueue();

  const judge = async (invocation: Invocation): Promise<[Judgement, CallFacts]> => {
    const facts = await factsOf(invocation, places);
    return [confirmed(decideNow(facts), invocation), facts];
  };

  const decideNow = (facts: CallFacts, { rules } = options): Decision =>
    decide(facts, { ...options, mode: options.mode(), rules });

  const middleware: ToolMiddleware = async (invocation, next) => {
    const [decision] = await judge(invocation);
    const settled =
      decision.decision === "ask" && ask !== undefined
        ? await inTurn(() => settle(invocation, ask))
        : settleByPolicy(invocation, decision);
    if (!settled.isAllowed) return errorResult(invocation.call, settled.output);
    // Without a text to change there is nothing that a person could have changed.
    if (isAsAsked(settled.invocation.call.arguments, invocation) || !invocation.tool.proposal)
      return next(settled.invocation);
    const note = await changeNote(invocation, settled.invocation, strings);
    return withNote(await next(settled.invocation), note);
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
    const question = await questionFor(invocation, decision, offersFor(decision, facts));
    // What the person was shown of a call that was changed.
    const shown = new Map<string, Judgement>();
    const reviser = createReviser(invocation, {
      change: (text) => changed(invocation, text),
      asked: (revised) => askAbout(revised, shown),
      strings,
    });
    const answer = await askPerson(invocation, question, person, reviser);
    const isChanged = "arguments" in answer && !isAsAsked(answer.arguments, invocation);
    const scope = isChanged ? { scope: "once" as const } : savedScope(answer, question);
    if (!("decision" in answer) || answer.decision === "reject") {
      const feedback = "decision" in answer ? (answer.feedback ?? "") : "";
      resolved(invocation, { decision: "reject", by: "person", ...scope, feedback });
      return { isAllowed: false, output: strings.rejected(feedback) };
    }
    if (answer.arguments === undefined || !isChanged) {
      resolved(invocation, { decision: "allow", by: "person", ...scope });
      return { isAllowed: true, invocation };
    }
    return settleChanged(changed(invocation, answer.arguments), shown.get(answer.arguments) ?? decision, person);
  };

  /** The question about what a person has made of a call. No rule is offered for it. */
  const askAbout = async (revised: Invocation, shown: Map<string, Judgement>): Promise<Revision> => {
    const [decision] = await judge(revised);
    if (decision.decision === "refuse") return { type: "problem", problem: strings.denied(decision.reason) };
    const question = await questionFor(revised, decision, []);
    shown.set(revised.call.arguments, decision);
    return { type: "question", question };
  };

  /** What a person wrote passes the policy again; it is asked about again only where the guard speaks for the first time. */
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

  const questionFor = (
    invocation: Invocation,
    { by, rule, reason }: Judgement,
    offers: PermissionQuestion["offers"],
  ): Promise<PermissionQuestion> =>
    permissionQuestion(invocation, { reason, by, ...(rule !== undefined && { rule }), offers });

  /** The rule that would have made this call run; none where no rule may. */
  const offersFor = (decision: Judgement, facts: CallFacts): PermissionQuestion["offers"] => {
    // It would ask again.
    if (decision.by === "hook") return [];
    const rule = offeredRule(decision, facts, places);
    if (rule === undefined) return [];
    const { allow, ask: asking, deny } = options.rules;
    const rules = { allow: [...allow, parseRule(rule, strings)], ask: asking, deny };
    if (decideNow(facts, { ...options, rules }).decision !== "allow") return [];
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

const isAsAsked = (text: string | undefined, { call }: Invocation): boolean =>
  text === undefined || text === call.arguments;

/** A rule counts only as it was offered; anything else is for this once. */
const savedScope = (
  answer: Answer,
  { offers }: PermissionQuestion,
): { readonly scope: "once" | RuleScope; readonly rule?: string } => {
  if (!("decision" in answer) || answer.scope === "once") return { scope: "once" };
  const offer = offers.find(({ scope, rule }) => scope === answer.scope && (answer.rule ?? rule) === rule);
  return offer ?? { scope: "once" };
};

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
