import { lstatSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { type BytePath, bytePath, diskPath, parentsOf } from "./byte-path.ts";
import { type IgnoreRules, isIgnored, parseIgnoreRules } from "./ignore-rules.ts";
import { readWhole } from "./read-file.ts";

const MAX_BYTES = 1024 * 1024;

/** Where the paths that rules are asked about begin, seen from the work directory: "" or, from a repository around it, with a final slash. */
export type IgnoreStart = { readonly prefix: BytePath; readonly rules: readonly IgnoreRules[] };

/**
 * What the repository around the work directory says: its `info/exclude` and the `.gitignore` files down to the work
 * directory's parent. Nothing where it ignores the work directory itself, as a home under git does: it is none of its own then.
 */
export const ignoreAround = (workDir: string): IgnoreStart => {
  const root = repositoryRoot(workDir);
  if (root === null || root === workDir) return { prefix: "", rules: root === null ? [] : repositoryRules(root, "") };
  const names = relative(root, workDir).split(sep);
  const folders = names.map((_, index) => names.slice(0, index).join("/"));
  const nearestFirst = folders
    .flatMap((folder) => gitignoreRules(join(root, folder), withSlash(bytePath(folder))))
    .reverse();
  const rules = [...nearestFirst, ...repositoryRules(root, "")];
  const path = bytePath(names.join("/"));
  const isOut = [...parentsOf(path), path].some((folder) => isIgnoredFolder(folder, rules));
  return isOut ? { prefix: "", rules: [] } : { prefix: withSlash(path), rules };
};

const isIgnoredFolder = (path: BytePath, rules: readonly IgnoreRules[]): boolean =>
  isIgnored(
    { path, name: path.slice(path.lastIndexOf("/") + 1), isFolder: true },
    rules.filter(({ base }) => path.startsWith(base)),
  );

/** The rules of the `.gitignore` of a folder; none where it has none that can be read. A link is none, as for git. */
export const gitignoreRules = (folder: string | Buffer, base: BytePath): IgnoreRules[] => {
  const text = readText(
    typeof folder === "string" ? join(folder, ".gitignore") : Buffer.concat([folder, Buffer.from("/.gitignore")]),
  );
  return text === null ? [] : [parseIgnoreRules(base, text)];
};

/** The rules in `info/exclude` of the repository whose `.git` stands in this folder. */
export const repositoryRules = (folder: string, base: BytePath): IgnoreRules[] => {
  const gitDir = realGitDir(join(folder, ".git"));
  const text = gitDir === null ? null : readText(join(gitDir, "info", "exclude"));
  return text === null ? [] : [parseIgnoreRules(base, text)];
};

/** For a repository in a subfolder, whose name need not be UTF-8. */
export const nestedRepositoryRules = (workDir: string, path: BytePath, base: BytePath): IgnoreRules[] => {
  const folder = diskPath(workDir, path);
  // Only git's own files are left out of a name that is no UTF-8; such a repository has its .gitignore files all the same.
  return typeof folder === "string" ? repositoryRules(folder, base) : repositoryRules(folder.toString(), base);
};

const withSlash = (path: BytePath): BytePath => (path === "" ? "" : `${path}/`);

const repositoryRoot = (folder: string): string | null => {
  if (stats(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : repositoryRoot(parent);
};

/** `.git` is a folder, or a file that names one: a worktree's has the common one's name in `commondir`. */
const realGitDir = (path: string): string | null => {
  const found = stats(path);
  if (!found?.isFile()) return found?.isDirectory() ? path : null;
  const named = readText(path)?.match(/^gitdir: (.*?)\r?\n?$/s)?.[1];
  if (named === undefined) return null;
  const gitDir = resolveFrom(dirname(path), named);
  const common = readText(join(gitDir, "commondir"))?.trim();
  return common ? resolveFrom(gitDir, common) : gitDir;
};

const resolveFrom = (folder: string, bytes: string): string => {
  const path = Buffer.from(bytes, "latin1").toString("utf8");
  return isAbsolute(path) ? path : join(folder, path);
};

const readText = (path: string | Buffer): string | null => {
  const read = readWhole(path, MAX_BYTES);
  return read.type === "read" ? read.bytes.toString("latin1") : null;
};

const stats = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Out of reach is as good as not there.
    return undefined;
  }
};
