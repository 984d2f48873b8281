import type { CommandDescription } from "../commands/slash-commands.ts";
import type { Rank } from "./fuzzy.ts";

export type CommandMatch = { readonly command: CommandDescription; readonly positions: readonly number[] };

export type CommandMatches = { readonly items: readonly CommandMatch[]; readonly total: number };

/** The commands that match by name or alias: those that the query begins, then the rest, best first; each once. */
export const completeCommands = (
  query: string,
  commands: readonly CommandDescription[],
  rank: Rank,
  limit: number,
): CommandMatches => {
  const wanted = query.toLowerCase();
  const entries = commands.flatMap((command) => [
    { command, text: command.name as string, isAlias: false },
    // An empty query lists each command in the table's order; aliases would only repeat them.
    ...(wanted === "" ? [] : command.aliases.map((text) => ({ command, text, isAlias: true }))),
  ]);
  const ranked = rank(
    wanted,
    entries.map(({ text }) => text),
    entries.length,
  ).items;
  const found = ranked.flatMap(({ index, positions }) => {
    const entry = entries[index];
    return entry === undefined ? [] : [{ ...entry, positions }];
  });
  const begun = found.filter(({ text }) => text.startsWith(wanted));
  const matches = new Map<string, CommandMatch>();
  for (const { command, isAlias, positions } of [...begun, ...found]) {
    if (!matches.has(command.name)) matches.set(command.name, { command, positions: isAlias ? [] : positions });
  }
  return { items: [...matches.values()].slice(0, limit), total: matches.size };
};
