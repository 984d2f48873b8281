import type { Command } from "commander";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";

/** A command below the program; `path` as it is typed, as in `sessions export`. */
type Part = { readonly path: string; readonly command: Command };

/**
 * A completion script for the shell, made from the program's own commands and options.
 * @throws UserError (exit 2) for a shell that is not known.
 */
export const completionScript = (shell: string, program: Command, strings: Strings["cli"]): string => {
  switch (shell) {
    case "bash":
      return bash(program);
    case "zsh":
      return `#compdef harness9\nautoload -Uz bashcompinit && bashcompinit\n${bash(program)}`;
    case "fish":
      return fish(program);
    default:
      throw new UserError(strings.unknownShell(shell), { exitCode: EXIT.usage });
  }
};

/** All commands, those within others first. */
const partsOf = (command: Command, above = ""): readonly Part[] =>
  command.commands.flatMap((sub) => {
    const path = `${above}${sub.name()}`;
    return [...partsOf(sub, `${path} `), { path, command: sub }];
  });

const wordsOf = (command: Command): string =>
  [...command.commands.map((sub) => sub.name()), ...command.options.flatMap((option) => option.long ?? [])].join(" ");

const bash = (program: Command): string => {
  const parts = partsOf(program);
  const cases = parts.map(({ path, command }) => `    "${path} "*) words="${wordsOf(command)}" ;;`);
  const values = new Map(
    [program, ...parts.map(({ command }) => command)].flatMap(({ options }) =>
      options.flatMap(({ long, argChoices }) => (long && argChoices ? [[long, argChoices.join(" ")]] : [])),
    ),
  );
  const choices = [...values].map(
    ([long, words]) => `    ${long}) COMPREPLY=($(compgen -W "${words}" -- "$current")); return ;;`,
  );
  // The words before the one that is completed say which command it belongs to.
  return `_harness9() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="${wordsOf(program)}"
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${choices.join("\n")}
  esac
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}
complete -F _harness9 harness9
`;
};

const fish = (program: Command): string => {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const linesOf = (condition: string, { commands, options }: Command): readonly string[] => [
    ...commands.map(
      (sub) => `complete -c harness9 -n ${quote(condition)} -a ${sub.name()} -d ${quote(sub.description())}`,
    ),
    ...options.map(
      ({ long, short, argChoices, description }) =>
        `complete -c harness9 -n ${quote(condition)} -l ${long?.slice(2) ?? ""}${short ? ` -s ${short.slice(1)}` : ""}${argChoices ? ` -xa ${quote(argChoices.join(" "))}` : ""} -d ${quote(description)}`,
    ),
  ];
  const isBehind = (path: string): string =>
    path
      .split(" ")
      .map((name) => `__fish_seen_subcommand_from ${name}`)
      .join("; and ");
  return [
    ...linesOf("__fish_use_subcommand", program),
    ...partsOf(program).flatMap(({ path, command }) => linesOf(isBehind(path), command)),
    "",
  ].join("\n");
};
