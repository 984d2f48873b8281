import type { Command } from "commander";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";

type Part = { readonly name: string; readonly words: readonly string[] };

/**
 * A completion script for the shell, made from the program's own commands and options.
 * @throws UserError (exit 2) for a shell that is not known.
 */
export const completionScript = (shell: string, program: Command, strings: Strings["cli"]): string => {
  const parts = [
    { name: "", words: wordsOf(program) },
    ...program.commands.map((command) => ({ name: command.name(), words: wordsOf(command) })),
  ];
  switch (shell) {
    case "bash":
      return bash(parts);
    case "zsh":
      return `#compdef harness9\nautoload -Uz bashcompinit && bashcompinit\n${bash(parts)}`;
    case "fish":
      return fish(program);
    default:
      throw new UserError(strings.unknownShell(shell), { exitCode: EXIT.usage });
  }
};

const wordsOf = (command: Command): readonly string[] => [
  ...command.commands.map((sub) => sub.name()),
  ...command.options.flatMap((option) => option.long ?? []),
];

const bash = (parts: readonly Part[]): string => {
  const cases = parts
    .filter(({ name }) => name !== "")
    .map(({ name, words }) => `    ${name}) words="${words.join(" ")}" ;;`)
    .join("\n");
  const [top] = parts;
  return `_harness9() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="${top?.words.join(" ") ?? ""}"
  case "\${COMP_WORDS[1]:-}" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}
complete -F _harness9 harness9
`;
};

const fish = (program: Command): string => {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const option = (condition: string, { long, short, description }: Command["options"][number]): string =>
    `complete -c harness9 -n ${quote(condition)} -l ${long?.slice(2) ?? ""}${short ? ` -s ${short.slice(1)}` : ""} -d ${quote(description)}`;
  return [
    ...program.commands.map(
      (command) =>
        `complete -c harness9 -n '__fish_use_subcommand' -a ${command.name()} -d ${quote(command.description())}`,
    ),
    ...program.options.map((one) => option("__fish_use_subcommand", one)),
    ...program.commands.flatMap((command) =>
      command.options.map((one) => option(`__fish_seen_subcommand_from ${command.name()}`, one)),
    ),
    "",
  ].join("\n");
};
