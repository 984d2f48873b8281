import { readFile, stat } from "node:fs/promises";
import { errorCode } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { ConfigError } from "./config-error.ts";

/** One property of a settings file by its dotted key; `log: {indent: 4}` gives `log.indent`. */
export type JsoncProperty = { readonly key: string; readonly value: unknown; readonly line: number };

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The properties of a JSON file with comments, in its order; null where there is no such file.
 * @throws ConfigError that names file, line and what is wrong.
 */
export const readJsonc = async (path: string, strings: Strings["config"]): Promise<readonly JsoncProperty[] | null> => {
  const text = await readText(path, strings);
  return text === null ? null : parseProperties(path, text, strings);
};

const readText = async (path: string, strings: Strings["config"]): Promise<string | null> => {
  try {
    const stats = await stat(path);
    // A FIFO would hold the start for ever.
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new ConfigError(strings.notAFile(path));
    const text = await readFile(path, "utf8");
    return text.startsWith("\uFEFF") ? text.slice(1) : text;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new ConfigError(strings.unreadable(path, code), { cause: error });
  }
};

const parseProperties = async (
  path: string,
  text: string,
  strings: Strings["config"],
): Promise<readonly JsoncProperty[]> => {
  if (text.trim() === "") return [];
  const { getNodeValue, parseTree, printParseErrorCode } = await import("jsonc-parser");
  const errors: import("jsonc-parser").ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) throw new ConfigError(strings.syntax(path, lineAt(text, first.offset), printParseErrorCode(first.error)));
  if (root?.type !== "object") throw new ConfigError(strings.notAnObject(path, lineAt(text, root?.offset ?? 0)));
  // The tree rather than JSON.parse: it has the lines, and a "__proto__" key stays a key.
  const properties = (node: import("jsonc-parser").Node, prefix: string): JsoncProperty[] =>
    (node.children ?? []).flatMap((property) => {
      const [name, value] = property.children ?? [];
      if (!name || !value) return [];
      const key = `${prefix}${name.value}`;
      if (key === "log") {
        const line = lineAt(text, property.offset);
        if (value.type !== "object") throw new ConfigError(strings.invalid(`${path}:${line}`, key, strings.anObject));
        return properties(value, "log.");
      }
      // A setting of its own, and settings that belong to it.
      if (key === "sandbox" && value.type === "object") return properties(value, "sandbox.");
      return [{ key, value: getNodeValue(value), line: lineAt(text, property.offset) }];
    });
  return properties(root, "");
};

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;
