import { resolve } from "node:path";
import { isLiteral, type Word } from "./shell-word.ts";

/** One shell process: `cd` changes it for what follows. Null is a folder that only the shell can know. */
export type Shell = { directories: readonly (string | null)[] };

const MAX_DIRECTORIES = 8;
// What Linux allows in one path.
const MAX_PATH = 4096;

export const union = (some: Shell["directories"], more: Shell["directories"]): Shell["directories"] => {
  const all = [...new Set([...some, ...more])];
  return all.length > MAX_DIRECTORIES ? [...all.slice(0, MAX_DIRECTORIES), null] : all;
};

/** What `cd`, `pushd` and `popd` do to the shell. */
export const changeDirectory = (name: string, words: readonly Word[], shell: Shell, homeDir: string): void => {
  if (name === "popd") shell.directories = union(shell.directories, [null]);
  if (name !== "cd" && name !== "pushd") return;
  const target = words.slice(1).find(({ text }) => text === null || text === "-" || !/^-[LPe@-]*$/.test(text));
  const path = target === undefined ? homeDir : isLiteral(target) && target.text !== "-" ? target.text : null;
  shell.directories = shell.directories.map((directory) => {
    if (path === null) return null;
    const next = directory === null ? (path.startsWith("/") ? path : null) : resolve(directory, path);
    return next !== null && next.length > MAX_PATH ? null : next;
  });
};
