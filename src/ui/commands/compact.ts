import type { SessionContext } from "../../session/session-context.ts";
import { formatTokens } from "../figures.ts";
import { sessionUsage } from "../transcript/transcript.ts";
import { type CommandContext, patiently, tell } from "./command-context.ts";

/** `/compact [focus]`, `/compact undo` and `/compact edit`. */
export const runCompact = async (argument: string, context: CommandContext): Promise<void> => {
  const { chat, isBusy } = context;
  const strings = context.strings.compaction;
  const { context: session } = chat.session();
  if (isBusy()) return tell(context, strings.whileBusy, "warning");
  if (!session || chat.info().isOffline) return tell(context, strings.nothing, "warning");
  if (argument === "undo") return undo(session, context);
  if (argument === "edit") return edit(session, context);
  const focus = argument === "" ? undefined : argument;
  const compacting = context.work((signal) => session.compact({ focus }, signal, context.take));
  const done = await patiently(compacting, context, strings.working);
  switch (done.type) {
    case "useless":
      return tell(context, done.failure === undefined ? strings.nothing : strings.failed(done.failure), "warning");
    case "cancelled":
      return tell(context, strings.cancelled, "warning");
    case "compacted": {
      const { summary } = done.compaction;
      if (summary === undefined || done.failure !== undefined) return;
      tell(context, `${strings.summary}\n\n${summary}`);
      return offer(session, context);
    }
    default:
      done satisfies never;
  }
};

/** What a person can do with a summary that they have just read. */
const offer = async (session: SessionContext, context: CommandContext): Promise<void> => {
  const strings = context.strings.compaction;
  const options = [
    { id: "keep", label: strings.keep },
    { id: "edit", label: strings.edit },
    { id: "undo", label: strings.undo },
  ];
  const answer = await context.choose({ kind: "choice", title: strings.question, options }, context.signal);
  if (!("choice" in answer)) return;
  if (answer.choice === "undo") undo(session, context);
  if (answer.choice === "edit") await edit(session, context);
};

const undo = (session: SessionContext, context: CommandContext): void => {
  if (!session.undo(context.take)) tell(context, context.strings.compaction.nothingToUndo, "warning");
};

const edit = async (session: SessionContext, context: CommandContext): Promise<void> => {
  const strings = context.strings.compaction;
  const summary = session.compaction()?.summary;
  if (summary === undefined) return tell(context, strings.nothingToEdit, "warning");
  const text = (await context.changeText(summary))?.trim();
  if (text === undefined || text === summary.trim()) return tell(context, strings.unchanged);
  // Who empties it wants none of it.
  if (text === "") return undo(session, context);
  // Its event tells of a compaction, and the person has made none.
  session.rewrite(text, () => undefined);
  const { tokens } = session.state();
  context.settle({ ...sessionUsage(context.transcript()), contextTokens: tokens });
  tell(context, strings.changed(formatTokens(tokens)));
};
