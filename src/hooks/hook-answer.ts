import * as z from "zod";
import { cleanOutput } from "../text/clean.ts";
import type { Mask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import type { HookEvent } from "./hook.ts";
import { type HookEnd, type HookOutput, MAX_HOOK_OUTPUT_BYTES } from "./run-hook.ts";

/** What a hook said, its texts cleaned and without keys. */
export type HookAnswer =
  | {
      readonly type: "passed";
      /** For the model. */
      readonly context?: string;
      /** Why a person is to be asked. */
      readonly question?: string;
      /** Instead of the call's own; a JSON object, as the hook wrote it. */
      readonly arguments?: Readonly<Record<string, unknown>>;
      /** Text that this event has no use for. */
      readonly ignored?: string;
    }
  | { readonly type: "blocked"; readonly reason: string; readonly context?: string }
  | { readonly type: "failed"; readonly problem: string };

export type ReadOptions = {
  readonly event: HookEvent;
  readonly mask: Mask;
  readonly strings: Strings["hooks"];
};

/** Exit code that says no; the reason stands on standard error. */
const BLOCKED = 2;
const MAX_QUOTED = 400;

/** What the end of a hook's program means. Whatever is not plainly an answer is a failure. */
export const readAnswer = (end: HookEnd, timeoutMs: number, options: ReadOptions): HookAnswer => {
  const { strings } = options;
  switch (end.type) {
    case "timed-out":
      return { type: "failed", problem: strings.timedOut(timeoutMs / 1000) };
    case "cancelled":
      return { type: "failed", problem: strings.cancelled };
    case "killed":
      return { type: "failed", problem: strings.killed(end.signal) };
    case "not-started":
      return { type: "failed", problem: strings.notStarted(end.reason) };
    case "exited": {
      if (end.code === 0) return readOutput(end.stdout, options);
      const said = clean(end.stderr.text, options);
      if (end.code === BLOCKED) return { type: "blocked", reason: said || strings.noReason };
      return { type: "failed", problem: strings.exited(end.code, said.slice(0, MAX_QUOTED)) };
    }
    default:
      return end satisfies never;
  }
};

const readOutput = ({ text, isCut }: HookOutput, options: ReadOptions): HookAnswer => {
  const { event, strings } = options;
  const json = text.trim();
  const takesText = event === "session.start" || event === "prompt.submit";
  if (!json.startsWith("{")) {
    const said = clean(text, options);
    if (said === "") return { type: "passed" };
    if (takesText) return { type: "passed", context: said };
    // An answer that something else printed before, as npm does, must not be taken for none.
    if (/^\s*\{/m.test(json)) return { type: "failed", problem: strings.notAlone };
    return { type: "passed", ignored: said.slice(0, MAX_QUOTED) };
  }
  if (isCut) return { type: "failed", problem: strings.tooLong(MAX_HOOK_OUTPUT_BYTES) };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { type: "failed", problem: strings.notJson };
  }
  return readJson(value, options);
};

const readJson = (value: unknown, options: ReadOptions): HookAnswer => {
  const { event, strings } = options;
  const parsed = answerSchema().safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.map(String).join(".") || "{}"}: ${message}`,
    );
    return { type: "failed", problem: strings.notAnAnswer(clean(problems.join("; "), options)) };
  }
  const { decision = "allow", reason = "", context = "", arguments: args } = parsed.data;
  const unfit = [
    ...(event !== "tool.pre" && decision === "ask" ? ['decision "ask"'] : []),
    ...(event !== "tool.pre" && args !== undefined ? ["arguments"] : []),
    ...((event === "stop" || event === "session.end") && context !== "" ? ["context"] : []),
  ];
  if (unfit.length > 0) return { type: "failed", problem: strings.notAtThisEvent(unfit.join(", "), event) };
  const said = clean(context, options);
  const why = clean(reason, options) || strings.noReason;
  const forModel = said === "" ? {} : { context: said };
  if (decision === "block") return { type: "blocked", reason: why, ...forModel };
  return {
    type: "passed",
    ...forModel,
    ...(decision === "ask" && { question: why }),
    ...(args !== undefined && { arguments: args }),
  };
};

// Strict: a misspelt `decision` must not pass for an empty answer.
const answerSchema = () =>
  z.strictObject({
    decision: z.enum(["allow", "block", "ask"]).optional(),
    reason: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    context: z.string().optional(),
  });

const clean = (text: string, { mask }: ReadOptions): string => mask(cleanOutput(text)).trim();
