import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { resolveLinks } from "../workspace/resolve-links.ts";
import { isIn } from "./place-kind.ts";

/** The program that a name stands for on a PATH, as an absolute path. Folders in which `notIn` lies are passed over. */
export const findProgram = (name: string, path: string, notIn: readonly string[] = []): string | undefined =>
  path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(
      (file) => isExecutable(file) && !notIn.some((folder) => isIn(folder, file) || isIn(folder, resolveLinks(file))),
    );

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not there, or not for us
  }
};
