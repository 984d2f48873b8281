/*
 * Git's reading of .gitignore, byte by byte. The package `ignore` judges a path by its parents as well, within one file of
 * rules; here a folder that nothing ignores has been entered, whichever file said so, and only its entries are asked about.
 */

type IgnoreRule = {
  readonly isNegative: boolean;
  readonly foldersOnly: boolean;
  /** A rule without a slash is about the name, wherever it is. */
  readonly about: "name" | "path";
  readonly matches: (text: string) => boolean;
};

/** The rules of one file, which count for what is below `base` ("" or with a final slash); the last one first. */
export type IgnoreRules = { readonly base: string; readonly rules: readonly IgnoreRule[] };

export type Named = { readonly path: string; readonly name: string; readonly isFolder: boolean };

/** `files`: the nearest first. The first rule that says something decides. */
export const isIgnored = ({ path, name, isFolder }: Named, files: readonly IgnoreRules[]): boolean => {
  for (const { base, rules } of files)
    for (const rule of rules) {
      if (rule.foldersOnly && !isFolder) continue;
      if (rule.matches(rule.about === "name" ? name : path.slice(base.length))) return !rule.isNegative;
    }
  return false;
};

/** `text`: one character for each byte. */
export const parseIgnoreRules = (base: string, text: string): IgnoreRules => ({
  base,
  rules: text
    .replace(/^\xef\xbb\xbf/, "")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => trimSpaces(line.replace(/\r$/, "")))
    .flatMap(parseRule)
    .reverse(),
});

/** Without the spaces at the end that no backslash protects. */
const trimSpaces = (line: string): string => {
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === "\\") at += 1;
    else if (line[at] === " ") continue;
    end = at + 1;
  }
  return line.slice(0, end);
};

const parseRule = (line: string): IgnoreRule[] => {
  const isNegative = line.startsWith("!");
  const whole = isNegative ? line.slice(1) : line;
  const foldersOnly = whole.endsWith("/");
  const pattern = foldersOnly ? whole.slice(0, -1) : whole;
  if (pattern === "") return [];
  if (!pattern.includes("/")) return [{ isNegative, foldersOnly, about: "name", matches: nameMatcher(pattern) }];
  return [{ isNegative, foldersOnly, about: "path", matches: pathMatcher(pattern.replace(/^\//, "")) }];
};

const WILD = /[*?[\\]/;

const nameMatcher = (pattern: string): IgnoreRule["matches"] => {
  if (!WILD.test(pattern)) return (name) => name === pattern;
  const ending = pattern.slice(1);
  if (pattern.startsWith("*") && !WILD.test(ending)) return (name) => name.endsWith(ending);
  return wildMatcher(pattern);
};

const pathMatcher = (pattern: string): IgnoreRule["matches"] => {
  const wildAt = pattern.search(WILD);
  if (wildAt < 0) return (path) => path === pattern;
  // Git compares what comes before the first wildcard as it is and matches the rest: so `a**` begins with a `**`.
  const start = pattern.slice(0, wildAt);
  const matches = wildMatcher(pattern.slice(wildAt));
  return (path) => path.startsWith(start) && matches(path.slice(start.length));
};

const wildMatcher = (pattern: string): IgnoreRule["matches"] => {
  const source = wildSource(pattern);
  if (source === null) return () => false;
  const expression = new RegExp(`^(?:${source})$`, "s");
  return (text) => expression.test(text);
};

const ANY = "[^/]*";

/** The pattern as a regular expression; null where it can match nothing. */
const wildSource = (pattern: string): string | null => {
  let source = "";
  let at = 0;
  // A star takes as little as it can when another follows in the same name; that loses nothing, and takes no longer than the
  // name is. `group` counts what makes a match of that kind final.
  let group = 0;
  let sinceStar: string | null = null;
  const endStar = (isFinal: boolean): void => {
    if (sinceStar === null) return;
    if (isFinal) {
      group += 1;
      source += `(?=([^/]*?${sinceStar}))(?:\\${group})`;
    } else source += ANY + sinceStar;
    sinceStar = null;
  };
  const add = (piece: string): void => {
    if (sinceStar === null) source += piece;
    else sinceStar += piece;
  };
  while (at < pattern.length) {
    const character = pattern[at];
    if (character === "*") {
      const start = at;
      while (pattern[at] === "*") at += 1;
      const isWhole = at - start > 1 && (start === 0 || pattern[start - 1] === "/") && isNameEnd(pattern, at);
      if (!isWhole) {
        endStar(true);
        sinceStar = "";
      } else if (at === pattern.length) source += ".*";
      else if (pattern[at] === "/") {
        source += "(?:.*/)?";
        at += 1;
      } else source += ".*";
    } else if (character === "/") {
      endStar(false);
      source += "/";
      at += 1;
    } else if (character === "?") {
      add("[^/]");
      at += 1;
    } else if (character === "[") {
      const set = readSet(pattern, at);
      if (set === null) return null;
      add(set.source);
      at = set.end;
    } else if (character === "\\") {
      if (at + 1 >= pattern.length) return null;
      if (pattern[at + 1] === "/") endStar(false);
      add(literal(pattern[at + 1] ?? ""));
      at += 2;
    } else {
      add(literal(character ?? ""));
      at += 1;
    }
  }
  endStar(false);
  return source;
};

const isNameEnd = (pattern: string, at: number): boolean =>
  at === pattern.length || pattern[at] === "/" || pattern.startsWith("\\/", at);

const literal = (character: string): string =>
  /\w/.test(character) ? character : `\\x${hex(character.charCodeAt(0))}`;
const hex = (code: number): string => code.toString(16).padStart(2, "0");

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: " \\t-\\r",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f",
};

/** A set in brackets, which never matches a slash. Null where it has no end or an unknown class. */
const readSet = (pattern: string, open: number): { readonly source: string; readonly end: number } | null => {
  let at = open + 1;
  const isNegative = pattern[at] === "!" || pattern[at] === "^";
  if (isNegative) at += 1;
  const first = at;
  let members = "";
  // The start that a range would have.
  let previous: number | null = null;
  for (;;) {
    const character = pattern[at];
    if (character === undefined) return null;
    if (character === "]" && at > first) break;
    const next = pattern[at + 1];
    if (character === "[" && next === ":") {
      const close = pattern.indexOf("]", at + 2);
      if (close < 0) return null;
      if (pattern[close - 1] === ":" && close - 1 >= at + 2) {
        const members_ = CLASSES[pattern.slice(at + 2, close - 1)];
        if (members_ === undefined) return null;
        members += members_;
        previous = null;
        at = close + 1;
        continue;
      }
    }
    if (character === "-" && previous !== null && next !== undefined && next !== "]") {
      const isEscaped = next === "\\";
      const last = pattern[at + (isEscaped ? 2 : 1)];
      if (last === undefined) return null;
      if (previous <= last.charCodeAt(0)) members += `\\x${hex(previous)}-\\x${hex(last.charCodeAt(0))}`;
      previous = null;
      at += isEscaped ? 3 : 2;
      continue;
    }
    const member = character === "\\" ? next : character;
    if (member === undefined) return null;
    members += `\\x${hex(member.charCodeAt(0))}`;
    previous = member.charCodeAt(0);
    at += character === "\\" ? 2 : 1;
  }
  const set = members === "" ? (isNegative ? "." : "(?!)") : `[${isNegative ? "^" : ""}${members}]`;
  return { source: `(?!/)${set}`, end: at + 1 };
};
