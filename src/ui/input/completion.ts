import { stripControls, visibleControls } from "../../text/clean.ts";
import { type CommandDescription, type CommandName, findCommand } from "../commands/slash-commands.ts";
import { completeCommands } from "./command-completion.ts";
import { completeFiles, type FileList } from "./file-completion.ts";
import type { Rank } from "./fuzzy.ts";

/** What stands before the cursor and can be completed. `start` to `end` (UTF-16 indexes) is what a choice replaces. */
export type Completion =
  | { readonly kind: "command" | "file"; readonly query: string; readonly start: number; readonly end: number }
  | {
      readonly kind: "argument";
      readonly command: CommandName;
      readonly query: string;
      readonly start: number;
      readonly end: number;
    };

/** One row of the menu. `value` is the command's name, the path or the argument itself. */
export type CompletionItem = {
  readonly value: string;
  /** What a person sees, before it is cleaned. */
  readonly label: string;
  /** The matched characters of the label. */
  readonly positions: readonly number[];
  readonly description: string;
};

export type CompletionItems = { readonly items: readonly CompletionItem[]; readonly total: number };

export type CompletionSources = {
  readonly commands: readonly CommandDescription[];
  readonly files: FileList;
  /** What the argument of a command may be. Pass the same arrays at each key. */
  readonly arguments: Readonly<Partial<Record<CommandName, readonly string[]>>>;
};

/** What can be completed at the cursor (a UTF-16 index), if anything. */
export const completionAt = (text: string, cursor: number): Completion | undefined =>
  commandAt(text, cursor) ?? argumentAt(text, cursor) ?? fileAt(text, cursor);

const COMMAND_WORD = /^\/[A-Za-z\d:_-]*(?!\S)/;

const commandAt = (text: string, cursor: number): Completion | undefined => {
  const [word] = COMMAND_WORD.exec(text) ?? [];
  if (word === undefined || cursor < 1 || cursor > word.length) return undefined;
  return { kind: "command", query: text.slice(1, cursor), start: 0, end: word.length };
};

const argumentAt = (text: string, cursor: number): Completion | undefined => {
  const [before, name = ""] = /^\/([A-Za-z\d:-]+)[ \t]+/.exec(text) ?? [];
  const command = findCommand(name);
  if (before === undefined || command?.completesArgument !== true || cursor < before.length) return undefined;
  const query = text.slice(before.length, cursor);
  if (/\s/.test(query)) return undefined;
  const end = cursor + wordAfter(text, cursor, /^\S*/);
  return { kind: "argument", command: command.name, query, start: before.length, end };
};

// Chinese, Japanese and Korean sentences have no space before an @. Before it a Latin letter makes an e-mail address.
const WIDE = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef`;
const QUOTED = new RegExp(`(?:^|[\\s${WIDE}])(@"([^"]*))$`, "u");
const BARE = new RegExp(`(?:^|[\\s${WIDE}])(@([^\\s"]*))$`, "u");
const REST_OF_QUOTED = new RegExp(`^[^"\\n]*"(?=$|[\\s${WIDE}])`, "u");
const REST_OF_BARE = new RegExp(`^[^\\s"${WIDE}]*`, "u");

const fileAt = (text: string, cursor: number): Completion | undefined => {
  const line = text.slice(text.lastIndexOf("\n", cursor - 1) + 1, cursor);
  const quoted = QUOTED.exec(line);
  const [, typed, query] = quoted ?? BARE.exec(line) ?? [];
  if (typed === undefined || query === undefined) return undefined;
  const rest = (quoted === null ? 0 : wordAfter(text, cursor, REST_OF_QUOTED)) || wordAfter(text, cursor, REST_OF_BARE);
  return { kind: "file", query, start: cursor - typed.length, end: cursor + rest };
};

const wordAfter = (text: string, cursor: number, word: RegExp): number =>
  word.exec(text.slice(cursor))?.[0].length ?? 0;

/** The rows for a completion, best first. */
export const completionItems = (
  completion: Completion,
  { commands, files, arguments: choices }: CompletionSources,
  rank: Rank,
  limit: number,
): CompletionItems => {
  switch (completion.kind) {
    case "command": {
      const { items, total } = completeCommands(completion.query, commands, rank, limit);
      return { items: items.map(({ command, positions }) => commandItem(command, positions)), total };
    }
    case "file": {
      const { items, total } = completeFiles(completion.query, files, rank, limit);
      return {
        items: items.map(({ path, positions }) => ({ value: path, label: path, positions, description: "" })),
        total,
      };
    }
    case "argument": {
      const candidates = choices[completion.command] ?? [];
      // What is complete needs no menu, which would stand between it and Enter.
      if (candidates.includes(completion.query)) return { items: [], total: 0 };
      const { items, total } = rank(completion.query, candidates, limit);
      const item = (index: number, positions: readonly number[]): CompletionItem => {
        const value = candidates[index] ?? "";
        return { value, label: value, positions, description: "" };
      };
      return { items: items.map(({ index, positions }) => item(index, positions)), total };
    }
    default:
      return completion satisfies never;
  }
};

const commandItem = (command: CommandDescription, positions: readonly number[]): CompletionItem => ({
  value: command.name,
  label: `/${command.name}`,
  positions: positions.map((position) => position + 1),
  description: command.hint === "" ? command.description : `${command.description}  ${command.hint}`,
});

/** What replaces the text from `start` to `end`, and where the cursor stands then. */
export type CompletionEdit = {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly cursor: number;
};

/** The edit that a choice makes. After a command or a file comes a space; a folder stays open to be completed further. */
export const applyCompletion = (text: string, completion: Completion, value: string): CompletionEdit => {
  const { kind, start, end } = completion;
  switch (kind) {
    case "command":
      return spaced(text, completion, `/${value}`);
    case "file": {
      const path = insertable(value);
      const isFolder = path.endsWith("/");
      const written = /\s/.test(path) ? `@"${path}"` : `@${path}`;
      if (!isFolder) return spaced(text, completion, written);
      // Inside the quotes, so that what is typed next goes on with the path.
      const cursor = start + written.length - (written.endsWith('"') ? 1 : 0);
      return { start, end, replacement: written, cursor };
    }
    case "argument": {
      const replacement = insertable(value);
      return { start, end, replacement, cursor: start + replacement.length };
    }
    default:
      return kind satisfies never;
  }
};

/** With one space behind it, which may be there already. */
const spaced = (text: string, { start, end }: Completion, written: string): CompletionEdit => ({
  start,
  end,
  replacement: text[end] === " " ? written : `${written} `,
  cursor: start + written.length + 1,
});

/** A name with control characters in it must not act in the input; it is written as it was shown. */
const insertable = (name: string): string =>
  stripControls(name) === name && !/[\n\t]/.test(name) ? name : visibleControls(name);
