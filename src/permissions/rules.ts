import { basename } from "node:path";
import type { Strings } from "../text/strings.ts";
import { gitCommand } from "./git-command.ts";
import { pathMatches, segmentMatches } from "./glob.ts";
import { isLiteral, literalWord, type Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";

/** `tool` or `tool(pattern)`. */
export type Rule = {
  /** As it was written. */
  readonly text: string;
  /** A tool's name; `*` stands for any characters. */
  readonly tool: string;
  readonly pattern?: string;
  /** The pattern as words of a command: exact, or the beginning where it ended in `:*` or ` *`. */
  readonly command?: { readonly words: readonly string[]; readonly isPrefix: boolean };
};

export type Rules = { readonly allow: readonly Rule[]; readonly ask: readonly Rule[]; readonly deny: readonly Rule[] };

/**
 * Reads a rule.
 * @throws Error that names the rule and what is wrong with it.
 */
export const parseRule = (text: string, strings: Strings["permission"]): Rule => {
  const broken = (problem: string) => new Error(strings.ruleBroken(text, problem));
  const [, tool, pattern] = /^\s*([\w*-]+)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? [];
  if (tool === undefined || pattern?.trim() === "") throw broken(strings.ruleShape);
  if (pattern === undefined) return { text: text.trim(), tool };
  const trimmed = pattern.trim();
  if (!segmentMatches(tool, "bash")) return { text: text.trim(), tool, pattern: trimmed };
  const isPrefix = trimmed.endsWith(":*") || /(^|\s)\*$/.test(trimmed);
  const words = splitWords(isPrefix ? trimmed.replace(/:?\*$/, "") : trimmed);
  if (words === "quote") throw broken(strings.ruleQuote);
  if (words === "operator") throw broken(strings.ruleOneCommand);
  if (words.length === 0 && trimmed !== "*") throw broken(strings.ruleShape);
  return { text: text.trim(), tool, pattern: trimmed, command: { words, isPrefix } };
};

/** What a broken rule that asks or denies counts as: the whole tool that it begins with, or every tool. */
export const wholeToolRule = (text: string): Rule => ({
  text: text.trim(),
  tool: /^\s*([\w*-]+)\s*(?:\(|$)/.exec(text)?.[1] ?? "*",
});

const splitWords = (text: string): string[] | "quote" | "operator" => {
  const words: string[] = [];
  let rest = text.trim();
  let word: string | undefined;
  while (rest !== "") {
    const [all = "", single, double, escaped, blank, plain] =
      /^(?:'([^']*)'|"((?:[^"\\$`]|\\.)*)"|\\(.)|(\s+)|([^\s'"\\;|&<>$`]+))/s.exec(rest) ?? [];
    if (all === "") return /^['"]/.test(rest) ? "quote" : "operator";
    if (blank !== undefined && /[\n\r]/.test(blank)) return "operator";
    if (blank === undefined)
      word = (word ?? "") + (single ?? double?.replace(/\\(.)/g, "$1") ?? escaped ?? plain ?? "");
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
    rest = rest.slice(all.length);
  }
  return word === undefined ? words : [...words, word];
};

export const isForTool = (rule: Rule, name: string): boolean => segmentMatches(rule.tool, name);

/** Whether the rule's path pattern (relative to the work directory, absolute or `~/…`) matches the absolute path. */
export const matchesPath = (
  { pattern }: Rule,
  path: string,
  { workDir, homeDir }: { readonly workDir: string; readonly homeDir: string },
): boolean => {
  if (pattern === undefined) return true;
  const whole = pattern.endsWith("/") ? `${pattern}**` : pattern;
  if (whole.startsWith("/")) return pathMatches(whole, path);
  if (whole.startsWith("~/")) return pathMatches(homeDir + whole.slice(1), path);
  return pathMatches(`${workDir}/${whole.replace(/^(\.\/)+/, "")}`, path);
};

/** Whether an allow rule covers the whole command: name, arguments, and the wrappers that raise its rights. */
export const allowsCommand = (rule: Rule, command: SimpleCommand): boolean => {
  if (rule.pattern === undefined) return true;
  if (!command.assigned.every(isHarmlessVariable)) return false;
  const raised = command.outer.filter(([first]) => RAISES_RIGHTS.has(basename(first?.text ?? "")));
  const [whole] = raised;
  return (
    matchesWords(rule, whole ?? command.words, isSame) ||
    command.outer.some((words) => matchesWords(rule, words, isSame))
  );
};

/** Whether a deny or ask rule hits the command: surely, perhaps (a word that is not literal), or not. */
export const hitsCommand = (rule: Rule, command: SimpleCommand): "yes" | "perhaps" | "no" => {
  if (rule.pattern === undefined) return "yes";
  const spellings = [command.words, ...command.outer].flatMap((words) => [words, ...plainSpellings(words)]);
  if (spellings.some((words) => matchesWords(rule, words, isSame))) return "yes";
  return spellings.some((words) => matchesWords(rule, words, mayBeSame)) ? "perhaps" : "no";
};

/** The same command by its plain name: `/bin/rm` is rm, `git -C x push` is git push. */
const plainSpellings = (words: readonly Word[]): (readonly Word[])[] => {
  const [first, ...rest] = words;
  if (!isLiteral(first)) return [];
  const named = [literalWord(basename(first.text)), ...rest];
  if (basename(first.text) !== "git") return [named];
  const { subcommand, rest: after } = gitCommand(words);
  return subcommand ? [named, [literalWord("git"), literalWord(subcommand), ...after]] : [named];
};

const matchesWords = (
  { command }: Rule,
  words: readonly Word[],
  isMatch: (pattern: string, word: Word) => boolean,
): boolean => {
  if (command === undefined || words.length === 0) return false;
  if (command.isPrefix ? words.length < command.words.length : words.length !== command.words.length) return false;
  return command.words.every((pattern, index) => {
    const word = words[index];
    return word !== undefined && isMatch(pattern, word);
  });
};

const isSame = (pattern: string, word: Word): boolean =>
  word.text !== null && (wordMatches(pattern, word.text) || pattern === word.source);

const mayBeSame = (pattern: string, word: Word): boolean => word.text === null || word.glob || isSame(pattern, word);

/** A star in a rule's word stands for characters of that word. */
const wordMatches = (pattern: string, text: string): boolean =>
  // Slashes are ordinary characters here.
  segmentMatches(pattern.replaceAll("/", "\u0001"), text.replaceAll("/", "\u0001"));

const RAISES_RIGHTS: ReadonlySet<string> = new Set(["sudo", "doas", "pkexec", "su", "runuser", "chroot", "nsenter"]);

const HARMLESS_VARIABLES =
  /^(NODE_ENV|CI|FORCE_COLOR|NO_COLOR|CLICOLOR|TZ|LANG|LANGUAGE|LC_[A-Z]+|RUST_BACKTRACE|RUST_LOG|COLUMNS|LINES)$/;

const isHarmlessVariable = (name: string): boolean => HARMLESS_VARIABLES.test(name);

/** The rule that "always" may save for a command; undefined where it cannot be written down. */
export const ruleForCommand = (command: SimpleCommand, tool: string): string | undefined => {
  const words = command.outer[0] ?? command.words;
  if (words.length === 0 || command.assigned.length > 0 || !words.every(isLiteral)) return undefined;
  const texts = words.map(({ text }) => text ?? "");
  if (texts.some((text) => /['\n\r*]/.test(text))) return undefined;
  const prefix = texts.slice(0, prefixLength(texts)).map(quote).join(" ");
  return prefix === "" ? `${tool}(${texts.map(quote).join(" ")})` : `${tool}(${prefix}:*)`;
};

const quote = (text: string): string => (/^[\w./:@%+,=-]+$/.test(text) ? text : `'${text}'`);

/** Of programs with subcommands, how many words name what is done; 0 = only the exact command may be offered. */
const prefixLength = ([name = "", first = "", second = ""]: readonly string[]): number => {
  if (/^(npm|pnpm|yarn|bun)$/.test(name)) {
    if (first === "test") return 2;
    return first === "run" && second !== "" && !second.startsWith("-") ? 3 : 0;
  }
  if (name === "git") return /^(add|commit|diff|fetch|log|show|status)$/.test(first) ? 2 : 0;
  if (name === "cargo") return /^(build|check|clippy|fmt|test)$/.test(first) ? 2 : 0;
  return name === "go" && /^(build|fmt|test|vet)$/.test(first) ? 2 : 0;
};
