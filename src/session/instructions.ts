import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { visibleControls } from "../text/clean.ts";
import { byteLength, headBytes } from "../text/utf8.ts";

/** All instruction files together, in UTF-8 bytes. */
export const MAX_INSTRUCTION_BYTES = 32 * 1024;
// Twice the limit and a little: CRLF becomes LF.
const HEAD_BYTES = 2 * MAX_INSTRUCTION_BYTES + 16;
/** In each folder the first that is there. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

export type InstructionFile = {
  readonly path: string;
  /** Of the whole file. */
  readonly bytes: number;
  /** What of it counts: less where the budget was used up. */
  readonly shownBytes: number;
};

export type Instructions = {
  /** The files' texts, each under its path; empty where there are none. */
  readonly text: string;
  /** In the order of the text. */
  readonly files: readonly InstructionFile[];
  /** Those that were left out, by path: no ordinary files of their folder. */
  readonly skipped: readonly string[];
  /** Those of `files` that were cut. */
  readonly cut: readonly InstructionFile[];
};

/** What a session has that goes on with its old prompt, or has none. */
export const NO_INSTRUCTIONS: Instructions = { text: "", files: [], skipped: [], cut: [] };

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
  const files: InstructionFile[] = [];
  const skipped: string[] = [];
  const cut: InstructionFile[] = [];
  let left = MAX_INSTRUCTION_BYTES;
  for (const path of [...(existsSync(own) ? [own] : []), ...inProject]) {
    const read = readText(path, path === own ? dirname(own) : root);
    if (read === undefined) {
      skipped.push(path);
      continue;
    }
    const shown = headBytes(read.text, left);
    const file = { path, bytes: read.bytes, shownBytes: byteLength(shown) };
    left -= file.shownBytes;
    const isCut = shown.length < read.text.length;
    if (shown.trim() === "" && !isCut) continue;
    files.push(isCut ? file : { ...file, shownBytes: read.bytes });
    if (isCut) cut.push(file);
    const lines = [shown.trim(), ...(isCut ? [cutNote(shown, file)] : [])].filter((line) => line !== "");
    parts.push([`# Instructions from ${visibleControls(path)}`, ...lines].join("\n"));
  }
  return { text: parts.join("\n\n"), files, skipped, cut };
};

/** For the model, which can read what did not fit. */
const cutNote = (shown: string, { path, bytes, shownBytes }: InstructionFile): string =>
  `[The first ${shownBytes} of ${bytes} bytes of this file. Read the rest when it may matter: read_file with path ${JSON.stringify(visibleControls(path))} and offset ${shown.split("\n").length}.]`;

type ReadText = { readonly text: string; readonly bytes: number };

/** Undefined for what is no ordinary text file of this folder: a link that leads out of it would tell the model a secret. */
const readText = (path: string, folder: string): ReadText | undefined => {
  try {
    const real = realpathSync(path);
    const home = realpathSync(folder);
    if (!real.startsWith(home.endsWith(sep) ? home : home + sep)) return undefined;
    const head = readHead(real);
    const text = head?.text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
    return head && text !== undefined ? { text: visibleControls(text, "\n\t"), bytes: head.bytes } : undefined;
  } catch {
    // Gone or unreadable: the caller names it.
    return undefined;
  }
};

/** As much of a file as can be shown and shows that there is more; undefined for what is no ordinary file. */
const readHead = (path: string): ReadText | undefined => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.alloc(HEAD_BYTES);
    return { text: bytes.toString("utf8", 0, readSync(file, bytes)), bytes: stats.size };
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
