import { basename } from "node:path";
import { gitHarm } from "./guard-git.ts";
import { ownHits } from "./guard-own.ts";
import {
  type GuardHit,
  type GuardPlaces,
  type Harm,
  isDevice,
  pathsOf,
  recursiveHarm,
  writeHarm,
} from "./guarded-paths.ts";
import { hasFlag, operandsOf } from "./options.ts";
import { isLiteral, literalWord, type Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";
import { findRoots } from "./wrappers.ts";

/** The first command that can destroy what nobody can bring back, or changes what programs do later. Pure. */
export const guard = (commands: readonly SimpleCommand[], places: GuardPlaces): GuardHit | undefined => {
  const hits = commands.flatMap((command) => guardCommand(command, places));
  return hits.find(({ isCertain }) => isCertain) ?? hits[0];
};

const guardCommand = (command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  const name = basename(command.words[0]?.text ?? "");
  const rest = command.words.slice(1);
  return [
    ...redirectHits(command, places),
    ...recursiveHits(name, rest, command, places),
    ...writeHits(name, rest, command, places),
    ...runHits(name, rest, command),
    ...(name === "git" ? gitHarm(command, places) : []),
    ...ownHits(command),
  ];
};

const hit = (rule: string, subject: string, harm: Harm, isCertain = true): GuardHit => ({
  rule,
  subject,
  harm,
  isCertain,
});

const redirectHits = (command: SimpleCommand, places: GuardPlaces): GuardHit[] =>
  command.redirects
    .filter(({ operator }) => operator !== "<" && operator !== "<&")
    .flatMap(({ target }) => written(target, command, places));

const written = (word: Word, command: SimpleCommand, places: GuardPlaces): GuardHit[] =>
  pathsOf(word, command).flatMap((path) => {
    const harm = path === null ? undefined : writeHarm(path, places);
    return harm === undefined ? [] : [hit("write", word.source, harm)];
  });

/** Recursive deletion, change of mode or owner. */
const recursiveHits = (
  name: string,
  rest: readonly Word[],
  command: SimpleCommand,
  places: GuardPlaces,
): GuardHit[] => {
  if (name === "find") return findHits(rest, command, places);
  const isRecursive = RECURSIVE[name];
  if (isRecursive === undefined) return [];
  const mayHideFlag = rest.some(
    ({ text, source }) => text === null && !source.startsWith('"') && !source.includes("/"),
  );
  const flagged = isRecursive.letters === "" || hasFlag(rest, isRecursive);
  if (name === "rm" && hasFlag(rest, { long: ["no-preserve-root"] }))
    return [hit("rm --no-preserve-root", name, "root")];
  if (!flagged && !mayHideFlag) return [];
  const targets = operandsOf(rest).slice(isRecursive.operands);
  return targets.flatMap((target) => recursiveTarget(`${name} -${isRecursive.label}`, target, command, places));
};

const RECURSIVE: Readonly<
  Record<string, { letters: string; long: readonly string[]; label: string; operands: number }>
> = {
  rm: { letters: "rR", long: ["recursive"], label: "r", operands: 0 },
  rimraf: { letters: "", long: [], label: "r", operands: 0 },
  chmod: { letters: "R", long: ["recursive"], label: "R", operands: 1 },
  chown: { letters: "R", long: ["recursive"], label: "R", operands: 1 },
  chgrp: { letters: "R", long: ["recursive"], label: "R", operands: 1 },
};

const recursiveTarget = (rule: string, target: Word, command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  // Quoted it is a strange file name; whoever wrote it meant the folder.
  if (target.text !== null && /^\$(HOME\b|\{HOME\b)/.test(target.text)) return [hit(rule, target.source, "home")];
  const escapes = target.text !== null && !target.text.startsWith("/") && leavesFolder(target.text);
  return pathsOf(target, command).flatMap((path) => {
    if (path === null) return [hit(rule, target.source, "unknown", false)];
    const harm = recursiveHarm(path, escapes, places);
    if (harm === undefined) return [];
    return [hit(rule, target.source, harm, harm !== "elsewhere" || escapes)];
  });
};

const leavesFolder = (path: string): boolean => {
  let depth = 0;
  for (const segment of path.split("/")) {
    if (segment === "..") depth -= 1;
    else if (segment !== "" && segment !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
};

const findHits = (rest: readonly Word[], command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  const texts = rest.map(({ text }) => text);
  const action = texts.findIndex((text) => text === "-delete" || /^-(exec|ok)(dir)?$/.test(text ?? ""));
  if (action < 0) return [];
  const isHarmful =
    texts.includes("-delete") || texts.some((text, index) => index > action && DESTROYS.has(basename(text ?? "")));
  if (!isHarmful) return [];
  const roots = findRoots(command.words);
  const narrow = isNarrowed(texts.slice(0, action));
  // A filter leaves the root itself standing: what is inside the work directory may go.
  return roots.flatMap((root) =>
    recursiveTarget("find -delete", narrow && root.text !== null ? within(root) : root, command, places),
  );
};

const DESTROYS: ReadonlySet<string> = new Set(["rm", "rmdir", "shred", "unlink", "chmod", "chown", "chgrp", "rimraf"]);

const within = (root: Word): Word => ({ ...literalWord(`${root.text}/found`), source: root.source });

const isNarrowed = (texts: readonly (string | null)[]): boolean =>
  !texts.includes("-o") &&
  !texts.includes("-or") &&
  texts.some((text, index) => {
    const isNegated = texts[index - 1] === "!" || texts[index - 1] === "-not";
    if (isNegated || text === null) return false;
    return text === "-empty" || (/^-i?(name|path|wholename|regex)$/.test(text) && /[\w-]/.test(texts[index + 1] ?? ""));
  });

/** Programs that write files they are given. */
const writeHits = (name: string, rest: readonly Word[], command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  if (name === "sed" || name === "perl" || name === "ruby") {
    return hasFlag(rest, { letters: "i", long: ["in-place"] })
      ? rest.flatMap((word) => written(word, command, places))
      : rest.flatMap(namedInScript);
  }
  if (name === "dd")
    return rest.flatMap((word) => (word.text?.startsWith("of=") ? ddTarget(word, command, places) : []));
  if (COPIES.has(name)) return copyHits(name, rest, command, places);
  if (DOWNLOADS.has(name)) return valuesOf(rest, OUTPUT_OPTIONS).flatMap((word) => written(word, command, places));
  if (INTERPRETS.test(name) || name === "awk" || name === "gawk") return rest.flatMap(namedInScript);
  return WRITES.has(name) ? operandsOf(rest).flatMap((word) => written(word, command, places)) : [];
};

/** A script in another language that names one of our files, or a hook: nobody can tell whether it writes it. */
const namedInScript = (word: Word): GuardHit[] => {
  if (word.text === null || !/[\s('"]/.test(word.text)) return [];
  if (/\.harness9\b(?!\/(memory|agents|commands|skills)\b)/.test(word.text))
    return [hit("write", ".harness9", "settings", false)];
  return /\.git\/hooks\b/.test(word.text) ? [hit("write", ".git/hooks", "gitControl", false)] : [];
};

const COPIES: ReadonlySet<string> = new Set(["cp", "mv", "ln", "install", "rsync", "scp", "link"]);
const DOWNLOADS: ReadonlySet<string> = new Set(["curl", "wget", "sort", "tar", "unzip", "openssl", "gcc", "cc", "jq"]);
const WRITES: ReadonlySet<string> = new Set(
  "tee sponge truncate patch touch rm unlink shred chmod chown chgrp ed ex vi vim nano emacs mkdir mkfifo rmdir rimraf chattr setfacl".split(
    " ",
  ),
);
const OUTPUT_OPTIONS = /^(-o|-O|--output|--output-document|-C|--directory|-d|--output-dir|-P|--directory-prefix|-out)$/;

const ddTarget = (word: Word, command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  const target = { ...word, text: word.text?.slice("of=".length) ?? null };
  const isDisk = pathsOf(target, command).some((path) => path !== null && isDevice(path));
  return isDisk ? [hit("dd", word.source, "device")] : written(target, command, places);
};

const copyHits = (name: string, rest: readonly Word[], command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  const operands = operandsOf(rest);
  const [explicit] = valuesOf(rest, /^(-t|--target-directory)$/);
  const target = explicit ?? (operands.length > 1 || name === "ln" ? operands.at(-1) : undefined);
  const sources = operands.filter((word) => word !== target);
  const into = sources.flatMap((source) =>
    target && isLiteral(source) ? [joined(target, basename(source.text))] : [],
  );
  const inPlace = name === "ln" && operands.length === 1 ? into : [];
  const moved = name === "mv" ? sources : [];
  return [...(target ? [target] : []), ...into, ...inPlace, ...moved].flatMap((word) => written(word, command, places));
};

const joined = (folder: Word, name: string): Word => ({
  ...folder,
  text: folder.text === null ? null : `${folder.text}/${name}`,
});

/** The values of an option, attached, after `=` or in the next word. */
const valuesOf = (words: readonly Word[], option: RegExp): Word[] =>
  words.flatMap((word, index): Word[] => {
    const { text } = word;
    if (text === null || !text.startsWith("-")) return [];
    const next = words[index + 1];
    if (option.test(text)) return next ? [next] : [];
    const [, long, value] = /^(--[^=]+)=(.*)$/s.exec(text) ?? [];
    if (long !== undefined) return option.test(long) ? [{ ...word, text: value ?? null }] : [];
    const [, cluster = "", attached = ""] = /^(-\w)(.+)$/s.exec(text) ?? [];
    if (option.test(cluster)) return [{ ...word, text: attached }];
    // `curl -so FILE`
    return next && option.test(`-${text.at(-1)}`) ? [next] : [];
  });

/** Commands that are what they are, whatever their arguments. */
const runHits = (name: string, rest: readonly Word[], command: SimpleCommand): GuardHit[] => {
  if (/^(mkfs(\..+)?|mke2fs|mkswap|wipefs|blkdiscard|fdisk|sfdisk|sgdisk|parted)$/.test(name))
    return [hit("mkfs", name, "erases")];
  if (/^(shutdown|reboot|halt|poweroff|killall5)$/.test(name)) return [hit("shutdown", name, "stops")];
  if (name === "systemctl" && rest.some(({ text }) => /^(poweroff|reboot|halt|kexec)$/.test(text ?? "")))
    return [hit("shutdown", name, "stops")];
  if (name === "kill" && rest.some(({ text }, index) => text === "-1" && index > 0))
    return [hit("kill -1", name, "endsAll")];
  const isForkBomb = command.inFunctions.includes(name) && (command.fedBy.includes(name) || command.isBackground);
  if (isForkBomb) return [hit("fork bomb", name, "endless")];
  return runsDownload(name, rest, command) ? [hit("curl … | sh", name, "unseen")] : [];
};

const FETCHES = /^(curl|wget|fetch|aria2c|http|https|xh|lynx|nc|ncat)$/;
const RUNS_SCRIPTS = /^(sh|bash|dash|ash|ksh|zsh|fish|csh|tcsh|pwsh|eval|source|\.)$/;
const INTERPRETS = /^(python[\d.]*|node|deno|bun|perl|ruby|php|lua|tclsh|osascript)$/;

const runsDownload = (name: string, rest: readonly Word[], { fedBy, redirects }: SimpleCommand): boolean => {
  const isShell = RUNS_SCRIPTS.test(name);
  if (!isShell && !INTERPRETS.test(name)) return false;
  const fetched = [...rest, ...redirects.map(({ target }) => target)].some(({ runs }) => runs.some(isFetch));
  if (fetched) return true;
  if (!fedBy.some(isFetch)) return false;
  const operand = rest.find(({ text }) => text === null || !text.startsWith("-") || text === "-");
  const readsInput = operand === undefined || operand.text === "-" || operand.text === "/dev/stdin";
  const isInline = rest.some(({ text }) => /^-[a-zA-Z]*[cem]$|^--(eval|command|print)$/.test(text ?? ""));
  return (readsInput && !isInline) || (isShell && rest.some(({ text }) => /^-\w*s/.test(text ?? "")));
};

const isFetch = (name: string): boolean => FETCHES.test(name);
