import { closeSync } from "node:fs";
import * as z from "zod";
import { errorCode } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";
import { byteLength } from "../../text/utf8.ts";
import { defineTool } from "../define-tool.ts";
import type { Tool, ToolOutput } from "../tool.ts";
import { FileError, fromSystem } from "../workspace/file-error.ts";
import { binaryType } from "../workspace/file-type.ts";
import { explainMissing } from "../workspace/missing-file.ts";
import { openRegularFile } from "../workspace/open-file.ts";
import type { PathLocks } from "../workspace/path-lock.ts";
import { type LineRange, type LinesRead, readLines } from "../workspace/read-lines.ts";
import { safePath } from "../workspace/safe-path.ts";
import { shellQuote, showPath } from "../workspace/show-path.ts";
import type { Workspace } from "../workspace/workspace.ts";

export type FileToolOptions = {
  readonly workspace: Workspace;
  readonly locks: PathLocks;
  readonly strings: Strings;
};

export type ReadFileOptions = FileToolOptions & {
  /** UTF-8 bytes of one answer. */
  readonly maxReadBytes: number;
};

const schema = z.strictObject({
  path: z.string().describe("File path, relative to the working directory or absolute inside it"),
  offset: z.int().min(1).optional().describe("First line to read, 1-based; default 1"),
  limit: z.int().min(1).optional().describe("Number of lines to read; default: as many as fit"),
});

// Less than bash shows of one command, so that a part of a long line comes back whole.
const PART_BYTES = 7000;

/** `read_file`: a text file, or some of its lines, as it is. */
export const createReadFile = (options: ReadFileOptions): Tool<z.output<typeof schema>> => {
  const strings = options.strings.files;
  return defineTool(
    {
      name: "read_file",
      description:
        "Read a text file. Returns the text exactly as it is, without line numbers. Long files are cut; the result then names the offset to go on from. Use bash for directories and binary files.",
      schema,
      display: "read {path}",
      kind: "read",
      permission: "low",
      execute: async ({ path, offset = 1, limit = Number.POSITIVE_INFINITY }, { signal }) => {
        const file = { real: safePath(options, path, "read"), shown: showPath(path) };
        const release = await options.locks.read(file.real, signal);
        try {
          const { fd, stats } = openRegularFile(file, strings);
          try {
            const range = { firstLine: offset, maxLines: limit, maxBytes: options.maxReadBytes };
            const read = await readLines(fd, range, signal);
            return describeRead(read, { path, size: stats.size, range, strings });
          } finally {
            closeSync(fd);
          }
        } catch (error) {
          if (errorCode(error) === "ENOENT")
            throw new FileError(
              "file-not-found",
              strings.openFailed(strings.fileMissing(file.shown)) +
                (await explainMissing(options.workspace.workDir, file.real, strings)),
              error,
            );
          throw fromSystem(error, strings, strings.openFailed);
        } finally {
          release();
        }
      },
    },
    options.strings.registry,
  );
};

type ReadAnswer = {
  readonly path: string;
  readonly size: number;
  readonly range: LineRange;
  readonly strings: Strings["files"];
};

const describeRead = (read: LinesRead, { path, size, range, strings }: ReadAnswer): ToolOutput => {
  const shown = showPath(path);
  switch (read.type) {
    case "binary":
      throw new FileError("not-text", strings.binary(shown, binaryType(read.head) ?? strings.unknownType, size));
    case "undecodable":
      throw new FileError("not-text", strings.undecodable(shown, size));
    case "past-end":
      return { output: strings.pastEnd(range.firstLine, read.totalLines), data: fileData(shown, "") };
    case "text": {
      if (read.text === "" && read.end === "file")
        return { output: strings.emptyFile(shown), data: fileData(shown, "") };
      const notice = read.end === "bytes" ? cutNotice(read, { path, size, range, strings }) : "";
      return {
        output: read.text + notice,
        data: { ...fileData(shown, read.text), ...(read.end !== "file" && { truncated: true }) },
      };
    }
    default:
      return read satisfies never;
  }
};

const fileData = (path: string, text: string) => ({
  type: "file" as const,
  path,
  bytes: byteLength(text),
  lines: text === "" ? 0 : lineBreaks(text) + (text.endsWith("\n") ? 0 : 1),
});

const cutNotice = (read: LinesRead & { type: "text" }, { path, range, strings }: ReadAnswer): string => {
  const bytes = byteLength(read.text);
  const notice = `${strings.readCut(bytes)}\n`;
  // A line that was cut comes again whole; one that is longer than the limit never would.
  const next = range.firstLine + lineBreaks(read.text);
  if (next > range.firstLine) return notice + strings.readOn(next);
  return notice + strings.longLine(next, range.maxBytes, restOfLine(path, read, next, bytes));
};

const restOfLine = (path: string, { encoding }: { readonly encoding: string }, line: number, from: number): string => {
  const file = path.startsWith("-") ? `./${path}` : path;
  const cut = `cut -b ${from + 1}-${from + PART_BYTES}`;
  return encoding === "utf-8"
    ? `sed -n '${line}{p;q}' ${shellQuote(file)} | ${cut}`
    : `iconv -f UTF-16 -t UTF-8 ${shellQuote(file)} | sed -n '${line}{p;q}' | ${cut}`;
};

const lineBreaks = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
};
