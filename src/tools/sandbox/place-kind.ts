import { statSync } from "node:fs";

export type PlaceKind = "folder" | "file" | "missing";

/** `file` is anything that is no folder, a socket as well. What cannot be looked at counts as missing. */
export const placeKind = (path: string): PlaceKind => {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "missing" : stats.isDirectory() ? "folder" : "file";
  } catch {
    return "missing"; // also below a file, or below a folder that the person may not enter
  }
};

/** The same, for one moment: each path is looked at once. */
export const lookedAtOnce = <Result>(look: (path: string) => Result): ((path: string) => Result) => {
  const seen = new Map<string, Result>();
  return (path) => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    const found = look(path);
    seen.set(path, found);
    return found;
  };
};

/** By segments, so that `/project-evil` is not in `/project`. A folder is in itself. */
export const isIn = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
