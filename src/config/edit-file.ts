import { readFile } from "node:fs/promises";
import { errorCode } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { readJsonc } from "./jsonc.ts";
import { writePrivateFile } from "./paths.ts";

/**
 * Sets one place in a JSON file with comments, all else kept; the file is made where there is none. The index -1 adds
 * to the end of a list.
 * @throws ConfigError for a file that is no JSON object.
 */
export const editFile = async (
  file: string,
  path: readonly (string | number)[],
  value: unknown,
  strings: Strings["config"],
): Promise<void> => {
  // What cannot be understood is not written over.
  await readJsonc(file, strings);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
  const before = text.trim() === "" ? "{}\n" : text.replace(/^\uFEFF/, "");
  const { applyEdits, modify } = await import("jsonc-parser");
  const edits = modify(before, [...path], value, {
    isArrayInsertion: path.at(-1) === -1,
    formattingOptions: { insertSpaces: true, tabSize: 2, eol: before.includes("\r\n") ? "\r\n" : "\n" },
  });
  await writePrivateFile(file, applyEdits(before, edits));
};
