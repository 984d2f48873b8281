import { mayBecomeOption } from "./read-only-arguments.ts";
import type { Word } from "./shell-word.ts";

const words = (text: string): readonly string[] => text.split(" ");

/** Programs that do nothing but tell their version when they are asked for it, and how they are asked. */
export const VERSION_OF: Readonly<Record<string, RegExp>> = {
  node: /^(-v|--version)$/,
  npm: /^(-v|--version)$/,
  python: /^(-V|--version)$/,
  python3: /^(-V|--version)$/,
  ruby: /^(-v|--version)$/,
  perl: /^(-v|--version)$/,
  php: /^(-v|--version)$/,
  java: /^--?version$/,
  deno: /^(-V|--version)$/,
  bun: /^(-v|--version)$/,
  bash: /^--version$/,
  gcc: /^--version$/,
  "g++": /^--version$/,
  clang: /^--version$/,
  make: /^(-v|--version)$/,
  cmake: /^--version$/,
  docker: /^(-v|--version)$/,
  git: /^(-v|--version|version)$/,
};

/** The same, but the folder's own files can name another program to run in its place. */
export const VERSION_IN_FOLDER: Readonly<Record<string, RegExp>> = {
  yarn: /^(-v|--version)$/,
  pnpm: /^(-v|--version)$/,
  cargo: /^(-V|--version)$/,
  rustc: /^(-V|--version)$/,
  go: /^version$/,
};

/** `echo` and `printf` take every word as text, but `printf -v` and its `%n` set a variable, PATH too. */
export const printsOnly = (name: string, rest: readonly Word[]): boolean => {
  if (name === "echo") return true;
  const [first] = rest;
  if (name !== "printf" || first === undefined || first.text?.startsWith("-v") || mayBecomeOption(first)) return false;
  return !rest.some(({ text }) => /%[^a-zA-Z%]*[hlLqjzt]*n/.test(text ?? ""));
};

const FIND_PLAIN: ReadonlySet<string> = new Set(
  words(
    "-a -and -o -or -not ! ( ) , -print -print0 -ls -empty -daystart -depth -d -mount -xdev -prune -true -false -readable -writable -executable -nouser -nogroup -noleaf -nowarn -warn -quit",
  ),
);
const FIND_WITH_VALUE: ReadonlySet<string> = new Set(
  words(
    "-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -links -inum -maxdepth -mindepth -printf -fstype -used",
  ),
);

/** What a harmless `test` may look at: its words are not told apart. `-v` evaluates a subscript. */
export const testOperands = (rest: readonly Word[]): readonly Word[] | null =>
  rest.some(({ text, glob }) => text === null || glob || text === "-v" || text === "-R") ? null : rest;

/** The files and folders that a harmless `find` looks at; null where an expression is not known to be harmless. */
export const findOperands = (rest: readonly Word[]): readonly Word[] | null => {
  if (rest.some((word) => word.text === null || mayBecomeOption(word))) return null;
  let start = 0;
  while (/^-([HP]|O\d)$/.test(rest[start]?.text ?? "")) start += 1;
  let index = start;
  while (index < rest.length && !/^[-(!,]/.test(rest[index]?.text ?? "")) index += 1;
  const roots = rest.slice(start, index);
  const references: Word[] = [];
  for (; index < rest.length; index += 1) {
    const { text, glob } = rest[index] ?? { text: null, glob: false };
    if (text === null || glob) return null;
    if (FIND_WITH_VALUE.has(text)) {
      index += 1;
      if (rest[index]?.glob) return null;
    } else if (/^-newer([aBcm][aBcmt])?$/.test(text)) {
      index += 1;
      const value = rest[index];
      if (value?.glob) return null;
      if (value && !text.endsWith("t")) references.push(value);
    } else if (!FIND_PLAIN.has(text)) return null;
  }
  return [...roots, ...references];
};
