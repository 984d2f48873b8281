import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { visibleControls } from "../text/clean.ts";
import { byteLength, headBytes } from "../text/utf8.ts";

/** All instruction files together, in UTF-8 bytes. */
const MAX_BYTES = 32 * 1024;
// Twice the limit and a little: CRLF becomes LF.
const HEAD_BYTES = 2 * MAX_BYTES + 16;
/** In each folder the first that is there. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

export type Instructions = {
  /** The files' texts, each under its path; empty where there are none. */
  readonly text: string;
  readonly files: readonly string[];
  /** Files that were left out or cut, by path. */
  readonly skipped: readonly string[];
  readonly cut: readonly string[];
};

/**
 * The person's own `AGENTS.md`, then one instruction file a folder from the repository's root down to the work
 * directory. Hidden characters are made visible: the text is the model's to read, and nobody else sees it.
 */
export const loadInstructions = (own: string, workDir: string): Instructions => {
  const root = repositoryRoot(workDir);
  const inProject = foldersBetween(root, workDir).flatMap(
    (folder) => NAMES.map((name) => join(folder, name)).find((path) => existsSync(path)) ?? [],
  );
  const parts: string[] = [];
  const files: string[] = [];
  const skipped: string[] = [];
  const cut: string[] = [];
  let left = MAX_BYTES;
  for (const path of [...(existsSync(own) ? [own] : []), ...inProject]) {
    const text = path === own ? readText(path, dirname(own)) : readText(path, root);
    if (text === undefined) {
      skipped.push(path);
      continue;
    }
    const shown = headBytes(text, left);
    left -= byteLength(shown);
    if (shown.length < text.length) cut.push(path);
    if (shown.trim() === "") continue;
    files.push(path);
    parts.push(`# Instructions from ${visibleControls(path)}\n${shown.trim()}`);
  }
  return { text: parts.join("\n\n"), files, skipped, cut };
};

/** Undefined for what is no ordinary text file of this folder: a link that leads out of it would tell the model a secret. */
const readText = (path: string, folder: string): string | undefined => {
  try {
    const real = realpathSync(path);
    const home = realpathSync(folder);
    if (!real.startsWith(home.endsWith(sep) ? home : home + sep)) return undefined;
    const text = readHead(real)
      ?.replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
    return text === undefined ? undefined : visibleControls(text, "\n\t");
  } catch {
    // Gone or unreadable: the caller names it.
    return undefined;
  }
};

/** As much of a file as can be shown and shows that there is more; undefined for what is no ordinary file. */
const readHead = (path: string): string | undefined => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) return undefined;
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
};

/** The nearest folder above that holds `.git`, or the work directory itself. */
const repositoryRoot = (workDir: string): string => {
  for (let folder = workDir; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return workDir;
  }
};

const foldersBetween = (root: string, workDir: string): readonly string[] =>
  root === workDir ? [root] : [...foldersBetween(root, dirname(workDir)), workDir];
