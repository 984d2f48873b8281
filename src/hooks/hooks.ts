import { isDeepStrictEqual } from "node:util";
import type { Emit } from "../schema/event.ts";
import type { Mask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import { failureBlocks, firstLine, type Hook, type HookEvent, isForTool, timeoutMsOf } from "./hook.ts";
import { readAnswer } from "./hook-answer.ts";
import type { HookRunner } from "./run-hook.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Something that hooks hear of. */
export type Occasion = {
  readonly event: HookEvent;
  /** Which tool; for the events of tools. */
  readonly tool?: string;
  /** What the hooks get beside event, session and work directory. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The call's arguments; each hook gets what the one before has made of them. */
  readonly arguments?: Arguments;
  /** Why the tool cannot take arguments that a hook has changed; undefined where it can. */
  readonly problemWith?: (changed: Arguments) => string | undefined;
};

/** What all hooks of an occasion came to. `context` is for the model. */
export type Verdict =
  | {
      readonly type: "passed";
      readonly context: readonly string[];
      /** Why a person is to be asked. */
      readonly question?: string;
      /** Where a hook has changed them. */
      readonly arguments?: Arguments;
    }
  | {
      readonly type: "blocked";
      readonly context: readonly string[];
      /** The hook's own words. */
      readonly reason: string;
      /** The hook, as a person knows it again. */
      readonly hook: string;
    };

export type HookContext = { readonly emit: Emit; readonly signal: AbortSignal };

export type Hooks = {
  /** Runs the event's hooks in order; a block stops the rest. What fails is told of as a notice. Never throws. */
  run(occasion: Occasion, context: HookContext): Promise<Verdict>;
};

export type HooksOptions = {
  readonly hooks: readonly Hook[];
  readonly runner: HookRunner;
  readonly session: { readonly id: string; readonly workDir: string };
  readonly mask: Mask;
  readonly strings: Strings["hooks"];
};

export const createHooks = ({ hooks, runner, session, mask, strings }: HooksOptions): Hooks => {
  const isFor = (hook: Hook, { event, tool }: Occasion): boolean =>
    hook.on === event && (tool === undefined || isForTool(hook, tool));

  const run = async (occasion: Occasion, { emit, signal }: HookContext): Promise<Verdict> => {
    const { event, tool, details } = occasion;
    const warn = (text: string): void => emit({ type: "notice", level: "warning", text: mask(text) });
    const context: string[] = [];
    let question: string | undefined;
    let changed: Arguments | undefined;

    for (const hook of hooks.filter((one) => isFor(one, occasion))) {
      const name = firstLine(hook.command);
      const args = changed ?? occasion.arguments;
      const input = {
        event,
        sessionId: session.id,
        workDir: session.workDir,
        ...(tool !== undefined && { tool }),
        ...(args !== undefined && { arguments: args }),
        ...details,
      };
      const timeoutMs = timeoutMsOf(hook);
      const end = await runner.run({ command: hook.command, input, timeoutMs, signal });
      // Whoever cancels needs no notice of it, and nothing goes on.
      if (signal.aborted) return { type: "blocked", context, reason: strings.cancelled, hook: name };
      const answer = checkArguments(readAnswer(end, timeoutMs, { event, mask, strings }), occasion, strings);

      if (answer.type === "failed") {
        const blocks = failureBlocks(hook) && event !== "session.end";
        warn(strings.failed(event, name, answer.problem, blocks));
        if (blocks) return { type: "blocked", context, reason: strings.couldNotDecide(answer.problem), hook: name };
        continue;
      }
      if (answer.context !== undefined) context.push(strings.context(event, answer.context));
      if (answer.type === "blocked") return { type: "blocked", context, reason: answer.reason, hook: name };
      if (answer.ignored !== undefined) warn(strings.ignoredText(event, name, answer.ignored));
      question ??= answer.question;
      // One that gives back what it got has changed nothing.
      if (answer.arguments !== undefined && !isDeepStrictEqual(answer.arguments, args)) changed = answer.arguments;
    }
    return {
      type: "passed",
      context,
      ...(question !== undefined && { question }),
      ...(changed !== undefined && { arguments: changed }),
    };
  };
  return { run };
};

type Answer = ReturnType<typeof readAnswer>;

const checkArguments = (answer: Answer, { problemWith }: Occasion, strings: Strings["hooks"]): Answer => {
  if (answer.type !== "passed" || answer.arguments === undefined) return answer;
  const problem = problemWith?.(answer.arguments);
  return problem === undefined ? answer : { type: "failed", problem: strings.badArguments(problem) };
};
