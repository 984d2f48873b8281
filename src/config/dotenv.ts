import { readFile, stat } from "node:fs/promises";
import { errorCode } from "../text/error-message.ts";

export type DotenvEntry = { readonly value: string; readonly line: number };

/**
 * One line of a `.env` file, or null where it sets nothing: blank, `#`, without `=`, or without a name.
 * Name and value are trimmed; one pair of matching quotes goes; mismatched ones stay.
 * There is no `export`, no comment after a value, no second line, no interpolation.
 */
export const parseDotenvLine = (line: string): { readonly name: string; readonly value: string } | null => {
  const text = line.trim();
  const equals = text.indexOf("=");
  if (text.startsWith("#") || equals < 0) return null;
  const name = text.slice(0, equals).trim();
  return name === "" ? null : { name, value: unquote(text.slice(equals + 1).trim()) };
};

const unquote = (value: string): string => {
  const quote = value[0];
  const isQuoted = value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote);
  return isQuoted ? value.slice(1, -1) : value;
};

/** The variables of a `.env` file with their 1-based lines. The first value that is not empty wins. */
export const parseDotenv = (text: string): Map<string, DotenvEntry> => {
  const entries = new Map<string, DotenvEntry>();
  for (const [index, line] of text.split("\n").entries()) {
    const parsed = parseDotenvLine(line);
    if (parsed && !entries.get(parsed.name)?.value) entries.set(parsed.name, { value: parsed.value, line: index + 1 });
  }
  return entries;
};

const MAX_BYTES = 1024 * 1024;

/** A `.env` file's variables. A missing file, or one that is not a file of ordinary size, has none; an unreadable one throws. */
export const readDotenv = async (path: string): Promise<Map<string, DotenvEntry>> => {
  const stats = await stat(path).catch(missing);
  // A FIFO would hold the start for ever.
  if (!stats?.isFile() || stats.size > MAX_BYTES) return new Map();
  return parseDotenv(await readFile(path, "utf8"));
};

const missing = (error: unknown): null => {
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return null;
  throw error;
};
