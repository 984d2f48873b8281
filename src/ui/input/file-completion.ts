import type { Rank } from "./fuzzy.ts";

/** Paths to complete, shallow ones first, with their folders (`src/`). Make it once for a list of files. */
export type FileList = {
  readonly paths: readonly string[];
  /** The last part of each path. */
  readonly names: readonly string[];
  readonly folders: ReadonlySet<string>;
};

export type FileMatch = { readonly path: string; readonly positions: readonly number[] };

export type FileMatches = { readonly items: readonly FileMatch[]; readonly total: number };

/** From the project's files, relative and with `/` between the parts; a folder among them ends with `/`. */
export const createFileList = (files: readonly string[]): FileList => {
  const folders = new Set<string>();
  for (const file of files) {
    let end = file.lastIndexOf("/");
    // Who has a folder has its parents as well.
    while (end > 0 && !folders.has(file.slice(0, end + 1))) {
      folders.add(file.slice(0, end + 1));
      end = file.lastIndexOf("/", end - 1);
    }
  }
  const paths = [...new Set([...folders, ...files])]
    .map((path) => ({ path, depth: depthOf(path), hidden: path.startsWith(".") }))
    .sort((a, b) => a.depth - b.depth || Number(a.hidden) - Number(b.hidden) || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
  return { paths, names: paths.map(nameOf), folders };
};

// A name that is matched less well than this comes no earlier than other paths.
const GOOD = 0.5;

/**
 * The paths that match, best first. A folder with its slash lists what is in it; else good matches of the last part
 * come first, then those of the whole path.
 */
export const completeFiles = (query: string, list: FileList, rank: Rank, limit: number): FileMatches => {
  const wanted = query.replace(/^(?:\.\/)+/, "");
  if (list.folders.has(wanted)) return filesIn(wanted, list, limit);
  const byPath = rank(wanted, list.paths, limit);
  // A part of a path has no slash, but for the last one of a folder.
  const byName = wanted.trim() === "" || wanted.includes("/") ? [] : rank(wanted, list.names, limit).items;
  const matches = new Map<string, FileMatch>();
  for (const { index, score, positions } of byName) {
    const path = list.paths[index] ?? "";
    const offset = path.length - (list.names[index] ?? "").length;
    if (score >= GOOD) matches.set(path, { path, positions: positions.map((position) => position + offset) });
  }
  for (const { index, positions } of byPath.items) {
    const path = list.paths[index] ?? "";
    if (!matches.has(path)) matches.set(path, { path, positions });
  }
  return { items: [...matches.values()].slice(0, limit), total: byPath.total };
};

const filesIn = (folder: string, list: FileList, limit: number): FileMatches => {
  const inside = list.paths.filter((path) => path.startsWith(folder) && path !== folder);
  return { items: inside.slice(0, limit).map((path) => ({ path, positions: [] })), total: inside.length };
};

const withoutSlash = (path: string): string => (path.endsWith("/") ? path.slice(0, -1) : path);

const depthOf = (path: string): number => withoutSlash(path).split("/").length;

const nameOf = (path: string): string => path.slice(withoutSlash(path).lastIndexOf("/") + 1);
