import { closeSync, readFileSync, type Stats } from "node:fs";
import { basename } from "node:path";
import * as z from "zod";
import type { ToolData } from "../../schema/tool.ts";
import { errorCode } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";
import { defineTool } from "../define-tool.ts";
import { type Tool, ToolError } from "../tool.ts";
import { atomicWrite } from "../workspace/atomic-write.ts";
import { explainMiss } from "../workspace/explain-miss.ts";
import { editDiff } from "../workspace/file-diff.ts";
import { FileError, fromSystem } from "../workspace/file-error.ts";
import { fuzzyReplace, type Replacement } from "../workspace/fuzzy-replace.ts";
import { explainMissing } from "../workspace/missing-file.ts";
import { MAX_COUNTED } from "../workspace/occurrences.ts";
import { type NamedPath, openRegularFile } from "../workspace/open-file.ts";
import { safePath } from "../workspace/safe-path.ts";
import { showPath } from "../workspace/show-path.ts";
import { replaceExactly, smallestEdit } from "../workspace/smallest-edit.ts";
import { decodeText, encodeText, hasLoneSurrogate, type TextFile } from "../workspace/text-file.ts";
import type { FileToolOptions } from "./read-file.ts";

const schema = z.strictObject({
  path: z.string().describe("File path, relative to the working directory or absolute inside it"),
  source_text: z
    .string()
    .describe("The text to replace, copied from the file with its indentation; it must occur exactly once"),
  target_text: z.string().describe("The text to put in its place; empty to delete it"),
});

/** Of a call that a person has changed: the target's line endings are meant as they stand. The model does not know of it. */
const revisedSchema = schema.extend({ exact: z.literal(true) });

type EditArgs = z.output<typeof schema> & { readonly exact?: true };
type Replaced = Extract<Replacement, { ok: true }>;

const MAX_EDIT_BYTES = 64 * 1024 * 1024;

/** `edit_file`: replaces the one place where a text stands in a file. */
export const createEditFile = (options: FileToolOptions): Tool<z.output<typeof schema>> => {
  const strings = options.strings.files;
  const tool = defineTool(
    {
      name: "edit_file",
      description:
        "Replace text in an existing file. source_text must occur exactly once: include enough lines around the change to make it unique. Differences in line endings, outer blanks and indentation are tolerated. Everything else in the file stays as it is.",
      schema,
      display: "edit {path}",
      kind: "edit",
      permission: "medium",
      preview: async (args) => {
        try {
          const file = { real: safePath(options, args.path, "write"), shown: showPath(args.path) };
          const { old, replaced } = await prepareEdit(file, args, options);
          return await editData(file, old, replaced);
        } catch (error) {
          // What cannot be shown cannot be done either: the call itself says why.
          if (error instanceof ToolError || errorCode(error) !== undefined) return undefined;
          throw error;
        }
      },
      proposal: async (args) => {
        const file = { real: safePath(options, args.path, "write"), shown: showPath(args.path) };
        const { old, replaced } = await prepareEdit(file, args, options);
        return {
          name: basename(file.real),
          text: replaced.content,
          before: old.text,
          with: (text) => editTo(unmarked(text, old), args.path, old),
        };
      },
      execute: async (args: EditArgs, { signal }) => {
        const file = { real: safePath(options, args.path, "write"), shown: showPath(args.path) };
        const release = await options.locks.write(file.real, signal);
        try {
          const { old, replaced } = await prepareEdit(file, args, options);
          const bytes = encodeText(replaced.content, old);
          await saveEdit({ path: file, bytes, existing: old.stats, strings, signal, isChecked: true });
          return { output: describeEdit(file, old, replaced, strings), data: await editData(file, old, replaced) };
        } finally {
          release();
        }
      },
    },
    options.strings.registry,
  );
  const parse = (value: unknown): EditArgs => {
    const revised = revisedSchema.safeParse(value);
    return revised.success ? revised.data : tool.parse(value);
  };
  return { ...tool, parse };
};

/** The arguments that make `text` of the file. */
const editTo = (text: string, path: string, old: OldText): EditArgs | undefined => {
  if (text === old.text) return undefined;
  const { source, target, isExact } = smallestEdit(old.text, text);
  return { path, source_text: source, target_text: target, ...(isExact && { exact: true }) };
};

type OldText = TextFile & { readonly stats: Stats };

const prepareEdit = async (
  file: NamedPath,
  args: EditArgs,
  options: FileToolOptions,
): Promise<{ readonly old: OldText; readonly replaced: Replaced }> => {
  const strings = options.strings.files;
  for (const name of ["source_text", "target_text"] as const)
    if (hasLoneSurrogate(args[name])) throw new FileError("bad-argument", strings.loneSurrogate(name));
  const old = await readOld(file, options);
  const source = unmarked(args.source_text, old);
  const target = unmarked(args.target_text, old);
  const replaced = (args.exact ? replaceExactly : fuzzyReplace)(old.text, source, target);
  if (!replaced.ok) throw new FileError(replaced.kind, explainFailure(replaced, old.text, source, strings));
  return { old, replaced };
};

/** The text is matched without its byte order mark, so that the mark stays whatever is replaced. */
const unmarked = (text: string, { bomBytes }: OldText): string => (bomBytes > 0 ? text.replace(/^\ufeff/, "") : text);

const readOld = async (
  file: NamedPath,
  { workspace, strings: { files: strings } }: FileToolOptions,
): Promise<OldText> => {
  try {
    const { fd, stats } = openRegularFile(file, strings);
    try {
      if (stats.size > MAX_EDIT_BYTES) throw new FileError("too-large", strings.tooLarge(file.shown, stats.size));
      const text = decodeText(readFileSync(fd));
      if (!text) throw new FileError("not-text", strings.notText(file.shown, stats.size));
      return { ...text, stats };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw fromSystem(error, strings, strings.editReadFailed);
    const help = await explainMissing(workspace.workDir, file.real, strings);
    throw new FileError("file-not-found", strings.editReadFailed(strings.fileMissing(file.shown)) + help, error);
  }
};

const explainFailure = (
  failure: Exclude<Replacement, { ok: true }>,
  content: string,
  source: string,
  strings: Strings["files"],
): string => {
  switch (failure.kind) {
    case "empty-source":
      return strings.emptySource;
    case "no-change":
      return strings.noChange;
    case "not-found":
      return explainMiss(content, source, strings);
    case "not-unique": {
      const count = failure.count === MAX_COUNTED ? `${failure.count}+` : String(failure.count);
      const sentence = failure.level === 4 ? strings.notUniqueFuzzy(count) : strings.notUnique(count);
      const lines = failure.lines.join(", ") + (failure.lines.length < failure.count ? ", …" : "");
      return `${sentence}\n${strings.matchLines(lines)}`;
    }
    default:
      return failure satisfies never;
  }
};

const saveEdit = async (write: Parameters<typeof atomicWrite>[0]): Promise<void> => {
  try {
    await atomicWrite(write);
  } catch (error) {
    throw fromSystem(error, write.strings, write.strings.editWriteFailed);
  }
};

const describeEdit = (file: NamedPath, old: OldText, replaced: Replaced, strings: Strings["files"]): string => {
  const done = strings.edited(file.shown);
  if (replaced.level === 1) return done;
  const first = old.text.slice(0, replaced.start).split("\n").length;
  const last = first + replaced.text.replace(/\n$/, "").split("\n").length - 1;
  return `${done}\n${strings.editedLeniently(strings.matchLevels[replaced.level], first, last)}`;
};

const editData = async (file: NamedPath, old: OldText, replaced: Replaced): Promise<ToolData> =>
  (await editDiff(file.shown, old.text, replaced)) ?? {
    type: "file",
    path: file.shown,
    bytes: encodeText(replaced.content, old).length,
  };
