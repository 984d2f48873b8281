import { gitInner } from "./git-command.ts";
import { operandsOf, operandsStart } from "./options.ts";
import { type DoubtKind, type Inner, isLiteral, literalWord, unknownWord, type Word } from "./shell-word.ts";
import { EVALUATING, LIKE_BASH, OPAQUE, SHELLS, WRAPPERS, type Wrapper } from "./wrapper-tables.ts";

export type Unwrapped = {
  /** The command only passes its arguments on: what it runs stands for it. */
  readonly isTransparent: boolean;
  readonly inner: readonly Inner[];
};

/** The literal text on a command's standard input; null where it has a source that is not literal, undefined where it has none. */
export type StandardInput = string | null | undefined;

const PLAIN: Unwrapped = { isTransparent: false, inner: [] };

/** Looks through wrappers (`timeout`, `sudo`, `xargs` …) and into literal scripts (`sh -c`, `eval`, `find -exec` …). */
export const unwrap = (name: string, words: readonly Word[], input: StandardInput): Unwrapped => {
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper) return unwrapTable(name, words, wrapper);
  if (OPAQUE.has(name)) return words.length > 1 ? unsure("wrapper", name, words) : PLAIN;
  if (SHELLS.has(name)) return unwrapShell(name, words, input);
  if (EVALUATING.has(name)) return unwrapEvaluating(name, words);
  switch (name) {
    case "eval":
      return words.slice(1).every(isLiteral)
        ? script(
            words
              .slice(1)
              .map((word) => word.text)
              .join(" "),
          )
        : unsure("script", name);
    case "trap":
      return unwrapTrap(words);
    case "source":
    case ".":
      return words[1]?.runs.length || words[1]?.text === null || words[1]?.text === "/dev/stdin"
        ? unsure("name", name)
        : PLAIN;
    case "find":
      return unwrapFind(words);
    case "fd":
    case "fdfind":
      return alongside(execCommands(words, FD_EXEC, ["{}"]));
    case "rg":
      return unwrapRipgrep(words);
    case "git":
      return alongside(gitInner(words));
    default:
      return PLAIN;
  }
};

const unsure = (kind: DoubtKind, subject: string, words: readonly Word[] = []): Unwrapped => ({
  isTransparent: false,
  inner: [{ type: "unsure", doubt: { kind, subject } }, ...candidates(words)],
});

/** What might be run where nobody can tell: each tail of the words, and each word with blanks as a script. */
const candidates = (words: readonly Word[]): Inner[] =>
  words.slice(1, MAX_CANDIDATES).flatMap((word, index): Inner[] => {
    if (!isLiteral(word) || word.text.startsWith("-")) return [];
    if (/\s/.test(word.text)) return [{ type: "script", text: word.text }];
    return PLAIN_NAME.test(word.text) ? [{ type: "command", words: words.slice(index + 1) }] : [];
  });

const MAX_CANDIDATES = 12;
const PLAIN_NAME = /^[\w./-]*[A-Za-z][\w./-]*$/;

const script = (text: string): Unwrapped => ({ isTransparent: true, inner: [{ type: "script", text }] });

const alongside = (inner: readonly Inner[]): Unwrapped => ({ isTransparent: false, inner });

const unwrapTable = (name: string, words: readonly Word[], wrapper: Wrapper): Unwrapped => {
  if (wrapper.asksOnly?.includes(words[1]?.text ?? "")) return PLAIN;
  const afterOptions = operandsStart(words, 1, wrapper);
  if (afterOptions === null) return unsure("wrapper", name, words);
  let start = afterOptions + (wrapper.operands ?? 0);
  const assigned: string[] = [];
  while (wrapper.takesAssignments) {
    const [, variable] = ASSIGNMENT.exec(words[start]?.text ?? words[start]?.source ?? "") ?? [];
    if (variable === undefined) break;
    assigned.push(variable);
    start += 1;
  }
  const inner = words.slice(start);
  if (inner.length === 0) return PLAIN;
  const replaced = wrapper.addsArguments ? replaceString(words.slice(1, afterOptions)) : undefined;
  const full = wrapper.addsArguments ? withInput(inner, replaced) : inner;
  return { isTransparent: true, inner: [{ type: "command", words: full, assigned }] };
};

const ASSIGNMENT = /^([A-Za-z_]\w*)=/;

/** `-I R` of xargs. */
const replaceString = (options: readonly Word[]): string | undefined => {
  for (const [index, { text }] of options.entries()) {
    if (text === "-I" || text === "--replace") return options[index + 1]?.text ?? undefined;
    if (text?.startsWith("-I")) return text.slice(2);
    if (text?.startsWith("--replace=")) return text.slice("--replace=".length);
  }
  return undefined;
};

const withInput = (words: readonly Word[], replaced: string | undefined): Word[] =>
  replaced === undefined
    ? [...words, unknownWord("…")]
    : words.map((word) => (word.text?.includes(replaced) ? unknownWord(word.source) : word));

const unwrapShell = (name: string, words: readonly Word[], input: StandardInput): Unwrapped => {
  let index = 1;
  let isCommand = false;
  let readsInput = false;
  for (; index < words.length; index += 1) {
    const word = words[index];
    if (!isLiteral(word)) {
      if (word?.text === null && !isCommand) return unsure("name", name);
      break;
    }
    const { text } = word;
    if (text === "--version" || text === "--help") return PLAIN;
    if (text === "--") {
      index += 1;
      break;
    }
    if (!/^[-+]./.test(text)) break;
    if (/^--(rcfile|init-file)$/.test(text)) index += 1;
    if (text.startsWith("--")) continue;
    if (text.startsWith("-") && text.includes("c")) isCommand = true;
    if (text.includes("s")) readsInput = true;
    if (/[oO]$/.test(text)) index += 1;
  }
  const operand = words[index];
  if (isCommand) {
    if (!isLiteral(operand)) return unsure("script", name);
    return LIKE_BASH.has(name) ? script(operand.text) : foreign(name, operand.text);
  }
  if (operand !== undefined && !readsInput && operand.text !== "-" && operand.text !== "/dev/stdin") {
    return isLiteral(operand) ? PLAIN : unsure("name", name);
  }
  if (typeof input !== "string") return unsure("script", name);
  return LIKE_BASH.has(name) ? script(input) : foreign(name, input);
};

const foreign = (name: string, text: string): Unwrapped => ({
  isTransparent: false,
  inner: [
    { type: "unsure", doubt: { kind: "script", subject: name } },
    { type: "script", text },
  ],
});

/** A text that a second evaluation would run. */
export const holdsSubstitution = (text: string | null): boolean => text === null || /\$\(|`|\$\{/.test(text);

const unwrapEvaluating = (name: string, words: readonly Word[]): Unwrapped => {
  const rest = words.slice(1);
  switch (name) {
    case "printf":
      return rest[0]?.text === "-v" && rest.some(({ text }) => holdsSubstitution(text))
        ? unsure("evaluated", name)
        : PLAIN;
    case "mapfile":
    case "readarray":
      return rest.some(({ text }) => text === null || text.startsWith("-C")) ? unsure("evaluated", name) : PLAIN;
    case "shopt":
      return rest.some(({ text }) => text === null || /^(expand_aliases|extglob|dotglob)$/.test(text))
        ? unsure("redefines", name)
        : PLAIN;
    case "set":
      return PLAIN;
    case "alias":
    case "bind":
    case "complete":
    case "compgen":
    case "enable":
    case "hash":
      return rest.some(({ text }) => text !== "-r" && text !== "-p") || (name === "hash" && rest[0]?.text === "-p")
        ? unsure("evaluated", name)
        : PLAIN;
    default:
      // A literal `a[$(…)]` is evaluated as a subscript; what the shell itself expanded is only as bad as its variable.
      return rest.some(({ text }) => text !== null && holdsSubstitution(text)) ? unsure("evaluated", name) : PLAIN;
  }
};

const unwrapTrap = (words: readonly Word[]): Unwrapped => {
  const [first] = operandsOf(words.slice(1).filter(({ text }) => text !== "--"));
  if (first === undefined || first.text === "" || first.text === "-") return PLAIN;
  return isLiteral(first)
    ? { isTransparent: false, inner: [{ type: "script", text: first.text }] }
    : unsure("script", "trap");
};

const FIND_EXEC: readonly string[] = ["-exec", "-execdir", "-ok", "-okdir"];
const FD_EXEC: readonly string[] = ["-x", "-X", "--exec", "--exec-batch"];

const unwrapFind = (words: readonly Word[]): Unwrapped => {
  const roots = findRoots(words).map(({ text }) => text);
  return alongside(
    execCommands(
      words,
      FIND_EXEC,
      roots.map((root) => (root === null ? null : `${root}/{}`)),
    ),
  );
};

/** The folders that a `find` begins in. */
export const findRoots = (words: readonly Word[]): readonly Word[] => {
  const options = words.slice(1);
  let start = 0;
  while (/^-([HLP]|O\d|D)$/.test(options[start]?.text ?? "")) start += options[start]?.text === "-D" ? 2 : 1;
  const end = options.findIndex(({ text }, index) => index >= start && text !== null && /^[-(!,]/.test(text));
  const roots = options.slice(start, end < 0 ? undefined : end);
  return roots.length > 0 ? roots : [literalWord(".")];
};

/** The commands behind `-exec` and its like, with `{}` as what it may stand for. */
const execCommands = (words: readonly Word[], flags: readonly string[], found: readonly (string | null)[]): Inner[] =>
  words.flatMap((word, index): Inner[] => {
    if (word.text === null || !flags.includes(word.text)) return [];
    const rest = words.slice(index + 1);
    const end = rest.findIndex(({ text }) => text === ";" || text === "+");
    const inner = (end < 0 ? rest : rest.slice(0, end)).flatMap((one) => substitute(one, found));
    return inner.length > 0 ? [{ type: "command", words: inner }] : [];
  });

const substitute = (word: Word, found: readonly (string | null)[]): Word[] => {
  if (!word.text?.includes("{}")) return [word];
  if (word.text !== "{}") return [unknownWord(word.source)];
  return found.map((text) => (text === null ? unknownWord("{}") : literalWord(text)));
};

const unwrapRipgrep = (words: readonly Word[]): Unwrapped =>
  alongside(
    words.flatMap(({ text }, index): Inner[] => {
      if (text === "--pre" || text === "--hostname-bin") {
        const program = words[index + 1];
        return program ? [{ type: "command", words: [program] }] : [];
      }
      const [, program] = /^--(?:pre|hostname-bin)=(.*)$/s.exec(text ?? "") ?? [];
      return program ? [{ type: "command", words: [literalWord(program)] }] : [];
    }),
  );
