import { lstatSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { nearest } from "../../text/nearest.ts";
import type { Strings } from "../../text/strings.ts";
import { showPath } from "./show-path.ts";

const MAX_ENTRIES = 5000;
const MAX_SUGGESTIONS = 5;

/** What helps with a path that does not exist: the deepest folder that does, and names in it that are near. */
export const explainMissing = async (workDir: string, real: string, strings: Strings["files"]): Promise<string> => {
  let missing = real;
  while (dirname(missing) !== missing && !isFolder(dirname(missing))) missing = dirname(missing);
  const folder = dirname(missing);
  const names = nearNames(basename(missing), await entriesOf(folder));
  const show = (path: string): string => {
    const fromWorkDir = relative(workDir, path);
    return showPath(fromWorkDir === "" ? "." : fromWorkDir.startsWith(`..${sep}`) ? path : fromWorkDir);
  };
  const lines = missing === real ? [] : [strings.folderMissing(show(folder), showPath(basename(missing)))];
  if (names.length > 0) lines.push(strings.nearNames(names.map((name) => show(join(folder, name)))));
  return lines.map((line) => `\n${line}`).join("");
};

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const entriesOf = async (folder: string): Promise<string[]> => {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length === MAX_ENTRIES) break;
    }
  } catch {
    // A folder that cannot be listed suggests nothing; the error that brought us here says what is wrong.
  }
  return names.sort();
};

const nearNames = (name: string, entries: readonly string[]): string[] => {
  const stem = (text: string): string => basename(text, extname(text)).toLowerCase();
  const sameStem = entries.filter((entry) => stem(entry) === stem(name));
  return [...new Set([...nearest(name, entries), ...sameStem])].slice(0, MAX_SUGGESTIONS);
};
