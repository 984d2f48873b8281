import { visibleControls } from "../text/clean.ts";

/**
 * A path below the work directory with "/" between its names, one character (U+0000 to U+00FF) for each byte: a name need
 * not be UTF-8, and the order of such strings is the order of the bytes.
 */
export type BytePath = string;

const NOT_ASCII = /[\x80-\xff]/;

/** The path as the file system takes it. */
export const diskPath = (workDir: string, path: BytePath): string | Buffer => {
  if (path === "") return workDir;
  if (!NOT_ASCII.test(path)) return `${workDir}/${path}`;
  return Buffer.concat([Buffer.from(`${workDir}/`), Buffer.from(path, "latin1")]);
};

export const bytePath = (path: string): BytePath => Buffer.from(path).toString("latin1");

const CHARACTERS =
  /[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/** The path for people: as UTF-8, with `\xff` for a byte that is none. */
export const shownPath = (path: BytePath): string =>
  NOT_ASCII.test(path) ? path.replace(CHARACTERS, shownCharacter) : path;

const shownCharacter = (bytes: string): string => {
  if (bytes.length === 1 && bytes >= "\x80") return `\\x${bytes.charCodeAt(0).toString(16)}`;
  return Buffer.from(bytes, "latin1").toString("utf8");
};

/** The path for one line of text. */
export const linePath = (path: BytePath): string => visibleControls(shownPath(path));

/** "" for a path without a folder. */
export const parentOf = (path: BytePath): BytePath => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** The folders that the path leads through, the outermost first. */
export const parentsOf = (path: BytePath): BytePath[] => {
  const parents: BytePath[] = [];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) parents.push(path.slice(0, end));
  return parents;
};

export const inFolder = (folder: BytePath, name: string): BytePath => (folder === "" ? name : `${folder}/${name}`);

/** Git's own folder, also as a file system without upper and lower case would find it. */
export const isGitName = (name: string): boolean => name.length === 4 && name.toLowerCase() === ".git";

/** Whether it is the name of something in a folder that a snapshot may hold. */
export const isPlainName = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && !isGitName(name);
