import { basename } from "node:path";
import type {
  ArithmeticWord,
  Assignment,
  AssignmentPrefix,
  Command,
  ParsedScript,
  Redirection,
  SyntaxNode,
  Word as SyntaxWord,
} from "unbash";
import { changeDirectory, type Shell, union } from "./shell-directories.ts";
import {
  type Doubt,
  type DoubtKind,
  type Inner,
  isLiteral,
  literalWord,
  unknownWord,
  type Word,
  wordsOf,
} from "./shell-word.ts";
import type { ParsedCommand, RedirectTarget, ShellPlaces, SimpleCommand } from "./simple-command.ts";
import { holdsSubstitution, type StandardInput, unwrap } from "./wrappers.ts";

/**
 * The simple commands of a bash command line, those in substitutions, wrappers and literal scripts included.
 * Never throws: what cannot be read is not certain. The parser is loaded at the first call.
 */
export const parseCommand = async (text: string, places: ShellPlaces): Promise<ParsedCommand> => {
  const { forEachChild, parse } = await import("unbash");
  const commands: SimpleCommand[] = [];
  const doubts = new Map<string, Doubt>();
  const doubt = (kind: DoubtKind, subject: string) => doubts.set(`${kind} ${subject}`, { kind, subject });
  let isPlain = true;
  const notPlain = () => {
    isPlain = false;
  };
  const walker = createWalker({ parse, forEachChild, places, commands, doubt, notPlain });
  if (endsInBackslash(text)) doubt("syntax", "\\");
  if (text.includes("\0")) doubt("syntax", "NUL");
  if (text.includes("CDPATH")) doubt("redefines", "cd");
  walker.script(text, {
    shell: { directories: [places.workDir] },
    outer: [],
    fedBy: [],
    inFunctions: [],
    isBackground: false,
    depth: 0,
  });
  return { commands, isCertain: doubts.size === 0, isPlain, doubts: [...doubts.values()] };
};

const assignedWords = ({ value, index }: Assignment): SyntaxWord[] => [
  ...(index ? [index] : []),
  ...(value.type === "Word" ? [value] : value.elements),
];

const quotedText = ({ value, parts }: ArithmeticWord): string =>
  parts ? parts.map((part) => (QUOTED_PARTS.has(part.type) ? part.text : "")).join("") : value;

const QUOTED_PARTS: ReadonlySet<string> = new Set(["Literal", "SingleQuoted", "DoubleQuoted", "AnsiCQuoted"]);

const endsInBackslash = (text: string): boolean => (/\\*$/.exec(text)?.[0].length ?? 0) % 2 === 1;

type Context = {
  readonly shell: Shell;
  readonly outer: readonly (readonly Word[])[];
  readonly fedBy: readonly string[];
  readonly inFunctions: readonly string[];
  readonly isBackground: boolean;
  readonly depth: number;
};

type WalkerOptions = {
  readonly parse: (text: string) => ParsedScript;
  readonly forEachChild: (node: SyntaxNode, callback: (child: SyntaxNode) => void) => void;
  readonly places: ShellPlaces;
  readonly commands: SimpleCommand[];
  readonly doubt: (kind: DoubtKind, subject: string) => void;
  readonly notPlain: () => void;
};

const MAX_DEPTH = 32;
const MAX_FEEDERS = 64;
const PLAIN_TEXT = /^[\w=.,:/@%+-]*$/;
/** Wrappers that run a builtin in the same shell. */
const KEEPS_SHELL = /^(builtin|command|eval)$/;
const REPLACED_BUILTINS = /^(cd|pushd|popd|builtin|command|eval)$/;

const inSubshell = (context: Context): Context => ({
  ...context,
  shell: { directories: context.shell.directories },
  depth: context.depth + 1,
});

/** What sets no variable, calls no function and repeats nothing. */
const PLAIN_NODES: ReadonlySet<string> = new Set(
  "Script Statement AndOr Pipeline Time Negation Subshell BraceGroup CompoundList Command Redirected Redirect FileDescriptor HereDoc HereDocDelimiter HereDocBody HereString Word Literal Glob SingleQuoted DoubleQuoted AnsiCQuoted LocaleString BraceExpansion SimpleExpansion Assignment".split(
    " ",
  ),
);

const createWalker = ({ parse, forEachChild, places, commands, doubt, notPlain }: WalkerOptions) => {
  const script = (text: string, context: Context): void => {
    walk(parse(text), { ...context, depth: context.depth + 1 });
  };

  const walk = (node: SyntaxNode, context: Context): void => {
    if (context.depth > MAX_DEPTH) {
      doubt("nesting", "");
      return;
    }
    if (!PLAIN_NODES.has(node.type)) notPlain();
    const { shell } = context;
    switch (node.type) {
      case "Script":
        for (const error of node.errors ?? []) doubt("syntax", error.message);
        break;
      case "Statement": {
        const before = shell.directories;
        walk(node.command, node.background ? { ...inSubshell(context), isBackground: true } : context);
        // The cd in it may have failed.
        shell.directories = union(before, shell.directories);
        return;
      }
      case "AndOr": {
        const before = shell.directories;
        for (const [index, command] of node.commands.entries()) {
          if (node.operators[index - 1] === "||") shell.directories = union(before, shell.directories);
          walk(command, context);
        }
        return;
      }
      case "Pipeline": {
        if (node.commands.length === 1) break;
        let { fedBy } = context;
        for (const command of node.commands) {
          const start = commands.length;
          walk(command, { ...inSubshell(context), fedBy });
          fedBy = withNames(fedBy, namesFrom(start));
        }
        return;
      }
      case "Subshell":
      case "ProcessSubstitution":
      case "CommandExpansion":
      case "ArithmeticCommandExpansion":
      case "Coproc":
        if ("script" in node && node.script === undefined) doubt("syntax", node.text);
        if (node.type === "Coproc" && node.name) emit({ ...base(context), assigned: [node.name.text] });
        forEachChild(node, (child) => walk(child, inSubshell(context)));
        return;
      case "For":
      case "Select":
        // A capital letter is what programs give a meaning to: `for PATH in .`
        if (/[A-Z]/.test(node.name.text)) emit({ ...base(context), assigned: [node.name.text] });
        break;
      case "Function": {
        if (REPLACED_BUILTINS.test(node.name.value)) doubt("redefines", node.name.value);
        const inFunctions = [...context.inFunctions, node.name.value];
        forEachChild(node.body, (child) => walk(child, { ...context, inFunctions }));
        return;
      }
      case "Command":
        command(node, context);
        return;
      case "Redirected":
        emit({ ...base(context), redirects: redirectsOf(node.redirects, context) });
        walk(node.command, context);
        return;
      case "Assignment":
        // `$((x))` evaluates what x holds.
        if (assignedWords(node).some(holdsScript)) doubt("evaluated", node.text);
        break;
      case "TestUnary":
        if (holdsScript(node.operand)) doubt("evaluated", "[[ ]]");
        break;
      case "TestBinary":
        if (holdsScript(node.left) || holdsScript(node.right)) doubt("evaluated", "[[ ]]");
        break;
      case "ArithmeticWord":
        // `((PATH = 1))` is a folder's name.
        if (/^PATH\b/.test(node.value)) emit({ ...base(context), assigned: ["PATH"] });
        // Quotes hide a substitution from the parser, not from the evaluation.
        if (/['\\]/.test(quotedText(node))) doubt("evaluated", "$(( ))");
        break;
      case "Slice":
        if (holdsScript(node.offset) || (node.length && holdsScript(node.length))) doubt("evaluated", node.offset.text);
        break;
      case "ParameterExpansion":
        if (node.index && holdsScript(node.index)) doubt("evaluated", node.text);
        break;
      case "Transform":
        if (node.operand.value.includes("P")) doubt("evaluated", "@P");
        break;
      case "ExtendedGlob":
        doubt("syntax", node.text);
        break;
      case "HereDoc":
        if (node.closing === undefined) doubt("syntax", node.operator);
        if (node.body.parts !== undefined && node.delimiter?.quoted !== true) notPlain();
        break;
      case "HereString":
        if (node.target && !literals(node.target, []).every(isLiteral)) notPlain();
        break;
      default:
        break;
    }
    forEachChild(node, (child) => walk(child, context));
  };

  const command = (node: Command, context: Context): void => {
    const words = [node.name, ...node.args].flatMap((word) => {
      if (word === undefined) return [];
      const start = commands.length;
      walk(word, context);
      if (word.type === "Word") return literals(word, namesFrom(start));
      // As in `declare x=1`.
      return [PLAIN_TEXT.test(word.text) ? literalWord(word.text) : unknownWord(word.text)];
    });
    const assigned = node.prefix.flatMap((one) => (one.type === "Assignment" ? [assignedName(one, context)] : []));
    const start = commands.length;
    const redirects = redirectsOf(node.redirects, context);
    const fedBy = withNames(context.fedBy, namesFrom(start));
    const simple: SimpleCommand = { ...base(context), words, assigned, redirects, fedBy };
    if (words.length === 0) emit(simple);
    else judge(simple, inputOf(node.redirects), context);
  };

  const assignedName = (assignment: AssignmentPrefix, context: Context): string => {
    walk(assignment, context);
    return assignment.name;
  };

  /** Emits the command, or what it stands for, and all that it runs. */
  const judge = (simple: SimpleCommand, input: StandardInput, context: Context): void => {
    const [first] = simple.words;
    if (!isLiteral(first) || first.text === "") {
      doubt("name", first?.source ?? "");
      emit(simple);
      return;
    }
    if (context.depth > MAX_DEPTH) {
      doubt("nesting", "");
      emit(simple);
      return;
    }
    const name = basename(first.text);
    const { isTransparent, inner } = unwrap(name, simple.words, input);
    const { assigned, redirects } = simple;
    if (!isTransparent) emit(simple);
    else if (inner.every(({ type }) => type === "script") && assigned.length + redirects.length > 0) {
      emit({ ...simple, words: [] });
    }
    if (!isTransparent && context.outer.every(([word]) => KEEPS_SHELL.test(word?.text ?? ""))) {
      changeDirectory(name, simple.words, context.shell, places.homeDir);
    }
    const outer = [...context.outer, simple.words];
    for (const one of inner) judgeInner(one, { ...simple, outer }, { ...context, outer, depth: context.depth + 1 });
  };

  const judgeInner = (inner: Inner, simple: SimpleCommand, context: Context): void => {
    switch (inner.type) {
      case "command": {
        const assigned = [...simple.assigned, ...(inner.assigned ?? [])];
        judge({ ...simple, words: inner.words, assigned }, undefined, context);
        return;
      }
      case "script":
        script(inner.text, context);
        return;
      case "unsure":
        doubt(inner.doubt.kind, inner.doubt.subject);
        return;
      default:
        inner satisfies never;
    }
  };

  const redirectsOf = (redirects: readonly Redirection[], context: Context): RedirectTarget[] =>
    redirects.flatMap((redirect) => {
      walk(redirect, context);
      // `{PATH}<file` gives PATH the descriptor's number.
      if (redirect.descriptor?.type === "FileDescriptorVariable")
        emit({ ...base(context), assigned: [redirect.descriptor.name] });
      if (redirect.type !== "Redirect") return [];
      if (redirect.target === undefined) {
        doubt("redirect", redirect.operator);
        return [];
      }
      const targets = literals(redirect.target, []);
      if (redirect.operator !== "<" && !targets.every(({ text }) => text !== null)) {
        doubt("redirect", redirect.target.text);
      }
      return targets.map((target) => ({ operator: redirect.operator, target }));
    });

  /** What the command's standard input holds, where it is literal. */
  const inputOf = (redirects: readonly Redirection[]): StandardInput => {
    const last = redirects.findLast(
      ({ type, descriptor }) =>
        type !== "Redirect" && (descriptor === undefined || descriptor.type === "FileDescriptor"),
    );
    if (last?.type === "HereDoc")
      return last.body.parts === undefined || last.delimiter?.quoted ? last.body.text : null;
    if (last?.type !== "HereString" || last.target === undefined) return undefined;
    const [word, ...more] = literals(last.target, []);
    return isLiteral(word) && more.length === 0 ? word.text : null;
  };

  const literals = (word: SyntaxWord, runs: readonly string[]): Word[] => wordsOf(word, places.homeDir, runs);

  const holdsScript = (word: SyntaxWord): boolean =>
    literals(word, []).some(({ text }) => text !== null && holdsSubstitution(text));

  const namesFrom = (start: number): string[] =>
    commands.slice(start).flatMap(({ words: [first] }) => (first?.text ? [basename(first.text)] : []));

  /** Each name once, and not without end: a long pipeline would be copied for each of its commands. */
  const withNames = (names: readonly string[], more: readonly string[]): readonly string[] => {
    const added = [...new Set(more)].filter((name) => !names.includes(name));
    if (added.length === 0) return names;
    if (names.length + added.length > MAX_FEEDERS) doubt("nesting", "|");
    return [...names, ...added].slice(0, MAX_FEEDERS);
  };

  const base = ({ shell, ...context }: Context): SimpleCommand => ({
    words: [],
    outer: context.outer,
    assigned: [],
    redirects: [],
    directories: shell.directories,
    fedBy: context.fedBy,
    inFunctions: context.inFunctions,
    isBackground: context.isBackground,
  });

  const emit = (simple: SimpleCommand): void => {
    if (simple.words.length + simple.redirects.length + simple.assigned.length > 0) commands.push(simple);
  };

  return { script };
};
