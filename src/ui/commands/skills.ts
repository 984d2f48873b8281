import type { Chat } from "../../session/chat.ts";
import { type CommandContext, tell } from "./command-context.ts";
import { findCommand, type ParsedCommand } from "./slash-commands.ts";

/** `/skills`: what there is, where it comes from, and what was found and does not count. */
export const runSkills = (_: string, context: CommandContext): void => {
  const { chat, strings } = context;
  const skills = chat.skills.list();
  const skipped = chat.skills.skipped();
  const rows = skills.flatMap(({ name, description, origin, shown }) => [
    `/${name}  (${strings.skills.origins[origin]})${findCommand(name) ? `  ${strings.skills.isCommand}` : ""}`,
    `    ${description}`,
    `    ${shown}`,
  ]);
  tell(context, rows.length === 0 ? strings.skills.none : [`${strings.skills.title}:`, ...rows].join("\n"));
  if (skipped.length === 0) return;
  tell(context, skipped.map(({ shown, reason }) => strings.skills.skipped(shown, reason)).join("\n"), "warning");
};

/** An input that calls up a skill, whose name may have an underscore, as no command has. */
export const parseSkill = (text: string, { skills }: Chat): ParsedCommand | undefined => {
  const [, name, argument = ""] = /^\/([\w-]{1,64})(?:[ \t]+([\s\S]*))?$/.exec(text.trimEnd()) ?? [];
  const isSkill = name !== undefined && skills.list().some((one) => isNamed(one.name, name));
  return isSkill ? { name, argument: argument.trim() } : undefined;
};

const isNamed = (name: string, typed: string): boolean => name.toLowerCase() === typed.toLowerCase();

/** `/name words` for a skill, letter case aside: sends its text and the words. Returns whether there is such a skill. */
export const sendSkill = ({ name, argument }: ParsedCommand, { chat, submit }: CommandContext): boolean => {
  const skill = chat.skills.list().find((one) => isNamed(one.name, name));
  if (!skill) return false;
  submit(chat.skills.message(skill.name, argument));
  return true;
};
