import { spawn } from "node:child_process";
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ignore } from "ignore";
import { childEnv } from "../tools/shell/child-env.ts";
import { withTimeLimit } from "./time-limit.ts";

const LIMIT_MS = 5000;
const READ_TOGETHER = 64;

export type ListFilesOptions = {
  readonly workDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that git does not get. */
  readonly secretNames: Iterable<string>;
  readonly signal: AbortSignal;
  /** Default 50,000. */
  readonly maxFiles?: number;
};

/**
 * The files of the work directory that nothing ignores, and their folders with a final slash: relative, with forward
 * slashes, the shallow ones first. Where git knows the folder it decides, else the `.gitignore` files do. Never throws:
 * what cannot be read, and what has a name that no line can hold, is left out; what time or number cuts off as well.
 */
export const listFiles = (options: ListFilesOptions): Promise<readonly string[]> =>
  withTimeLimit(LIMIT_MS, options.signal, async (signal) => {
    const limited = { maxFiles: 50_000, ...options, signal };
    const known = await gitFiles(limited);
    // Nothing known also means a folder that a repository around it ignores.
    const files = known.length > 0 ? known : await walk(limited);
    return shallowFirst(withFolders(files.filter(isPlain)));
  });

type Limited = ListFilesOptions & { readonly maxFiles: number };

// Controls, separators of lines, bidi controls, lone surrogates, and what stands for bytes that are no UTF-8.
const UNPLAIN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufffd]/u;
const isPlain = (path: string): boolean => !UNPLAIN.test(path);

const withFolders = (files: readonly string[]): string[] => {
  const paths = new Set<string>();
  for (const file of files) {
    for (let end = file.indexOf("/"); end >= 0; end = file.indexOf("/", end + 1)) paths.add(file.slice(0, end + 1));
    paths.add(file);
  }
  return [...paths];
};

const shallowFirst = (paths: readonly string[]): readonly string[] =>
  paths
    .map((path) => ({ path, depth: depth(path) }))
    .sort((a, b) => a.depth - b.depth || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);

const depth = (path: string): number => path.replace(/\/$/, "").split("/").length;

/** Tracked files that are still there and untracked ones; none where git does not know the folder. */
const gitFiles = async (options: Limited): Promise<readonly string[]> => {
  // An untracked node_modules without a .gitignore is nobody's wish.
  const [present, deleted] = await Promise.all([
    git(["ls-files", "-coz", "--exclude-standard", "--exclude=node_modules"], options),
    git(["ls-files", "-dz"], options),
  ]);
  const gone = new Set(deleted);
  return present.filter((path) => !gone.has(path));
};

/** The NUL-terminated names that git prints, as many as came in time; none where it fails. */
const git = (args: readonly string[], { workDir, env, secretNames, signal, maxFiles }: Limited): Promise<string[]> =>
  new Promise((resolve) => {
    // Without the repository's own programs: its fsmonitor and its hooks would run unasked.
    const safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    const child = spawn("git", [...safe, ...args], {
      cwd: workDir,
      env: { ...childEnv(env, secretNames), GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" },
      stdio: ["ignore", "pipe", "ignore"],
      windowsHide: true,
      signal,
    });
    const names: string[] = [];
    let unfinished = Buffer.alloc(0);
    child.stdout.on("data", (bytes: Buffer) => {
      const text = Buffer.concat([unfinished, bytes]);
      const end = text.lastIndexOf(0) + 1;
      unfinished = text.subarray(end);
      if (end > 0) names.push(...text.toString("utf8", 0, end - 1).split("\0"));
      if (names.length >= maxFiles) child.kill();
    });
    // No git, or stopped: the end follows, with what has come.
    child.on("error", () => resolve(names.slice(0, maxFiles)));
    child.on("close", () => resolve(names.slice(0, maxFiles)));
  });

const ALWAYS_IGNORED = [".git", "node_modules"];

/** The rules of one `.gitignore`, for paths below its folder ("" or with a final slash). */
type Rules = { readonly folder: string; readonly ignore: Ignore };
type Folder = { readonly path: string; readonly rules: readonly Rules[] };

const walk = async (options: Limited): Promise<readonly string[]> => {
  const { workDir, signal, maxFiles } = options;
  const { default: createIgnore } = await import("ignore");
  const files: string[] = [];

  const visit = async ({ path, rules }: Folder): Promise<readonly Folder[]> => {
    const entries = await readFolder(join(workDir, path));
    const text = await readRules(entries, join(workDir, path));
    const all = text === undefined ? rules : [{ folder: path, ignore: createIgnore().add(text) }, ...rules];
    const folders: Folder[] = [];
    for (const entry of entries) {
      const name = `${path}${entry.name}`;
      if (ALWAYS_IGNORED.includes(entry.name)) continue;
      if (entry.isDirectory()) {
        if (!isIgnored(`${name}/`, all)) folders.push({ path: `${name}/`, rules: all });
      } else if ((entry.isFile() || entry.isSymbolicLink()) && !isIgnored(name, all)) files.push(name);
    }
    return folders;
  };

  // A file system that does not answer must not hold it either.
  const stopped = new Promise<readonly Folder[]>((resolve) => {
    if (signal.aborted) resolve([]);
    signal.addEventListener("abort", () => resolve([]), { once: true });
  });
  let waiting: readonly Folder[] = [{ path: "", rules: [] }];
  while (waiting.length > 0 && files.length < maxFiles && !signal.aborted) {
    const found = Promise.all(waiting.slice(0, READ_TOGETHER).map(visit));
    waiting = [...waiting.slice(READ_TOGETHER), ...(await Promise.race([found, stopped])).flat()];
  }
  return files.slice(0, maxFiles);
};

const readFolder = async (path: string): Promise<readonly Dirent[]> => {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch {
    // Gone or out of reach.
    return [];
  }
};

const readRules = async (entries: readonly Dirent[], folder: string): Promise<string | undefined> => {
  if (!entries.some((entry) => entry.name === ".gitignore" && entry.isFile())) return undefined;
  try {
    return await readFile(join(folder, ".gitignore"), "utf8");
  } catch {
    // Unreadable: git would go on without it too.
    return undefined;
  }
};

/** The nearest `.gitignore` that says something about the path decides. */
const isIgnored = (path: string, rules: readonly Rules[]): boolean => {
  for (const { folder, ignore } of rules) {
    const { ignored, unignored } = ignore.test(path.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
};
