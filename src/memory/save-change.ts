import { chmod, lstat, mkdir, open, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { ToolError } from "../tools/tool.ts";
import { atomicWrite } from "../tools/workspace/atomic-write.ts";
import { fromSystem } from "../tools/workspace/file-error.ts";
import type { NamedPath } from "../tools/workspace/open-file.ts";
import { encodeText } from "../tools/workspace/text-file.ts";
import { MAIN_FILE, type MemoryFolder, realFolder } from "./memory-files.ts";
import type { PlannedChange } from "./plan-change.ts";

/** Who may read what is made: in the home the person alone. */
const MODES = { user: { folder: 0o700, file: 0o600 }, project: { folder: 0o755, file: 0o644 } } as const;

/** Writes the file whole or not at all, its format and mode as before. @throws ToolError */
export const saveChange = async (
  { file, shown, text }: PlannedChange,
  folder: MemoryFolder,
  signal: AbortSignal,
  strings: Strings,
): Promise<void> => {
  const isNew = file === null;
  let made: string | undefined;
  try {
    const path: NamedPath = { real: file?.real ?? join(await makeFolder(folder, strings.memory), MAIN_FILE), shown };
    const modes = MODES[folder.scope];
    if (isNew) {
      await makeFile(path, modes.file, strings.memory);
      made = path.real;
    } else if (folder.scope === "user") await chmod(path.real, modes.file);
    const bytes = encodeText(text, file ?? { encoding: "utf-8", bomBytes: 0 });
    const existing = await lstat(path.real);
    await atomicWrite({ path, bytes, existing, strings: strings.files, signal, isChecked: true });
  } catch (error) {
    if (made !== undefined) await rm(made, { force: true });
    throw fromSystem(error, strings.files, (reason) => strings.memory.unusable(shown, reason));
  }
};

/** Fails where there is one that cannot be read: nothing is written over. */
const makeFile = async ({ real, shown }: NamedPath, mode: number, strings: Strings["memory"]): Promise<void> => {
  try {
    await (await open(real, "wx", mode)).close();
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? new ToolError(strings.unusable(shown, strings.thereUnread)) : error;
  }
};

/** The real path of the folder, which is made with its parents. */
const makeFolder = async (folder: MemoryFolder, strings: Strings["memory"]): Promise<string> => {
  const real = realFolder(folder);
  if (real === null) throw new ToolError(strings.unusable(folder.shown, strings.leadsOut));
  await mkdir(real, { recursive: true, mode: MODES[folder.scope].folder });
  // Somebody put a link in the way since.
  if ((await realpath(real)) !== real) throw new ToolError(strings.unusable(folder.shown, strings.leadsOut));
  return real;
};
