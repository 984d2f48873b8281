import { statSync } from "node:fs";

export type PlaceKind = "folder" | "file" | "missing";

/** `file` is anything that is no folder, a socket as well. What cannot be looked at counts as missing. */
export const placeKind = (path: string): PlaceKind => {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return "missing"; // also below a file, or below a folder that the person may not enter
  }
};

/** By segments, so that `/project-evil` is not in `/project`. A folder is in itself. */
export const isIn = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
