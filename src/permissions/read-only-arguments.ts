import type { Word } from "./shell-word.ts";

/** What a program may be given without changing or running anything. An option that is missing here asks. */
export type Program = {
  /** Letters without a value. */
  readonly flags?: string;
  /** Letters whose value, attached or in the next word, is text. */
  readonly values?: string;
  /** Letters whose value is a path. */
  readonly files?: string;
  /** Letters with an attached value or none. */
  readonly optional?: string;
  /** Long names: `name`, `name=` with a value, `name?` with an attached one or none, `name@` with a path, `name==` with two. */
  readonly long?: readonly string[];
  /** `-20` is a number. */
  readonly numbers?: true;
  /** What the words are that are no options; `pattern`: the first is text, the others are paths. Default: paths. */
  readonly operands?: "text" | "pattern";
  /** Options (`-e`, `--regexp`) that bring the pattern, so that every operand is a path. */
  readonly patternFrom?: readonly string[];
  /** At most so many operands: a further one would be written to. */
  readonly max?: number;
  /** One of its options writes or runs something: a file whose name is such an option must not get there by a glob. */
  readonly exposed?: true;
  /** Whether it reads whole folders, given its options. */
  readonly readsFolders?: (options: ReadonlySet<string>) => boolean;
  readonly accepts?: (given: Arguments) => boolean;
};

export type Arguments = {
  /** Each as `-x` or `--name`. */
  readonly options: ReadonlySet<string>;
  readonly operands: readonly Word[];
  /** The values of options that name files. */
  readonly files: readonly Word[];
};

/** The arguments by their kinds; null where one of them is not known to be harmless. */
export const readArguments = (words: readonly Word[], program: Program): Arguments | null => {
  const options = new Set<string>();
  const operands: Word[] = [];
  const files: Word[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined || word.text === null) return null;
    const { text } = word;
    if (text === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (text === "-" || !text.startsWith("-")) {
      if (program.exposed && mayBecomeOption(word)) return null;
      operands.push(word);
      continue;
    }
    if (program.numbers && /^-\d+$/.test(text)) continue;
    const option = text.startsWith("--") ? longOption(text, program) : shortOptions(text, program);
    // A glob behind `--include=` stays behind it; anywhere else it may become another option.
    if (option === null || (word.glob && option.value === undefined)) return null;
    for (const name of option.names) options.add(name);
    if (option.value !== undefined && option.isFile) files.push({ ...word, text: option.value });
    if (option.value === undefined) {
      const values = words.slice(index + 1, index + 1 + option.takes);
      if (values.some(({ text: value, glob }) => value === null || glob)) return null;
      if (option.isFile) files.push(...values);
      index += option.takes;
    }
  }
  return operands.some(({ text }) => text === null) ? null : { options, operands, files };
};

/** A glob that begins with a wildcard matches a file that is named like an option. */
export const mayBecomeOption = ({ text, glob }: Word): boolean => glob && /^[-*?[]/.test(text ?? "");

type Option = {
  readonly names: readonly string[];
  /** How many words behind it are its values. */
  readonly takes: number;
  readonly isFile: boolean;
  /** The attached value. */
  readonly value?: string | undefined;
};

const longOption = (text: string, { long = [] }: Program): Option | null => {
  const equals = text.indexOf("=");
  const name = text.slice(2, equals < 0 ? undefined : equals);
  const value = equals < 0 ? undefined : text.slice(equals + 1);
  const names = [`--${name}`];
  if (value === undefined) {
    if (long.includes(name) || long.includes(`${name}?`)) return { names, takes: 0, isFile: false };
    if (long.includes(`${name}==`)) return { names, takes: 2, isFile: false };
  }
  if (value !== undefined && long.includes(`${name}?`)) return { names, takes: 0, isFile: false, value };
  if (long.includes(`${name}=`)) return { names, takes: 1, isFile: false, value };
  return long.includes(`${name}@`) ? { names, takes: 1, isFile: true, value } : null;
};

const shortOptions = (text: string, program: Program): Option | null => {
  const { flags = "", values = "", files = "", optional = "" } = program;
  const names: string[] = [];
  for (let index = 1; index < text.length; index += 1) {
    const letter = text.charAt(index);
    const value = text.slice(index + 1) || undefined;
    names.push(`-${letter}`);
    if (optional.includes(letter)) return { names, takes: 0, isFile: false, value };
    if (values.includes(letter) || files.includes(letter))
      return { names, takes: 1, isFile: files.includes(letter), value };
    if (!flags.includes(letter)) return null;
  }
  return { names, takes: 0, isFile: false };
};
