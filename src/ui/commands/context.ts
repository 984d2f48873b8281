import { contextBreakdown, contextLines } from "../transcript/context-lines.ts";
import type { CommandContext } from "./command-context.ts";

/** `/context`: what fills the context, and where it is compacted. */
export const runContext = (_: string, { say, chat, width, glyphs, strings }: CommandContext): void => {
  const session = chat.session();
  const { messages } = session;
  const state = session.context?.state() ?? {
    messages,
    summary: null,
    tokens: null,
    isMeasured: false,
    window: chat.info().contextWindow,
    compactsAt: null,
  };
  const breakdown = contextBreakdown(state, chat.tools(), chat.promptParts());
  say(contextLines(breakdown, { width: width(), glyphs, strings: strings.commands }));
};
