import type { Answer, Ask } from "../../schema/ask.ts";
import type { ToolResult } from "../../schema/tool.ts";
import type { Strings } from "../../text/strings.ts";
import { askPerson, permissionQuestion, resolved } from "../permission-question.ts";
import type { Invocation, Tool, ToolMiddleware } from "../tool.ts";
import { findRefusal } from "./refusal.ts";
import type { Sandbox } from "./sandbox.ts";

export type OfferOutsideOptions = {
  readonly sandbox: Sandbox;
  readonly confined: Tool;
  /** The same tool without the sandbox. */
  readonly unconfined: Tool;
  /** Absent where no person can answer. */
  readonly ask: Ask | undefined;
  readonly strings: Strings["sandbox"];
};

/**
 * Explains to the model what the sandbox has refused a command, and offers the person to run the command once without.
 * The call has been allowed before it comes here. It stands before the time limit: waiting for a person is not running.
 */
export const offerOutside =
  ({ sandbox, confined, unconfined, ask, strings }: OfferOutsideOptions): ToolMiddleware =>
  async (invocation, next) => {
    const result = await next(invocation);
    if (invocation.tool !== confined || !hasFailed(result)) return result;
    const policy = sandbox.policy();
    const kind = findRefusal(result.output, policy, sandbox.name);
    if (kind === null) return result;
    const places = placesOf([strings.workDirectory, ...policy.writable.slice(1)], strings);
    const explained = withParagraph(result, strings.explained(sandbox.name, strings.refusals[kind], places));
    if (ask === undefined || invocation.context.signal.aborted) return explained;

    const reason = strings.offer(strings.refusals[kind]);
    const question = await permissionQuestion(invocation, { reason, by: "sandbox", offers: [] });
    const answer = await askPerson(invocation, question, ask);
    if (isYes(answer, invocation)) {
      resolved(invocation, { decision: "allow", by: "person" });
      return next({ ...invocation, tool: unconfined });
    }
    const feedback = "decision" in answer && answer.decision === "reject" ? (answer.feedback ?? "") : "";
    resolved(invocation, { decision: "reject", by: "person", feedback });
    return withParagraph(explained, strings.declined(feedback));
  };

/** Of a command that was stopped, nobody knows what it would have come to. */
const hasFailed = ({ data }: ToolResult): boolean =>
  data?.type === "command" && data.exitCode !== 0 && data.exitCode !== null && data.timedOut !== true;

const MAX_PLACES = 6;

const placesOf = (names: readonly string[], strings: Strings["sandbox"]): string =>
  strings.places(names.slice(0, MAX_PLACES), Math.max(0, names.length - MAX_PLACES));

const withParagraph = (result: ToolResult, text: string): ToolResult => ({
  ...result,
  output: `${result.output.trimEnd()}\n\n${text}`,
});

/** The yes is to this very command: another one would have to be judged first. */
const isYes = (answer: Answer, { call }: Invocation): boolean =>
  "decision" in answer &&
  answer.decision === "allow" &&
  (answer.arguments === undefined || answer.arguments === call.arguments);
