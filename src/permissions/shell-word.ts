import type { ParameterExpansionPart, ParsedScript, Word as SyntaxWord, WordPart } from "unbash";

/** A word of a command as the program gets it, as far as that can be known without running anything. */
export type Word = {
  /** As it was written, quotes included. */
  readonly source: string;
  /** After quotes, `~`, `$HOME`, `$PWD` and braces; a glob stays as it is. Null when only the shell can know. */
  readonly text: string | null;
  /** It holds an unquoted `*`, `?` or `[…]`. */
  readonly glob: boolean;
  /** The names of the commands in its substitutions. */
  readonly runs: readonly string[];
};

/** What a command runs besides itself. */
export type Inner =
  /** `assigned`: the variables that a wrapper sets for it, as `env` does. */
  | { readonly type: "command"; readonly words: readonly Word[]; readonly assigned?: readonly string[] }
  | { readonly type: "script"; readonly text: string }
  /** It runs something that cannot be known. */
  | { readonly type: "unsure"; readonly doubt: Doubt };

/** Why a list of commands may not be complete, and what is to blame, as written. */
export type Doubt = { readonly kind: DoubtKind; readonly subject: string };

export type DoubtKind =
  /** It cannot be parsed, or reads differently in another shell or with other options. */
  | "syntax"
  /** The name of a command, or of the file that it reads its commands from, is not literal. */
  | "name"
  /** A wrapper with options or operands that are not known. */
  | "wrapper"
  /** A script that is not literal, or in another language. */
  | "script"
  /** A text that the shell may evaluate a second time. */
  | "evaluated"
  /** A redirect to a file that is not literal. */
  | "redirect"
  /** It changes what later names mean. */
  | "redefines"
  | "nesting";

export const isLiteral = (word: Word | undefined): word is Word & { readonly text: string } =>
  word !== undefined && word.text !== null && !word.glob;

export const unknownWord = (source: string): Word => ({ source, text: null, glob: false, runs: [] });

export const literalWord = (text: string): Word => ({ source: text, text, glob: false, runs: [] });

/** What the shell makes of one written word: more than one where it has braces. */
export const wordsOf = (word: SyntaxWord, homeDir: string, runs: readonly string[]): Word[] => {
  const spellings = word.parts ? joinParts(word.parts, homeDir) : [{ text: bareText(word, homeDir), glob: false }];
  if (spellings === null) return [{ ...unknownWord(word.text), runs }];
  return spellings.map(({ text, glob }) => ({ source: word.text, text, glob, runs }));
};

type Spelling = { readonly text: string | null; readonly glob: boolean };

const MAX_SPELLINGS = 64;

const joinParts = (parts: readonly WordPart[], homeDir: string): Spelling[] | null => {
  let spellings: Spelling[] = [{ text: "", glob: false }];
  for (const [index, part] of parts.entries()) {
    const options = part.type === "BraceExpansion" ? expandBraces(part.text) : [partText(part, index === 0, homeDir)];
    if (spellings.length * options.length > MAX_SPELLINGS) return null;
    const glob = part.type === "Glob" || (part.type === "BraceExpansion" && /[*?[]/.test(part.text));
    spellings = spellings.flatMap((before) =>
      options.map((option) => ({
        text: before.text === null || option === null ? null : before.text + option,
        glob: before.glob || glob,
      })),
    );
  }
  return spellings;
};

const partText = (part: WordPart, isFirst: boolean, homeDir: string): string | null => {
  switch (part.type) {
    case "Literal":
      return isFirst ? expandTilde(part.text, part.value, homeDir) : part.value;
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value;
    case "Glob":
      return part.parts?.some((inner) => inner.type !== "Literal") ? null : part.text;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.reduce<string | null>((text, inner, index) => {
        const more =
          inner.type === "Literal" ? inner.value : partText(inner, isFirst && index === 0 && text === "", homeDir);
        return text === null || more === null ? null : text + more;
      }, "");
    case "SimpleExpansion":
      return variableText(part.text.slice(1), isFirst, homeDir);
    case "ParameterExpansion":
      return isPlainOrDefault(part) ? variableText(part.parameter, isFirst, homeDir) : null;
    case "CommandExpansion":
      return isFirst && printsWorkDir(part.script) ? "." : null;
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
    case "ExtendedGlob":
    case "BraceExpansion":
      return null;
    default:
      return part satisfies never;
  }
};

const isPlainOrDefault = ({ operation, prefix, index }: ParameterExpansionPart): boolean =>
  prefix === undefined &&
  index === undefined &&
  (operation === undefined || (operation.type === "Default" && !operation.operator.endsWith("+")));

const variableText = (name: string, isFirst: boolean, homeDir: string): string | null => {
  if (name === "HOME") return homeDir;
  // As the start of a path the current directory is ".", whichever it is by then.
  if (name === "PWD") return isFirst ? "." : null;
  // Always digits.
  return name === "$" || name === "?" || name === "#" ? "0" : null;
};

const printsWorkDir = (script: ParsedScript | undefined): boolean => {
  const command = script?.commands.length === 1 ? script.commands[0]?.command : undefined;
  if (command?.type !== "Command") return false;
  const text = [command.name, ...command.args].map((word) => word?.text).join(" ");
  // The repository's root is the work directory or a parent of it.
  return text === "pwd" || text === "git rev-parse --show-toplevel";
};

const bareText = (word: SyntaxWord, homeDir: string): string | null => expandTilde(word.text, word.value, homeDir);

const expandTilde = (source: string, value: string, homeDir: string): string | null => {
  // bash expands `of=~/x` too: the word looks like an assignment.
  const [, before = "", name] = /^([A-Za-z_]\w*=)?~([^/]*)/.exec(source) ?? [];
  if (name === undefined) return value;
  const after = value.slice(before.length + 1 + name.length);
  if (name === "") return before + homeDir + after;
  if (name === "+") return `${before}.${after}`;
  return null;
};

/** `{a,b{c,d}}` → a, bc, bd. Ranges and braces with quotes or expansions inside are left to the shell. */
const expandBraces = (text: string): (string | null)[] => {
  if (/[$`'"\\]|\.\./.test(text)) return [null];
  const pieces: string[] = [];
  let depth = 0;
  let start = 1;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === "{") depth += 1;
    if ((character === "," && depth === 1) || (character === "}" && depth === 1)) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
    if (character === "}") depth -= 1;
  }
  return pieces.flatMap((piece) => expandInner(piece));
};

const expandInner = (piece: string): (string | null)[] => {
  const open = piece.indexOf("{");
  if (open < 0) return [piece];
  const close = matchingBrace(piece, open);
  if (close < 0) return [null];
  return expandBraces(piece.slice(open, close + 1)).flatMap((middle) =>
    expandInner(piece.slice(close + 1)).map((end) =>
      middle === null || end === null ? null : piece.slice(0, open) + middle + end,
    ),
  );
};

const matchingBrace = (text: string, open: number): number => {
  let depth = 0;
  for (let index = open; index < text.length; index += 1) {
    if (text[index] === "{") depth += 1;
    if (text[index] === "}" && --depth === 0) return index;
  }
  return -1;
};
