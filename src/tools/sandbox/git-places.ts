import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { resolveLinks } from "../workspace/resolve-links.ts";
import { isIn, placeKind } from "./place-kind.ts";

export type GitPlaces = { readonly writable: readonly string[]; readonly readOnly: readonly string[] };

/**
 * Where git keeps the repository of a work directory (a real path): a commit writes there, also where that is above it or
 * elsewhere. A `.git` file says where, and a command may have written it; so a place outside counts only where it
 * names this work tree itself, or lies in the repository above. Hooks run as the person, and stay as they are.
 */
export const gitPlaces = (workDir: string): GitPlaces => {
  for (let folder = workDir; ; folder = dirname(folder)) {
    const dotGit = join(folder, ".git");
    const kind = ownKind(dotGit);
    if (kind === "folder" && (folder === workDir || placeKind(join(dotGit, "HEAD")) !== "missing"))
      return repository(dotGit);
    if (kind === "file") return linked(dotGit);
    if (kind === "link") return throughLink(dotGit, workDir);
    if (folder === dirname(folder)) return bare(workDir);
  }
};

const NONE: GitPlaces = { writable: [], readOnly: [] };

// A mount of its own as well: it cannot be moved away, with another one put in its place.
const repository = (folder: string): GitPlaces => ({ writable: [folder], readOnly: [join(folder, "hooks")] });

/** A link could lead to any repository: only one in the work directory counts. */
const throughLink = (dotGit: string, workDir: string): GitPlaces => {
  const target = realPath(dotGit);
  return target !== null && isIn(workDir, target) ? repository(target) : NONE;
};

/** A work tree of another repository, or a submodule. */
const linked = (dotGit: string): GitPlaces => {
  const target = pathIn(dotGit, /^gitdir: (.+)$/m);
  const gitDir = target === null ? null : realPath(resolve(dirname(dotGit), target));
  const own = { writable: [], readOnly: [dotGit] };
  if (gitDir === null || placeKind(gitDir) !== "folder") return own;
  const common = dirname(dirname(gitDir));
  const back = pathIn(join(gitDir, "gitdir"), /^(.+)$/m);
  // A command can make all of this in a work directory that is itself called so, but not the repository above.
  const isWorktree =
    basename(dirname(gitDir)) === "worktrees" &&
    isRepository(common) &&
    back !== null &&
    realPath(resolve(gitDir, back)) === dotGit;
  const isSubmodule = isRepository(gitDir) && isInRepositoryAbove(gitDir, dirname(dotGit));
  const found = isWorktree ? common : isSubmodule ? gitDir : null;
  if (found === null) return own;
  const { writable, readOnly } = repository(found);
  return { writable, readOnly: [...readOnly, dotGit] };
};

const isInRepositoryAbove = (gitDir: string, folder: string): boolean => {
  const parent = dirname(folder);
  if (parent === folder) return false;
  const above = join(parent, ".git");
  return (ownKind(above) === "folder" && isIn(above, gitDir)) || isInRepositoryAbove(gitDir, parent);
};

/** A work directory that is itself a repository. */
const bare = (workDir: string): GitPlaces =>
  isRepository(workDir) ? { writable: [], readOnly: [join(workDir, "hooks")] } : NONE;

const isRepository = (folder: string): boolean =>
  ["HEAD", "objects", "refs"].every((name) => placeKind(join(folder, name)) !== "missing");

const ownKind = (path: string): "folder" | "file" | "link" | "missing" => {
  try {
    const stats = lstatSync(path);
    return stats.isSymbolicLink() ? "link" : stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "missing";
  } catch {
    return "missing"; // or not to be looked at
  }
};

const MAX_POINTER_BYTES = 8192;

const pathIn = (file: string, pattern: RegExp): string | null => {
  try {
    if (lstatSync(file).size > MAX_POINTER_BYTES) return null;
    return pattern.exec(readFileSync(file, "utf8"))?.[1] ?? null;
  } catch {
    return null; // it leads nowhere
  }
};

const realPath = (path: string): string | null => {
  try {
    return resolveLinks(path);
  } catch {
    return null; // links in a circle
  }
};
