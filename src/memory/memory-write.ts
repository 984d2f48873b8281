import * as z from "zod";
import { stripControls, visibleControls } from "../text/clean.ts";
import { type Mask, maskKeyShapes } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import { byteLength } from "../text/utf8.ts";
import { defineTool } from "../tools/define-tool.ts";
import { type Tool, ToolError } from "../tools/tool.ts";
import { fileDiff } from "../tools/workspace/file-diff.ts";
import type { PathLocks } from "../tools/workspace/path-lock.ts";
import { MAX_TITLE } from "./entries.ts";
import { type MemoryFolder, readMemory } from "./memory-files.ts";
import { type Change, type PlannedChange, planChange } from "./plan-change.ts";
import { saveChange } from "./save-change.ts";

export const MAX_CONTENT_BYTES = 8 * 1024;

const schema = z.strictObject({
  mode: z.enum(["add", "update", "remove"]).describe("add a new entry, update or remove the one with this title"),
  title: z.string().optional().describe("What the entry is about, one line; update and remove need it"),
  content: z.string().optional().describe("The entry's Markdown, short and complete in itself; not for remove"),
  scope: z
    .enum(["project", "user"])
    .describe("project: of this project, kept in it for everybody; user: of the person, for all projects"),
});

type Args = z.output<typeof schema>;

export type MemoryWriteOptions = {
  readonly folders: readonly MemoryFolder[];
  readonly locks: PathLocks;
  /** Waits until no other process changes the memory, and resolves with what ends the turn. */
  readonly takeTurn: (signal: AbortSignal) => Promise<() => void>;
  /** Of the values of known keys. */
  readonly mask: Mask;
  readonly strings: Strings;
};

/** `memory_write`: adds, updates or removes one entry in the files of the person or of the project. */
export const createMemoryWrite = ({ folders, locks, takeTurn, mask, strings }: MemoryWriteOptions): Tool<Args> => {
  const folderOf = ({ scope }: Args): MemoryFolder => {
    const folder = folders.find((one) => one.scope === scope);
    if (!folder) throw new Error(`no memory folder for ${scope}`);
    return folder;
  };
  const plan = async (args: Args): Promise<PlannedChange> => {
    const folder = folderOf(args);
    const { files } = await readMemory(folder, strings);
    return planChange(checked(args, mask, strings.memory), folder, files, strings.memory);
  };
  return defineTool(
    {
      name: "memory_write",
      description:
        "Keep a note for later sessions, or change one: what the person asks you to remember, a decision, a preference, a fact about the project that took work to find. Nothing that the files say anyway, nothing secret.",
      schema,
      display: "remember {title}",
      kind: "other",
      permission: "medium",
      preview: async (args) => {
        try {
          return diffOf(await plan(args));
        } catch (error) {
          // What cannot be done is not worth a picture: the call itself says why.
          if (error instanceof ToolError) return undefined;
          throw error;
        }
      },
      proposal: async (args) => {
        if (args.mode === "remove") throw new ToolError(strings.memory.contentUnused);
        const { before, after } = await plan(args);
        return {
          name: "memory.md",
          text: after,
          before,
          with: (text) => (text.trim() === "" || text.trim() === before ? undefined : { ...args, content: text }),
        };
      },
      execute: async (args, { signal }) => {
        const folder = folderOf(args);
        const release = await locks.write(folder.dir, signal);
        let endTurn = (): void => undefined;
        try {
          endTurn = await takeTurn(signal);
          // Anew: a person may have edited the file since the question.
          const planned = await plan(args);
          if (planned.isDone) return strings.memory.unchanged(planned.place);
          await saveChange(planned, folder, signal, strings);
          const data = await diffOf(planned);
          return { output: said(args, planned, strings.memory), ...(data && { data }) };
        } finally {
          endTurn();
          release();
        }
      },
    },
    strings.registry,
  );
};

const checked = (args: Args, mask: Mask, strings: Strings["memory"]): Change => {
  const title =
    args.title === undefined || args.title.trim() === "" ? undefined : checkTitle(mask(args.title), strings);
  if (args.mode === "remove") {
    if (title === undefined) throw new ToolError(strings.titleNeeded);
    if (args.content) throw new ToolError(strings.contentUnused);
    return { mode: "remove", title };
  }
  const content = writable(mask((args.content ?? "").replaceAll("\r\n", "\n"))).trim();
  if (!/[^\s\p{Default_Ignorable_Code_Point}]/u.test(content)) throw new ToolError(strings.contentEmpty);
  const bytes = byteLength(content);
  if (bytes > MAX_CONTENT_BYTES) throw new ToolError(strings.contentTooLong(bytes, MAX_CONTENT_BYTES));
  const words = `${title ?? ""}\n${content}`;
  // Known values are masked; what only looks like a key might be anything, so the model is to say it otherwise.
  if (maskKeyShapes(words) !== words) throw new ToolError(strings.contentSecret);
  if (args.mode === "add") return { mode: "add", title, content };
  if (title === undefined) throw new ToolError(strings.titleNeeded);
  return { mode: "update", title, content };
};

// Half a character cannot be written, and a control character is nobody's note.
const writable = (text: string): string => stripControls(text).replace(/\p{Cs}/gu, "\uFFFD");

const checkTitle = (given: string, strings: Strings["memory"]): string => {
  // Marks of a heading are none of its title, before and after it.
  const title = given
    .trim()
    .replace(/^#+\s+/, "")
    .replace(/(?<!\s)\s+#+$/, "");
  const isUsable =
    [...title].length <= MAX_TITLE && /[\p{L}\p{N}\p{S}]/u.test(title) && visibleControls(title) === title;
  if (!isUsable) throw new ToolError(strings.titleUnusable(MAX_TITLE));
  return title;
};

const diffOf = async ({ shown, title, before, after }: PlannedChange) =>
  (await fileDiff({ path: visibleControls(`${shown} › ${title}`), before, after })) ?? undefined;

const said = ({ mode }: Args, { title, place }: PlannedChange, strings: Strings["memory"]): string => {
  const shown = visibleControls(title);
  switch (mode) {
    case "add":
      return strings.added(shown, place);
    case "update":
      return strings.updated(shown, place);
    case "remove":
      return strings.removed(shown, place);
    default:
      return mode satisfies never;
  }
};
