import { PERMISSION_MODES, type PermissionMode } from "../../schema/event.ts";
import type { ListedRule } from "../../session/chat.ts";
import { type CommandContext, confirms, tell, unknownChoice } from "./command-context.ts";

/** `/permissions`, `/permissions MODE` and `/permissions explain COMMAND`. */
export const runPermissions = async (argument: string, context: CommandContext): Promise<void> => {
  const { strings } = context;
  const [, command] = /^explain(?:\s+([\s\S]*))?$/.exec(argument) ?? [];
  if (command !== undefined) return tell(context, (await context.chat.explainCommand(command)).join("\n"));
  if (argument === "explain") return tell(context, strings.replies.explainNeedsCommand, "warning");
  if (argument === "") {
    tell(context, [...stateLines(context), strings.replies.explainHint].join("\n"));
    const picked = await pick(context);
    if (picked === undefined) return;
    if (typeof picked !== "string") return takeBack(picked, context);
    if (await changeMode(picked, context)) tell(context, strings.replies.modes[picked]);
    return;
  }
  const mode = PERMISSION_MODES.find((one) => one === argument);
  if (mode === undefined) return unknownChoice(argument, PERMISSION_MODES, context);
  if (await changeMode(mode, context)) tell(context, stateLines(context).join("\n"));
};

/** Whether it is the mode now. */
const changeMode = async (mode: PermissionMode, context: CommandContext): Promise<boolean> => {
  const { chat, strings, refresh } = context;
  const isNew = mode === "yolo" && !chat.info().modes.includes("yolo");
  if (isNew && !(await confirms(strings.replies.confirmYolo, context))) return false;
  chat.setMode(mode);
  refresh();
  return true;
};

const stateLines = ({ chat, strings }: CommandContext): readonly string[] => {
  const trusted = chat.isTrusted();
  const rules = chat.rules().map(({ list, rule, origin }) => `${list.padEnd(5)} ${rule}  (${origin})`);
  return [
    strings.replies.modes[chat.info().mode],
    ...(trusted === null ? [] : [trusted ? strings.replies.trusted : strings.replies.notTrusted]),
    ...(rules.length === 0 ? [strings.replies.noRules] : [`${strings.replies.rules}:`, ...rules]),
  ];
};

const pick = async ({
  chat,
  strings,
  choose,
  signal,
}: CommandContext): Promise<PermissionMode | ListedRule | undefined> => {
  const { replies } = strings;
  const saved = chat.rules().filter((one) => one.saved !== undefined);
  const modes = PERMISSION_MODES.map((id) => ({
    id: id as string,
    label: `${replies.modes[id]}${chat.info().mode === id ? `  ${replies.currentModel}` : ""}`,
  }));
  const rules = saved.map((one, index) => ({
    id: `rule ${index}`,
    label: replies.takeBack(one.list, one.rule, placeOf(one, replies.thisSession)),
  }));
  const title = saved.length === 0 ? replies.chooseMode : replies.chooseModeOrRule;
  const answer = await choose({ kind: "choice", title, options: [...modes, ...rules] }, signal);
  if (!("choice" in answer)) return undefined;
  return (
    PERMISSION_MODES.find((mode) => mode === answer.choice) ?? saved[rules.findIndex(({ id }) => id === answer.choice)]
  );
};

const placeOf = ({ origin, saved }: ListedRule, session: string): string => (saved === "session" ? session : origin);

const takeBack = async (rule: ListedRule, context: CommandContext): Promise<void> => {
  const { chat, strings } = context;
  const place = placeOf(rule, strings.replies.thisSession);
  if (!(await confirms(strings.replies.confirmTakeBack(rule.rule, place), context))) return;
  await chat.takeBackRule(rule);
  tell(context, strings.replies.tookBack(rule.rule));
};
