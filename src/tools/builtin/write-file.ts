import { closeSync, readFileSync, readSync, type Stats } from "node:fs";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as z from "zod";
import type { ToolData } from "../../schema/tool.ts";
import { errorCode } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";
import { byteLength } from "../../text/utf8.ts";
import { defineTool } from "../define-tool.ts";
import { type Tool, ToolError } from "../tool.ts";
import { atomicWrite } from "../workspace/atomic-write.ts";
import { fileDiff } from "../workspace/file-diff.ts";
import { FileError, fromSystem } from "../workspace/file-error.ts";
import { type NamedPath, openRegularFile, refuseSpecial } from "../workspace/open-file.ts";
import { safePath } from "../workspace/safe-path.ts";
import { showPath } from "../workspace/show-path.ts";
import { decodeText, encodeText, hasLoneSurrogate, sniffFormat, type TextFormat } from "../workspace/text-file.ts";
import type { FileToolOptions } from "./read-file.ts";

const schema = z.strictObject({
  path: z.string().describe("File path, relative to the working directory or absolute inside it"),
  content: z.string().describe("The whole new content of the file"),
});

// A larger file is shown by its size alone.
const MAX_DIFF_BYTES = 1_000_000;
const NO_BOM: TextFormat = { encoding: "utf-8", bomBytes: 0 };

/** `write_file`: creates a file with its folders, or replaces one whole. */
export const createWriteFile = (options: FileToolOptions): Tool<z.output<typeof schema>> => {
  const strings = options.strings.files;
  return defineTool(
    {
      name: "write_file",
      description:
        "Create a file, or overwrite an existing one, with exactly this content. Missing folders are created. Use edit_file to change parts of an existing file.",
      schema,
      display: "write {path}",
      kind: "edit",
      permission: "medium",
      preview: async ({ path, content }) => {
        try {
          const file = { real: safePath(options, path, "write"), shown: showPath(path) };
          return await writeData(await readOld(file, strings), file.shown, content);
        } catch (error) {
          // What cannot be shown cannot be written either: the call itself says why.
          if (error instanceof ToolError || errorCode(error) !== undefined) return undefined;
          throw error;
        }
      },
      proposal: async ({ path, content }) => {
        const file = { real: safePath(options, path, "write"), shown: showPath(path) };
        const old = await readOld(file, strings);
        return {
          name: basename(file.real),
          text: content,
          before: old ? old.text : "",
          with: (text) => (old !== null && isSame(text, old) ? undefined : { path, content: text }),
        };
      },
      execute: async ({ path, content }, { signal }) => {
        if (hasLoneSurrogate(content)) throw new FileError("bad-argument", strings.loneSurrogate("content"));
        const file = { real: safePath(options, path, "write"), shown: showPath(path) };
        const release = await options.locks.write(file.real, signal);
        try {
          const old = await readOld(file, strings);
          if (!old) await makeFolder(file, strings);
          const bytes = encodeContent(content, old?.format ?? NO_BOM);
          await atomicWrite({ path: file, bytes, existing: old?.stats ?? null, strings, signal, isChecked: true });
          return {
            output: strings.written(byteLength(content), file.shown),
            data: await writeData(old, file.shown, content),
          };
        } catch (error) {
          throw fromSystem(error, strings, strings.writeFailed);
        } finally {
          release();
        }
      },
    },
    options.strings.registry,
  );
};

type OldFile = {
  readonly stats: Stats;
  readonly format: TextFormat;
  /** Null where it is not text or too large to be shown. */
  readonly text: string | null;
};

const readOld = async (file: NamedPath, strings: Strings["files"]): Promise<OldFile | null> => {
  let stats: Stats;
  try {
    stats = await lstat(file.real);
  } catch (error) {
    // Parents may be missing too, or be a file: makeFolder tells.
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
  refuseSpecial(stats, file.shown, strings);
  const { fd } = openRegularFile(file, strings);
  try {
    if (stats.size <= MAX_DIFF_BYTES) {
      const bytes = readFileSync(fd);
      return { stats, format: sniffFormat(bytes) ?? NO_BOM, text: decodeText(bytes)?.text ?? null };
    }
    const head = Buffer.alloc(4);
    readSync(fd, head, 0, head.length, 0);
    return { stats, format: sniffFormat(head) ?? NO_BOM, text: null };
  } finally {
    closeSync(fd);
  }
};

const makeFolder = async ({ real, shown }: NamedPath, strings: Strings["files"]): Promise<void> => {
  const folder = dirname(real);
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw fromSystem(error, strings, strings.mkdirFailed);
  }
  // Somebody put a link in the way since the path was checked.
  if ((await realpath(folder)) !== folder) throw new FileError("outside", strings.outside(shown));
};

/** A file that had a byte order mark keeps it, and its encoding. */
const encodeContent = (content: string, old: TextFormat): Buffer => {
  if (old.bomBytes === 0) return Buffer.from(content, "utf8");
  return encodeText(content.startsWith("\ufeff") ? content.slice(1) : content, old);
};

const isSame = (content: string, { text, format }: OldFile): boolean =>
  text !== null && encodeContent(content, format).equals(encodeText(text, format));

const writeData = async (old: OldFile | null, path: string, content: string): Promise<ToolData> => {
  const bytes = byteLength(content);
  const before = old ? old.text : "";
  const after = content.startsWith("\ufeff") ? content.slice(1) : content;
  const diff = before === null || bytes > MAX_DIFF_BYTES ? null : await fileDiff({ path, before, after });
  return diff ?? { type: "file", path, bytes };
};
