import type { DiffScope, PastTurn } from "../../session/rewind.ts";
import { visibleControls } from "../../text/clean.ts";
import { fileDiffLines } from "../transcript/file-diff-lines.ts";
import { changeFigures, shownTurn } from "../transcript/rewind-texts.ts";
import { type CommandContext, patiently, tell } from "./command-context.ts";

/** `/diff [N|session]`: what the last turn, one by its number, or the whole session has changed. */
export const runDiff = async (argument: string, context: CommandContext): Promise<void> => {
  const { chat, strings, say, width, glyphs } = context;
  const scope = scopeOf(argument);
  const found = scope && (await patiently(chat.rewind.diff(scope), context));
  if (!found && argument !== "" && argument !== "session")
    return tell(context, strings.rewind.noSuchTurn(visibleControls(argument)), "warning");
  const { turn = null, files = [] } = found ?? {};
  if (files === null) return tell(context, strings.rewind.notKept, "warning");
  if (files.length === 0) return tell(context, strings.rewind.noDiff);
  const changes = files.map(({ change }) => change);
  tell(context, `${titleOf(turn, context)}\n${changeFigures(changes, strings.rewind)}`);
  say(fileDiffLines(files, { width: width(), glyphs, strings }));
};

const scopeOf = (argument: string): DiffScope | undefined => {
  if (argument === "") return { type: "last" };
  if (argument === "session") return { type: "session" };
  return /^[1-9]\d{0,8}$/.test(argument) ? { type: "turn", number: Number(argument) } : undefined;
};

const titleOf = (turn: PastTurn | null, { strings }: CommandContext): string =>
  turn ? strings.rewind.diffOfTurn(turn.number, shownTurn(turn)) : strings.rewind.diffOfSession;
