import type { GuardPlaces } from "./guarded-paths.ts";
import { type Arguments, type Program, readArguments } from "./read-only-arguments.ts";
import { type GitLook, readGit } from "./read-only-git.ts";
import { mayRead, type Use } from "./read-only-paths.ts";
import { PROGRAMS } from "./read-only-programs.ts";
import { findOperands, printsOnly, testOperands, VERSION_IN_FOLDER, VERSION_OF } from "./read-only-words.ts";
import { looksSecret, secretIn } from "./secrets.ts";
import { isLiteral, literalWord, type Word } from "./shell-word.ts";
import type { RedirectTarget, SimpleCommand } from "./simple-command.ts";

export type ReadOnlyOptions = {
  readonly places: GuardPlaces;
  /** Whether the folder's own settings may run programs, as git's do. */
  readonly trusted: boolean;
  /** Whether git, started in the work directory itself, runs nothing but itself; asked only where it matters. */
  readonly plainRepository?: (() => boolean) | undefined;
  /** Whether files that look like keys or passwords may be among those it looks at; another question is asked about them. */
  readonly secrets?: boolean;
};

/**
 * Whether a command only looks, at what may be looked at: program and options are on the list, and every path is inside
 * the work directory, links followed, and no secret. Reads the disk to see where paths lead; runs nothing.
 */
export const isReadOnly = (command: SimpleCommand, options: ReadOnlyOptions): boolean => {
  const { places, secrets = false } = options;
  if (command.assigned.length > 0 || command.inFunctions.length > 0) return false;
  if (!command.outer.every(isSeeThrough)) return false;
  if (!command.redirects.every((redirect) => isHarmlessRedirect(redirect, command, options))) return false;
  if (!secrets && secretIn(command, places.homeDir) !== undefined) return false;
  const [first, ...rest] = command.words;
  // A redirect around a group; what is in the group is judged by itself.
  if (first === undefined) return true;
  if (!isLiteral(first) || !rest.every(({ text, runs }) => text !== null && runs.length === 0)) return false;
  const looks = looksOf(first.text.replace(/^\/(usr\/)?bin\//, ""), rest, command, options);
  return looks?.every(({ word, use }) => mayRead(word, command, useOf(word, use, secrets), places)) ?? false;
};

/** Where another question is asked about the secret, its file is as good as any other. */
const useOf = ({ text }: Word, use: Use, secrets: boolean): Use =>
  secrets && (use === "text" || looksSecret(text ?? "")) ? "name" : use;

/** A wrapper that changes nothing in what it runs. */
const isSeeThrough = (words: readonly Word[]): boolean => {
  const [name, option] = words.map(({ text }) => text);
  if (name === "bash" || name === "sh") return words.length === 3 && option === "-c";
  return typeof name === "string" && SEE_THROUGH.has(name);
};

const SEE_THROUGH: ReadonlySet<string> = new Set([
  "timeout",
  "gtimeout",
  "nice",
  "time",
  "stdbuf",
  "command",
  "builtin",
]);

const isHarmlessRedirect = (
  { operator, target }: RedirectTarget,
  command: SimpleCommand,
  { places, secrets = false }: ReadOnlyOptions,
): boolean => {
  if (!isLiteral(target)) return false;
  if (operator === ">&" || operator === "<&") return /^(\d+-?|-)$/.test(target.text);
  if (target.text === "/dev/null") return operator !== "<>";
  return operator === "<" && mayRead(target, command, useOf(target, "text", secrets), places);
};

type Look = { readonly word: Word; readonly use: Use };

/** The paths that the command looks at; null where it is not on the list. */
const looksOf = (
  name: string,
  rest: readonly Word[],
  command: SimpleCommand,
  options: ReadOnlyOptions,
): readonly Look[] | null => {
  const { trusted } = options;
  const [first] = rest;
  if (rest.length === 1 && isLiteral(first)) {
    if (asks(VERSION_OF, name, first.text) || (trusted && asks(VERSION_IN_FOLDER, name, first.text))) return [];
    if (Object.hasOwn(PROGRAMS, name) && /^--(version|help)$/.test(first.text)) return [];
  }
  if (name === "echo" || name === "printf") return printsOnly(name, rest) ? globsIn(rest) : null;
  if (name === "test" || name === "[") return testOperands(rest)?.map((word) => ({ word, use: "name" })) ?? null;
  if (name === "find") return findOperands(rest)?.map((word) => ({ word, use: "name" })) ?? null;
  if (name === "git") {
    const git = readGit(rest);
    return git !== null && mayRunGit(git, command, options) ? looksAt(git.given, git.program, "text") : null;
  }
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  const given = program === undefined ? null : readArguments(rest, program);
  if (program === undefined || given === null) return null;
  if (NAMES_ONLY.has(name)) return looksAt(given, program, "name");
  return looksAt(given, program, program.readsFolders?.(given.options) ? "folder" : "text");
};

/** Elsewhere than in the work directory another repository may lie, with settings of its own. */
const mayRunGit = (
  { isMoved }: GitLook,
  { directories }: SimpleCommand,
  { trusted, plainRepository, places }: ReadOnlyOptions,
): boolean => {
  if (trusted) return true;
  return !isMoved && directories.every((directory) => directory === places.workDir) && plainRepository?.() === true;
};

const asks = (table: Readonly<Record<string, RegExp>>, name: string, text: string): boolean =>
  Object.hasOwn(table, name) && table[name]?.test(text) === true;

/** They tell of a file that it is there, and how large, not what it holds. */
const NAMES_ONLY: ReadonlySet<string> = new Set("ls stat du df tree cd fd fdfind realpath readlink".split(" "));

const looksAt = (given: Arguments, program: Program, use: Use): readonly Look[] | null => {
  const { operands, files, options } = given;
  if (program.max !== undefined && (operands.length > program.max || operands.some(({ glob }) => glob))) return null;
  if (program.accepts && !program.accepts(given)) return null;
  const asLooks = (list: readonly Word[]): Look[] => list.map((word) => ({ word, use }));
  // Without an operand a search through folders begins where it is.
  const paths = (list: readonly Word[]) =>
    asLooks([...(list.length === 0 && use === "folder" ? [literalWord(".")] : list), ...files]);
  switch (program.operands) {
    case undefined:
      return paths(operands);
    case "text":
      return [...globsIn(operands), ...paths([])];
    case "pattern": {
      const isGiven = program.patternFrom?.some((option) => options.has(option)) ?? false;
      const pattern = isGiven ? [] : operands.slice(0, 1);
      return [...globsIn(pattern), ...paths(operands.slice(pattern.length))];
    }
    default:
      return program.operands satisfies never;
  }
};

/** The shell looks for what a glob matches, whatever the program makes of it. */
const globsIn = (list: readonly Word[]): readonly Look[] =>
  list.filter(({ glob }) => glob).map((word) => ({ word, use: "name" }));
