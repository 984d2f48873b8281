import { readFile } from "node:fs/promises";
import { errorCode } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { readJsonc } from "./jsonc.ts";
import { writePrivateFile } from "./paths.ts";

/**
 * Takes a text out of a list in a JSON file with comments, wherever it stands in it; all else stays as it is, but for a
 * comment behind it on its line. Nothing happens where it is not there.
 * @throws ConfigError for a file that is no JSON object.
 */
export const removeFromList = async (
  file: string,
  path: readonly string[],
  text: string,
  strings: Strings["config"],
): Promise<void> => {
  // What cannot be understood is not written over.
  await readJsonc(file, strings);
  const before = await readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
  const after = await withoutElement(before, path, text);
  if (after !== before) await writePrivateFile(file, after);
};

// The library's own removal breaks one-line lists when it removes their last element.
const withoutElement = async (before: string, path: readonly string[], text: string): Promise<string> => {
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  let content = before;
  for (;;) {
    const root = parseTree(content, [], { allowTrailingComma: true });
    const elements = (root && findNodeAtLocation(root, [...path]))?.children ?? [];
    const index = elements.findIndex(({ value }) => value === text);
    const element = elements[index];
    if (element === undefined) return content;
    const previous = elements[index - 1];
    content = cut(content, element, previous && previous.offset + previous.length);
  }
};

const BLANKS = String.raw`(?:\s|//[^\n]*\n|/\*(?:(?!\*/)[\s\S])*\*/)*`;
const COMMA = new RegExp(`^${BLANKS},`);
const REST_OF_LINE = /^[\t ]*(\/\/[^\n]*?)?(?=\r?\n)/;

type Element = { readonly offset: number; readonly length: number };

/** The text without the element and one comma beside it. */
const cut = (text: string, { offset, length }: Element, previousEnd: number | undefined): string => {
  const behind = COMMA.exec(text.slice(offset + length))?.[0].length;
  const end = offset + length + (behind ?? 0);
  const line = lineAround(text, offset, end);
  const head = text.slice(0, line.start);
  const tail = text.slice(line.end);
  if (behind !== undefined || previousEnd === undefined) return head + tail;
  // The last one goes with the comma before it.
  const comma = previousEnd + (COMMA.exec(text.slice(previousEnd))?.[0].length ?? 1) - 1;
  return head.slice(0, comma) + head.slice(comma + 1) + tail;
};

/** The whole line where nothing else stands in it; else the element with the blanks beside it. */
const lineAround = (text: string, start: number, end: number): { readonly start: number; readonly end: number } => {
  const indent = /(^|\n)[\t ]*$/.exec(text.slice(0, start));
  const rest = REST_OF_LINE.exec(text.slice(end));
  if (indent && rest) {
    const lineStart = indent.index + (indent[1] ?? "").length;
    const lineEnd = end + rest[0].length;
    return { start: lineStart, end: lineEnd + (text[lineEnd] === "\r" ? 2 : 1) };
  }
  const blanksBehind = /^[\t ]*/.exec(text.slice(end))?.[0].length ?? 0;
  const isLast = !/,$/.test(text.slice(start, end));
  const blanksBefore = isLast ? (/[\t ]*$/.exec(text.slice(0, start))?.[0].length ?? 0) : 0;
  return { start: start - blanksBefore, end: isLast ? end : end + blanksBehind };
};
