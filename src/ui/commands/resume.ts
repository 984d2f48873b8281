import { contextTokens } from "../../schema/model.ts";
import type { PastSession } from "../../session/chat.ts";
import { visibleControls } from "../../text/clean.ts";
import { formatCost, formatTokens } from "../figures.ts";
import { type CommandContext, tell } from "./command-context.ts";

/** `/resume [ID]`: goes on with another session of this folder. */
export const runResume = async (argument: string, context: CommandContext): Promise<void> => {
  const { chat, strings } = context;
  if (context.isBusy()) return tell(context, strings.replies.clearWhileBusy, "warning");
  const id = argument === "" ? await pick(context) : argument;
  if (id === undefined) return;
  const warnings = await chat.resume(id);
  context.restart();
  context.refresh();
  context.showPast();
  for (const warning of warnings) tell(context, warning, "warning");
};

const pick = async (context: CommandContext): Promise<string | undefined> => {
  const { chat, strings, choose, signal } = context;
  const sessions = await chat.listSessions();
  if (sessions.length === 0) {
    tell(context, strings.sessions.nothingToContinue, "warning");
    return undefined;
  }
  const options = sessions.map((session) => ({ id: session.id, label: label(session, context) }));
  const answer = await choose({ kind: "choice", title: strings.sessions.chooseSession, options }, signal);
  return "choice" in answer ? answer.choice : undefined;
};

const label = ({ prompt, ageMs, usage, costUsd }: PastSession, { strings }: CommandContext): string => {
  const facts = [
    formatAge(ageMs).padStart(4),
    strings.sessions.tokens(formatTokens(contextTokens(usage)).padStart(5)),
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
  ];
  return `${facts.join("  ")}  ${visibleControls(prompt)}`;
};

const MINUTE_MS = 60_000;

/** In the largest unit that fits: `5 m`, `2 h`, `3 d`. */
export const formatAge = (ms: number): string => {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes} m`;
  return minutes < 1440 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
};
