import { accessSync, type BigIntStats, constants, lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../text/error-message.ts";
import { isPlainGitConfig } from "./git-config.ts";
import { holdsNoRepository } from "./git-index.ts";

const MAX_CONFIG_BYTES = 64 * 1024;
const MAX_INDEX_BYTES = 32 * 1024 * 1024;

/**
 * Whether git, started in the folder itself, can run nothing but itself: it finds an ordinary repository there or above,
 * whose configuration is plain, without hooks, submodules or parts elsewhere. The disk is looked at on each call; the
 * configuration and the index are read again only when they have changed.
 */
export const plainRepositoryCheck = (workDir: string): (() => boolean) => {
  const config = remembered(MAX_CONFIG_BYTES, (content) => isPlainGitConfig(content.toString("utf8")));
  // Before the first `git add` there is none.
  const index = remembered(MAX_INDEX_BYTES, holdsNoRepository, true);
  return () => {
    try {
      const root = repositoryRoot(workDir);
      return (
        root !== undefined && isOrdinary(root) && config(join(root, ".git/config")) && index(join(root, ".git/index"))
      );
    } catch (error) {
      // What the system does not let us look at is nothing to be sure of.
      if (errorCode(error) === undefined) throw error;
      return false;
    }
  };
};

/** The folder that holds the `.git` that git would find; undefined where it could also find something else. */
const repositoryRoot = (workDir: string): string | undefined => {
  for (let folder = workDir; ; folder = dirname(folder)) {
    // A folder that looks like a repository without a work tree is taken for one.
    if (["HEAD", "objects", "refs"].every((name) => lookUp(join(folder, name)))) return undefined;
    const found = lookUp(join(folder, ".git"));
    if (found) return found.isDirectory() && isRepository(join(folder, ".git")) ? folder : undefined;
    if (dirname(folder) === folder) return undefined;
  }
};

/** As git sees it: one that is broken is passed over, and git goes on looking. */
const isRepository = (gitDir: string): boolean => {
  const head = lookUp(join(gitDir, "HEAD"));
  if (!head?.isFile() || head.size > 1024n) return false;
  if (!/^(ref: refs\/|[0-9a-f]{40}\s*$)/.test(readFileSync(join(gitDir, "HEAD"), "utf8"))) return false;
  return ["objects", "refs"].every((name) => {
    accessSync(join(gitDir, name), constants.X_OK);
    return lookUp(join(gitDir, name))?.isDirectory() === true;
  });
};

const isOrdinary = (root: string): boolean => {
  const elsewhere = [
    ".gitmodules",
    ".git/modules",
    ".git/commondir",
    ".git/config.worktree",
    ".git/objects/info/alternates",
  ];
  return !elsewhere.some((name) => lookUp(join(root, name))) && hasNoHook(join(root, ".git/hooks"));
};

/** Looking runs hooks as well: `git status` writes the index. */
const hasNoHook = (folder: string): boolean => {
  const found = lookUp(folder);
  return !found || (found.isDirectory() && readdirSync(folder).every((name) => name.endsWith(".sample")));
};

const lookUp = (path: string): BigIntStats | undefined => lstatSync(path, { bigint: true, throwIfNoEntry: false });

/** An answer about a file's content, kept until the file is another one. */
const remembered = (
  maxBytes: number,
  check: (content: Buffer) => boolean,
  withoutFile = false,
): ((path: string) => boolean) => {
  let known: { readonly of: string; readonly answer: boolean } | undefined;
  return (path) => {
    const found = lookUp(path);
    if (!found) return withoutFile;
    if (!found.isFile() || found.size > BigInt(maxBytes)) return false;
    const of = [path, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
    if (known?.of !== of) known = { of, answer: check(readFileSync(path)) };
    return known.answer;
  };
};
