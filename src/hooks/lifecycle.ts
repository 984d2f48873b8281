import type { Strings } from "../text/strings.ts";
import { firstLine } from "./hook.ts";
import type { HookContext, Hooks } from "./hooks.ts";

/** How often `stop` hooks may send the model back in one run. */
export const MAX_SENT_BACK = 3;

type FromHook = { readonly content: string; readonly source: "hook" };

type Admission<Input> =
  | { readonly type: "admitted"; readonly inputs: readonly (Input | FromHook)[] }
  | { readonly type: "blocked"; readonly reason: string };

/** The hooks of a session's life, as the functions that the session takes. */
export type HookLifecycle = {
  started(context: HookContext): Promise<Admission<FromHook>>;
  prompted<Input extends { readonly content: string }>(input: Input, context: HookContext): Promise<Admission<Input>>;
  /** Made anew for each run. */
  stopping(): (answer: string, context: HookContext) => Promise<FromHook | undefined>;
  /** Only after `started`. There are no events any more: notices are told of otherwise. */
  ended(tell: (text: string) => void): Promise<void>;
};

export const createHookLifecycle = (hooks: Hooks, strings: Strings["hooks"]): HookLifecycle => {
  let isOpen = false;
  return {
    started: async (context) => {
      const verdict = await hooks.run({ event: "session.start" }, context);
      if (verdict.type === "blocked") return { type: "blocked", reason: strings.sessionRefused(verdict.reason) };
      isOpen = true;
      return { type: "admitted", inputs: verdict.context.map(fromHook) };
    },
    prompted: async (input, context) => {
      const verdict = await hooks.run({ event: "prompt.submit", details: { prompt: input.content } }, context);
      if (verdict.type === "blocked")
        return { type: "blocked", reason: strings.promptRefused(firstLine(input.content), verdict.reason) };
      return { type: "admitted", inputs: [input, ...verdict.context.map(fromHook)] };
    },
    stopping: () => {
      let sentBack = 0;
      return async (answer, context) => {
        if (sentBack >= MAX_SENT_BACK) return undefined;
        const verdict = await hooks.run({ event: "stop", details: { answer, sentBack } }, context);
        if (verdict.type === "passed" || context.signal.aborted) return undefined;
        sentBack += 1;
        if (sentBack === MAX_SENT_BACK)
          context.emit({ type: "notice", level: "warning", text: strings.lastSentBack(sentBack) });
        return fromHook(strings.context("stop", verdict.reason));
      };
    },
    ended: async (tell) => {
      if (!isOpen) return;
      isOpen = false;
      const emit: HookContext["emit"] = (event) => {
        if (event.type === "notice") tell(event.text);
      };
      await hooks.run({ event: "session.end" }, { emit, signal: new AbortController().signal });
    },
  };
};

const fromHook = (content: string): FromHook => ({ content, source: "hook" });
