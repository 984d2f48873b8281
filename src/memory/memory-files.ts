import { closeSync, readFileSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { errorCode, systemMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { ToolError } from "../tools/tool.ts";
import { fromSystem } from "../tools/workspace/file-error.ts";
import { openRegularFile } from "../tools/workspace/open-file.ts";
import { resolveLinks } from "../tools/workspace/resolve-links.ts";
import { decodeText, type TextFormat } from "../tools/workspace/text-file.ts";

export type MemoryScope = "project" | "user";

/** Where entries are kept: Markdown files that a person can edit. */
export type MemoryFolder = {
  readonly scope: MemoryScope;
  readonly dir: string;
  /** The folder as people write it. */
  readonly shown: string;
  /** On the way from here to the folder nothing may be a link: it could lead anywhere. */
  readonly within: string;
};

export type MemoryFile = TextFormat & {
  readonly folder: MemoryFolder;
  readonly real: string;
  readonly shown: string;
  /** The one that the model writes new entries into. */
  readonly isMain: boolean;
  readonly text: string;
};

export type MemoryFiles = {
  readonly files: readonly MemoryFile[];
  /** Why a file was not read, a sentence each. */
  readonly problems: readonly string[];
};

export const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 100;
/** Of a folder's files together: a search takes time for each. */
const MAX_FOLDER_BYTES = 1024 * 1024;

/** The file that the model writes into. */
export const MAIN_FILE = "MEMORY.md";

/** The Markdown files of a folder and of those in it, the main one first, then by name. A folder that is not there has none. */
export const readMemory = async (folder: MemoryFolder, strings: Strings): Promise<MemoryFiles> => {
  const dir = realFolder(folder);
  if (dir === null) return { files: [], problems: [strings.memory.notRead(folder.shown, strings.memory.leadsOut)] };
  const found = await memoryNames(folder, dir, strings);
  const { names } = found;
  const files: MemoryFile[] = [];
  const problems = [...found.problems];
  let left = MAX_FOLDER_BYTES;
  for (const name of names.slice(0, MAX_FILES)) {
    const read = readOne(folder, dir, name, strings);
    if (!("problem" in read)) left -= read.text.length;
    if (left < 0) {
      problems.push(strings.memory.notRead(shownPath(folder, name), strings.memory.folderFull(MAX_FOLDER_BYTES)));
      break;
    }
    if ("problem" in read) problems.push(strings.memory.notRead(shownPath(folder, name), read.problem));
    else files.push(read);
  }
  if (names.length > MAX_FILES)
    problems.push(strings.memory.notRead(folder.shown, strings.memory.filesTooMany(MAX_FILES)));
  return { files, problems };
};

export const shownPath = ({ shown }: MemoryFolder, name: string): string => (name === "" ? shown : `${shown}/${name}`);

type Names = { readonly names: readonly string[]; readonly problems: readonly string[] };

/** The Markdown files of a folder and of those in it. One that may not be read has none, and says so. */
const memoryNames = async (folder: MemoryFolder, dir: string, strings: Strings, below = ""): Promise<Names> => {
  const names: string[] = [];
  const problems: string[] = [];
  try {
    for (const entry of await readdir(join(dir, below), { withFileTypes: true })) {
      const name = join(below, entry.name);
      if (entry.name.startsWith(".")) continue;
      if (/\.md$/i.test(name)) names.push(name);
      if (!entry.isDirectory()) continue;
      const inside = await memoryNames(folder, dir, strings, name);
      names.push(...inside.names);
      problems.push(...inside.problems);
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    // It is not there, or gone since.
    if (!["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? ""))
      problems.push(strings.memory.notRead(shownPath(folder, below), systemMessage(error)));
  }
  const sorted = names.sort((a, b) => Number(isMainName(b)) - Number(isMainName(a)) || (a < b ? -1 : 1));
  return { names: sorted, problems };
};

/** Where letter case does not matter to the file system, it may be written in another. */
const isMainName = (name: string): boolean => name.toLowerCase() === MAIN_FILE.toLowerCase();

const readOne = (
  folder: MemoryFolder,
  dir: string,
  name: string,
  strings: Strings,
): MemoryFile | { readonly problem: string } => {
  const shown = shownPath(folder, name);
  try {
    const real = realpathSync(join(dir, name));
    if (!real.startsWith(dir + sep)) return { problem: strings.memory.leadsOut };
    const { fd, stats } = openRegularFile({ real, shown }, strings.files);
    try {
      if (stats.size > MAX_FILE_BYTES) return { problem: strings.memory.fileTooLarge(MAX_FILE_BYTES) };
      const decoded = decodeText(readFileSync(fd));
      return decoded
        ? { ...decoded, folder, real, shown, isMain: isMainName(name) }
        : { problem: strings.memory.notText };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const known = fromSystem(error, strings.files, (reason) => reason);
    if (known instanceof ToolError) return { problem: known.message };
    throw error;
  }
};

/** Where the folder really is, whether it exists or not; null where a link stands in the way. */
export const realFolder = ({ dir, within }: MemoryFolder): string | null => {
  const real = resolveLinks(dir);
  return real === join(resolveLinks(within), relative(within, dir)) ? real : null;
};
