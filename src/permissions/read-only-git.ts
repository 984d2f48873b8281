import { type Arguments, type Program, readArguments } from "./read-only-arguments.ts";
import { isLiteral, type Word } from "./shell-word.ts";

const words = (text: string): readonly string[] => text.split(" ");

const DIFF = {
  flags: "pusbwaRqcz",
  values: "SGl",
  optional: "UMCB",
  long: words(
    "patch no-patch stat? numstat shortstat dirstat? summary name-only name-status color? no-color color-words? color-moved? word-diff? word-diff-regex= unified= minimal patience histogram diff-algorithm= indent-heuristic ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol find-renames? find-copies? find-copies-harder no-renames text binary full-index abbrev? diff-filter= pickaxe-all pickaxe-regex relative? no-relative exit-code quiet cc combined-all-paths no-ext-diff no-textconv compact-summary check raw cached staged merge-base function-context inter-hunk-context= src-prefix= dst-prefix= no-prefix ita-visible-in-index",
  ),
} satisfies Program;

const LOG = {
  ...DIFF,
  flags: `${DIFF.flags}giEFPmtr`,
  values: `${DIFF.values}nL`,
  numbers: true,
  long: [
    ...DIFF.long,
    ...words(
      "max-count= skip= since= after= until= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp merges no-merges min-parents= max-parents= first-parent all branches? tags? remotes? glob= exclude= oneline graph no-graph decorate? no-decorate decorate-refs= clear-decorations format= pretty? abbrev-commit no-abbrev-commit date= relative-date follow full-history simplify-by-decoration simplify-merges sparse dense show-pulls reverse topo-order date-order author-date-order left-right left-only right-only cherry cherry-pick cherry-mark boundary parents children source no-walk? ancestry-path? walk-reflogs log-size no-notes show-linear-break? root diff-merges= no-commit-id",
    ),
  ],
} satisfies Program;

const REFS = words("format= sort= count= contains= no-contains= merged= no-merged= points-at= color? ignore-case");

const lists = ({ options, operands }: Arguments): boolean =>
  operands.length === 0 || options.has("--list") || options.has("-l");

const firstIs =
  (pattern: RegExp) =>
  ({ operands: [first] }: Arguments) =>
    pattern.test(first?.text ?? "");

const readsConfig = ({ options, operands }: Arguments): boolean => {
  if (["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"].some((name) => options.has(name)))
    return true;
  const [verb, key] = operands.map(({ text }) => text ?? "");
  if (verb === "list") return operands.length === 1;
  if (verb === "get") return operands.length === 2 && key !== undefined;
  // `git config user.name` reads; `git config edit` does not.
  return operands.length === 1 && /^[^.]+\..+/.test(verb ?? "");
};

/** What git does without changing the repository, by subcommand. */
const SUBCOMMANDS: Readonly<Record<string, Program>> = {
  status: {
    flags: "sbvz",
    optional: "uM",
    long: words(
      "short branch porcelain? long verbose untracked-files? ignored? ahead-behind no-ahead-behind renames no-renames find-renames? column? no-column show-stash null",
    ),
  },
  log: LOG,
  show: LOG,
  "rev-list": { ...LOG, long: [...LOG.long, ...words("count objects timestamp header disk-usage?")] },
  shortlog: {
    ...LOG,
    flags: `${LOG.flags}ne`,
    values: `${DIFF.values}L`,
    long: [...LOG.long, ...words("numbered summary email committer group=")],
  },
  diff: { ...DIFF, numbers: true },
  "diff-tree": LOG,
  branch: {
    flags: "arvli",
    long: [...REFS, ...words("all remotes verbose list show-current column? no-column abbrev? no-abbrev")],
    accepts: lists,
  },
  tag: { flags: "li", optional: "n", long: [...REFS, ...words("list column? no-column")], accepts: lists },
  remote: {
    flags: "v",
    long: words("verbose push all"),
    accepts: (given) => given.operands.length === 0 || firstIs(/^get-url$/)(given),
  },
  stash: {
    ...LOG,
    long: [...LOG.long, ...words("include-untracked only-untracked")],
    accepts: firstIs(/^(list|show)$/),
  },
  reflog: { ...LOG, accepts: (given) => given.operands.length === 0 || firstIs(/^show$/)(given) },
  "rev-parse": {
    flags: "q",
    long: words(
      "abbrev-ref? short? show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup show-superproject-working-tree verify quiet symbolic-full-name symbolic all branches? tags? remotes? default= revs-only no-revs flags no-flags git-path= show-object-format? show-ref-format",
    ),
  },
  "ls-files": {
    flags: "cdmoiuskzvt",
    values: "x",
    long: words(
      "cached deleted modified others ignored stage unmerged killed exclude-standard exclude= full-name error-unmatch abbrev? directory no-empty-directory eol deduplicate format=",
    ),
  },
  "ls-tree": {
    flags: "drtlz",
    long: words("name-only name-status full-name full-tree abbrev? long object-only format="),
  },
  blame: {
    flags: "ltsepwcbfn",
    values: "L",
    optional: "MC",
    long: words(
      "show-name show-number show-email show-stats porcelain line-porcelain incremental since= date= abbrev= root reverse first-parent ignore-rev= color-lines color-by-age score-debug",
    ),
  },
  describe: {
    long: words(
      "all tags contains always long dirty? broken? abbrev= exact-match match= exclude= first-parent candidates=",
    ),
  },
  "cat-file": { flags: "tsep", long: words("batch-check?") },
  "merge-base": { flags: "a", long: words("all octopus independent is-ancestor fork-point") },
  "name-rev": { long: words("tags refs= exclude= all name-only always no-undefined") },
  "for-each-ref": { long: [...REFS, ...words("exclude=")] },
  "show-ref": { flags: "dqs", long: words("heads branches tags head dereference hash? verify quiet abbrev? exists") },
  "symbolic-ref": { flags: "q", long: words("short quiet no-recurse"), max: 1 },
  "count-objects": { flags: "vH", long: words("verbose human-readable") },
  "check-ignore": { flags: "qvzn", long: words("quiet verbose non-matching no-index") },
  worktree: { flags: "vz", long: words("porcelain verbose"), max: 1, accepts: firstIs(/^list$/) },
  config: {
    flags: "lz",
    long: words(
      "get get-all get-regexp get-urlmatch list local global system worktree show-origin show-scope name-only type= bool int bool-or-int null default= includes no-includes all regexp",
    ),
    operands: "text",
    accepts: readsConfig,
  },
  grep: {
    flags: "niwvEFPGlLchHoqpWzIar",
    values: "eABCm",
    numbers: true,
    long: words(
      "line-number ignore-case word-regexp invert-match extended-regexp fixed-strings perl-regexp basic-regexp files-with-matches name-only files-without-match count only-matching quiet show-function function-context null text heading break column color? no-color cached after-context= before-context= context= max-count= max-depth= full-name and or not all-match threads=",
    ),
    operands: "pattern",
    patternFrom: ["-e"],
  },
};

export type GitLook = {
  readonly given: Arguments;
  readonly program: Program;
  /** `-C`: git starts elsewhere. */
  readonly isMoved: boolean;
};

/** A harmless git command's arguments and what they are; null where it is not known to be harmless. */
export const readGit = (rest: readonly Word[]): GitLook | null => {
  const folders: Word[] = [];
  let index = 0;
  for (; rest[index]?.text?.startsWith("-"); index += 1) {
    const { text } = rest[index] ?? {};
    if (text === "-C") {
      const folder = rest[index + 1];
      if (!isLiteral(folder)) return null;
      folders.push(folder);
      index += 1;
    } else if (text !== "--no-pager" && text !== "-P" && text !== "--no-optional-locks") return null;
  }
  const name = rest[index];
  if (!isLiteral(name) || !Object.hasOwn(SUBCOMMANDS, name.text)) return null;
  const found = SUBCOMMANDS[name.text];
  // `%G?` and its like have gpg look at signatures.
  if (found === undefined || rest.some(({ text }) => /%G|%\(signature/.test(text ?? ""))) return null;
  const program = { ...found, exposed: true as const };
  const given = readArguments(rest.slice(index + 1), program);
  if (given === null) return null;
  return { given: { ...given, files: [...given.files, ...folders] }, program, isMoved: folders.length > 0 };
};
