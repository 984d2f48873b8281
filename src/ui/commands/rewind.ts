import type { PastTurn, Restored, Restores, WayBack } from "../../session/rewind.ts";
import { visibleControls } from "../../text/clean.ts";
import { changeFigures, firstWords, previewText, shownTurn } from "../transcript/rewind-texts.ts";
import { sessionUsage } from "../transcript/transcript.ts";
import { type CommandContext, patiently, tell, unknownChoice } from "./command-context.ts";
import { formatAge } from "./resume.ts";

const REDO = "redo";

/** `/rewind`: back to before a turn that is chosen, and what of it; `/rewind redo` takes that back. */
export const runRewind = async (argument: string, context: CommandContext): Promise<void> => {
  const { strings } = context;
  if (context.isBusy()) return tell(context, strings.rewind.whileBusy, "warning");
  if (argument === REDO) return redo(context);
  if (argument !== "") return unknownChoice(argument, [REDO], context);
  const turns = await patiently(context.chat.rewind.turns(), context);
  const chosen = await pickTurn(turns, context);
  if (chosen === REDO) return redo(context);
  const turn = turns.find(({ seq }) => String(seq) === chosen);
  if (!turn) return;
  const way = await patiently(context.chat.rewind.wayBack(turn), context);
  const restores = await confirmWay(way, context);
  if (restores === undefined) return;
  // It may have begun while the question stood.
  if (context.isBusy()) return tell(context, strings.rewind.whileBusy, "warning");
  const done = await patiently(way.go(restores), context);
  showNow(context);
  if (restores !== "files") context.putBack(turn.type === "shell" ? `!${turn.text}` : turn.text);
  tell(context, strings.rewind.done(shownTurn(turn), restores, done.files));
  tellKept(done, context);
};

const redo = async (context: CommandContext): Promise<void> => {
  const { chat, strings } = context;
  const last = chat.rewind.redoable();
  if (!last) return tell(context, strings.rewind.nothingToRedo, "warning");
  const done = await patiently(chat.rewind.redo(), context);
  showNow(context);
  tell(context, strings.rewind.redone(firstWords(last.text), done.restores, done.files));
  tellKept(done, context);
};

/** The context holds less, or more, from now on; what was spent is spent. */
const showNow = (context: CommandContext): void => {
  const { tokens } = context.chat.session().context?.state() ?? {};
  if (tokens !== undefined) context.settle({ ...sessionUsage(context.transcript()), contextTokens: tokens });
  context.refresh();
};

const MAX_KEPT = 10;

const tellKept = ({ kept }: Restored, context: CommandContext): void => {
  const { strings } = context;
  const told = kept.length > MAX_KEPT + 1 ? kept.slice(0, MAX_KEPT) : kept;
  for (const { path, reason } of told) tell(context, strings.rewind.kept(visibleControls(path), reason), "warning");
  if (told.length < kept.length) tell(context, strings.rewind.more(kept.length - told.length), "warning");
};

const pickTurn = async (turns: readonly PastTurn[], context: CommandContext): Promise<string | undefined> => {
  const { chat, strings, choose, signal } = context;
  const redoable = chat.rewind.redoable();
  const options = [
    ...(redoable ? [{ id: REDO, label: strings.rewind.redoEntry(firstWords(redoable.text)) }] : []),
    ...turns.map((turn) => ({ id: String(turn.seq), label: label(turn, context) })),
  ];
  if (options.length === 0) {
    tell(context, strings.rewind.nothing, "warning");
    return undefined;
  }
  const answer = await choose({ kind: "choice", title: strings.rewind.chooseTurn, options }, signal);
  return "choice" in answer ? answer.choice : undefined;
};

const label = (turn: PastTurn, { strings }: CommandContext): string => {
  const figures = changeFigures(turn.changes ?? [], strings.rewind);
  const facts = [
    `#${turn.number}`.padStart(3),
    formatAge(turn.ageMs).padStart(4),
    ...(figures === "" ? [] : [figures]),
  ];
  return `${facts.join("  ")}  ${visibleControls(shownTurn(turn))}`;
};

const RESTORES: readonly Restores[] = ["both", "conversation", "files"];

/** What is to be restored; undefined where nothing is. */
const confirmWay = async (way: WayBack, { strings, choose, signal }: CommandContext): Promise<Restores | undefined> => {
  const canRestoreFiles = way.files !== null && way.files.changes.length > 0;
  const offered = RESTORES.filter((one) => canRestoreFiles || one === "conversation");
  const options = [...offered, "cancel" as const].map((id) => ({ id, label: strings.rewind.choices[id] }));
  const title = strings.rewind.confirm(shownTurn(way.turn));
  const answer = await choose({ kind: "choice", title, text: previewText(way, strings.rewind), options }, signal);
  return "choice" in answer ? offered.find((one) => one === answer.choice) : undefined;
};
