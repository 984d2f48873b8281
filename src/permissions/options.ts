import { isLiteral, type Word } from "./shell-word.ts";

/** The options that a program takes, so that its operands can be told from them. */
export type OptionTable = {
  /** Single letters without a value; digits too where they are flags. */
  readonly flags?: string;
  /** Single letters with a value, attached or in the next word. */
  readonly values?: string;
  /** Long names, with a trailing `=` where they take a value. */
  readonly long?: readonly string[];
};

/** Where the operands begin, or null when an option is unknown or not literal. */
export const operandsStart = (words: readonly Word[], from: number, table: OptionTable): number | null => {
  let index = from;
  while (index < words.length) {
    const word = words[index];
    if (!isLiteral(word)) return word?.text?.startsWith("-") || word?.text === null ? null : index;
    if (word.text === "--") return index + 1;
    if (!word.text.startsWith("-") || word.text === "-") return index;
    const taken = word.text.startsWith("--") ? longOption(word.text, table) : shortOptions(word.text, table);
    if (taken === null) return null;
    index += taken;
  }
  return Math.min(index, words.length);
};

/** How many words the option takes, or null when it is unknown. */
const longOption = (text: string, { long = [] }: OptionTable): number | null => {
  const [name = "", value] = text.slice(2).split("=", 2);
  if (long.includes(`${name}=`)) return value === undefined ? 2 : 1;
  return long.includes(name) && value === undefined ? 1 : null;
};

const shortOptions = (text: string, { flags = "", values = "" }: OptionTable): number | null => {
  for (let index = 1; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (values.includes(letter)) return index === text.length - 1 ? 2 : 1;
    if (!flags.includes(letter)) return null;
  }
  return 1;
};

/** Whether any word is the short flag (also within a cluster) or a long option, whole or as an abbreviation that GNU takes. */
export const hasFlag = (
  words: readonly Word[],
  { letters = "", long = [] }: { letters?: string; long?: readonly string[] },
): boolean =>
  optionWords(words).some((text) =>
    text.startsWith("--")
      ? long.some((name) => isAbbreviation(text.split("=", 1)[0] ?? text, name))
      : [...text.slice(1)].some((letter) => letters.includes(letter)),
  );

/** `--rec` is `--recursive`; a bare `--` is none. */
const isAbbreviation = (text: string, name: string): boolean => text.length > 2 && name.startsWith(text.slice(2));

const optionWords = (words: readonly Word[]): string[] => {
  const end = words.findIndex((word) => word.text === "--");
  return (end < 0 ? words : words.slice(0, end)).flatMap(({ text }) =>
    text !== null && text.length > 1 && text.startsWith("-") ? [text] : [],
  );
};

/** The words that are not options, all of them after a `--`. Values of separate options count as operands. */
export const operandsOf = (words: readonly Word[]): Word[] => {
  const end = words.findIndex((word) => word.text === "--");
  const isOperand = ({ text }: Word) => text === null || text === "-" || !text.startsWith("-");
  return end < 0 ? words.filter(isOperand) : [...words.slice(0, end).filter(isOperand), ...words.slice(end + 1)];
};
