import * as z from "zod";
import { visibleControls } from "../text/clean.ts";
import type { Strings } from "../text/strings.ts";
import { byteLength, headBytes } from "../text/utf8.ts";
import { defineTool } from "../tools/define-tool.ts";
import { type Tool, ToolError, type ToolOutput } from "../tools/tool.ts";
import { type Entry, splitEntries } from "./entries.ts";
import { type MemoryFile, type MemoryFolder, readMemory } from "./memory-files.ts";
import { MATCH_TYPE, matchTypeLabel, relevanceLevel } from "./relevance.ts";
import type { Found } from "./search.ts";

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
/** A longer entry is searched in parts, and of a part that is still longer the beginning is shown. */
const PART_BYTES = 1500;

const schema = z.strictObject({
  query: z.string().describe("A few words that what you look for would contain"),
  limit: z.int().min(1).max(MAX_LIMIT).optional().describe(`How many hits at most; default ${DEFAULT_LIMIT}`),
});

export type MemoryReadOptions = {
  readonly folders: readonly MemoryFolder[];
  readonly strings: Strings;
};

/** `memory_read`: searches what was remembered, for all projects and for this one. */
export const createMemoryRead = ({ folders, strings }: MemoryReadOptions): Tool<z.output<typeof schema>> =>
  defineTool(
    {
      name: "memory_read",
      description:
        "Search the notes that were kept from earlier sessions: facts, decisions and preferences of the person and of this project.",
      schema,
      display: "memory {query}",
      kind: "other",
      permission: "low",
      execute: async ({ query, limit = DEFAULT_LIMIT }) => {
        if (query.trim() === "") throw new ToolError(strings.memory.queryEmpty);
        const read = await Promise.all(folders.map((folder) => readMemory(folder, strings)));
        const parts = read.flatMap(({ files }) => files.flatMap(partsOf));
        // Most sessions ask nothing.
        const { search } = await import("./search.ts");
        const found = await search(query, parts);
        const answer = describe(query, { found, limit, entries: parts.length }, strings.memory);
        const problems = read.flatMap(({ problems }) => problems).map((problem) => visibleControls(problem));
        return { ...answer, output: [answer.output, ...problems].join("\n") };
      },
    },
    strings.registry,
  );

/** What is searched: an entry, or a part of a long one. */
type Part = {
  readonly title: string;
  /** With its heading. */
  readonly text: string;
  readonly file: MemoryFile;
  readonly firstLine: number;
  readonly lastLine: number;
};

const partsOf = (file: MemoryFile): readonly Part[] =>
  splitEntries(file.text).entries.flatMap((entry) => entryParts(file, entry));

const entryParts = (file: MemoryFile, { title, start, end, firstLine }: Entry): readonly Part[] => {
  const parts: { lines: string[]; firstLine: number }[] = [];
  const text = file.text.slice(start, end).replaceAll("\r\n", "\n").trimEnd();
  for (const [index, line] of text.split("\n").entries()) {
    const open = parts.at(-1);
    const isNew = open === undefined || (line.trim() === "" && byteLength(open.lines.join("\n")) > PART_BYTES / 2);
    if (isNew && !(open && byteLength(text) <= PART_BYTES)) parts.push({ lines: [line], firstLine: firstLine + index });
    else open?.lines.push(line);
  }
  return parts.map(({ lines, firstLine: first }) => ({
    title: visibleControls(title),
    text: visibleControls(lines.join("\n"), "\n\t"),
    file,
    firstLine: first,
    lastLine: first + lines.length - 1,
  }));
};

type Answer = { readonly found: readonly Found<Part>[]; readonly limit: number; readonly entries: number };

const describe = (
  query: string,
  { found, limit, entries }: Answer,
  strings: Strings["memory"],
): Exclude<ToolOutput, string> => {
  const hits = found.slice(0, limit).map(({ item, score }) => hitOf(item, score, strings));
  const data = { type: "json" as const, value: { results: hits } };
  if (entries === 0) return { output: strings.nothingKept, data };
  if (hits.length === 0) return { output: strings.notFound(visibleControls(query.trim()), entries), data };
  const texts = hits.map(
    ({ title, text, relevance, matchType, file, firstLine, lastLine, scope }) =>
      strings.hit(title, relevance, matchType) +
      strings.place(`${file}:${firstLine}-${lastLine}`, strings.scopes[scope]) +
      text
        .split("\n")
        .map((line) => `\n  | ${line}`.trimEnd())
        .join(""),
  );
  return { output: [strings.found(hits.length, found.length), ...texts].join("\n"), data };
};

/** A hit as data: for whoever draws it. */
const hitOf = ({ title, text, file, firstLine, lastLine }: Part, score: number, strings: Strings["memory"]) => ({
  title,
  file: visibleControls(file.shown),
  firstLine,
  lastLine,
  scope: file.folder.scope,
  score,
  relevance: relevanceLevel(score, strings),
  matchType: matchTypeLabel(MATCH_TYPE.keywords, strings),
  text: shortened(text, strings),
});

const shortened = (text: string, strings: Strings["memory"]): string => {
  const head = headBytes(text, PART_BYTES);
  return head.length === text.length ? text : `${head}${strings.textCut(byteLength(text) - byteLength(head))}`;
};
