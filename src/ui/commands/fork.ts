import { type CommandContext, tell } from "./command-context.ts";

/** `/fork`: goes on in a copy of the session. */
export const runFork = async (_argument: string, context: CommandContext): Promise<void> => {
  const { chat, strings } = context;
  if (context.isBusy()) return tell(context, strings.rewind.whileBusy, "warning");
  const { from, warnings } = await chat.rewind.fork();
  context.refresh();
  tell(context, strings.rewind.forked(chat.info().sessionId, from));
  for (const warning of warnings) tell(context, warning, "warning");
};
