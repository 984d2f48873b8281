import type { ListedSkill } from "../../session/skills.ts";
import { nearest } from "../../text/nearest.ts";
import type { Strings } from "../../text/strings.ts";

export type CommandName = keyof Strings["commands"]["descriptions"];

export type SlashCommand = {
  readonly name: CommandName;
  readonly aliases: readonly string[];
  /** Its argument is one of a list that the chat knows. */
  readonly completesArgument: boolean;
};

const command = (name: CommandName, aliases: readonly string[] = []): SlashCommand => ({
  name,
  aliases,
  completesArgument: false,
});
const choosing = (name: CommandName): SlashCommand => ({ name, aliases: [], completesArgument: true });

/** The commands of the chat, in the order in which help lists them. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  command("help", ["?"]),
  command("clear", ["new"]),
  command("resume"),
  command("rewind"),
  command("fork"),
  command("diff"),
  choosing("model"),
  choosing("login"),
  choosing("thinking"),
  choosing("permissions"),
  command("cost"),
  command("compact"),
  command("context"),
  command("show"),
  command("copy"),
  choosing("export"),
  command("tools"),
  command("init"),
  command("memory"),
  command("skills"),
  choosing("theme"),
  command("doctor"),
  command("quit", ["exit"]),
];

/** People know these from other agents; this version does not have them. */
const LATER_COMMANDS: readonly string[] = ["mcp"];

export type ParsedCommand = { readonly name: string; readonly argument: string };

const COMMAND = /^\/([A-Za-z\d][A-Za-z\d:-]*|\?)(?:[ \t]+([\s\S]*))?$/;

/**
 * The command that an input is: `/name`, or `/name` and a space and its argument. Anything else that begins with a
 * slash (`/usr/bin/x`, `/ foo`, a name alone on the first of several lines) is ordinary text: undefined.
 */
export const parseCommand = (text: string): ParsedCommand | undefined => {
  const [matched, name = "", argument = ""] = COMMAND.exec(text.trimEnd()) ?? [];
  return matched === undefined ? undefined : { name, argument: argument.trim() };
};

/** The input without what stands behind the provider of `/login`: a key, which nobody should see again, nor a file keep. */
export const withoutKey = (text: string): string => text.replace(/^(\/login[ \t]+\S+)\s.*$/is, "$1");

/** The command of this name or alias, letter case aside. */
export const findCommand = (name: string): SlashCommand | undefined => {
  const wanted = name.toLowerCase();
  return SLASH_COMMANDS.find((one) => one.name === wanted || one.aliases.includes(wanted));
};

/** Another session, or another model for it: what is sent meanwhile waits until that is done. */
const CHANGING: readonly CommandName[] = ["clear", "compact", "resume", "rewind", "fork", "model", "login", "thinking"];

/** Whether what the next message meets depends on this command. */
export const changesSession = ({ name }: ParsedCommand): boolean =>
  CHANGING.some((one) => one === findCommand(name)?.name);

/** Names and aliases that a mistyped name may mean: those that it begins, then those within two edits. */
export const nearCommands = (name: string): string[] => {
  const names = SLASH_COMMANDS.flatMap((one) => [one.name, ...one.aliases]);
  const begun = names.filter((one) => one.startsWith(name.toLowerCase()));
  return [...new Set([...begun, ...nearest(name, names)])];
};

/** What to say about a command that does not exist. */
export const unknownCommand = (name: string, strings: Strings["commands"]): string =>
  LATER_COMMANDS.includes(name.toLowerCase())
    ? strings.notYet(`/${name}`)
    : strings.unknown(
        `/${name}`,
        nearCommands(name)
          .slice(0, 3)
          .map((near) => `/${near}`),
      );

/** A command of the chat, or a skill. */
export type CommandDescription = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly hint: string;
  readonly description: string;
};

/** The table in a person's language. `hint` is its argument as in `[name]`, or empty. */
export const describeCommands = (strings: Strings["commands"]): CommandDescription[] => {
  const hints: Readonly<Partial<Record<CommandName, string>>> = strings.hints;
  return SLASH_COMMANDS.map((one) => ({
    ...one,
    hint: hints[one.name] ?? "",
    description: strings.descriptions[one.name],
  }));
};

/** The same for skills. A command of the chat keeps its name. */
export const describeSkills = (skills: readonly ListedSkill[]): CommandDescription[] =>
  skills
    .filter(({ name }) => !findCommand(name))
    .map(({ name, description }) => ({ name, aliases: [], hint: "", description }));
