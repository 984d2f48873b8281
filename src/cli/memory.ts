import { lstatSync } from "node:fs";
import { lstat, mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { ensurePrivateDir, writePrivateFile } from "../config/paths.ts";
import { MAIN_FILE, readMemory, realFolder, shownPath } from "../memory/memory-files.ts";
import { loadInstructions, MAX_INSTRUCTION_BYTES } from "../session/instructions.ts";
import type { ChatMemory, ListedFile } from "../session/memory.ts";
import { errorCode, errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import { atomicWrite } from "../tools/workspace/atomic-write.ts";
import { decodeText, encodeText, type TextFormat } from "../tools/workspace/text-file.ts";
import { memoryFolders, withTilde } from "./memory-folders.ts";
import type { Setup } from "./setup.ts";

const PLAIN: TextFormat = { encoding: "utf-8", bomBytes: 0 };

/** What the chat may do with instruction files and memory. */
export const chatMemory = (setup: Setup): ChatMemory => {
  const { paths, workDir, homeDir, strings, config } = setup;
  const failed = (sentence: string, cause?: unknown): UserError =>
    new UserError(sentence, { exitCode: EXIT.failed, ...(cause !== undefined && { cause }) });

  const load = async ({ path, shown }: ListedFile): Promise<{ readonly text: string; readonly format: TextFormat }> => {
    let bytes: Buffer;
    try {
      if (!(await stat(path)).isFile()) throw failed(strings.memory.notOpened(shown, strings.memory.notText));
      bytes = await readFile(path);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return { text: "", format: PLAIN };
      throw error instanceof UserError ? error : failed(strings.memory.notOpened(shown, errorMessage(error)), error);
    }
    const decoded = decodeText(bytes);
    if (!decoded) throw failed(strings.memory.notOpened(shown, strings.memory.notText));
    return { text: decoded.text, format: decoded };
  };

  const instructionFiles = (): readonly ListedFile[] => {
    const { files } = loadInstructions(paths.instructions, workDir);
    const listed = files.map(
      ({ path, bytes, shownBytes }): ListedFile => ({
        kind: "instructions",
        path,
        shown: shownFor(path),
        bytes,
        shownBytes,
      }),
    );
    const hasOwn = files.some(({ path }) => path === paths.instructions);
    return [...(hasOwn ? [] : [missing("instructions", paths.instructions)]), ...listed];
  };
  const missing = (kind: ListedFile["kind"], path: string): ListedFile => ({
    kind,
    path,
    shown: shownFor(path),
    bytes: null,
  });
  const shownFor = (path: string): string => {
    const inside = relative(workDir, path);
    return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? withTilde(path, homeDir) : inside;
  };

  const memoryFiles = async (): Promise<readonly ListedFile[]> => {
    const all = await Promise.all(
      memoryFolders(setup).map(async (folder): Promise<readonly ListedFile[]> => {
        const { files } = await readMemory(folder, strings);
        const listed = files.map(
          (file): ListedFile => ({
            kind: "memory",
            path: file.real,
            shown: file.shown,
            bytes: encodeText(file.text, file).length,
          }),
        );
        const main = { path: join(folder.dir, MAIN_FILE), shown: shownPath(folder, MAIN_FILE) };
        // A link that leads elsewhere is not offered under our name.
        const canBeMade = realFolder(folder) !== null && !lstatSync(main.path, { throwIfNoEntry: false });
        return canBeMade ? [...listed, { kind: "memory", ...main, bytes: null }] : listed;
      }),
    );
    return all.flat();
  };

  return {
    list: async () => ({
      files: [...instructionFiles(), ...(await memoryFiles())],
      instructionLimit: MAX_INSTRUCTION_BYTES,
      isOn: config.settings.memory,
    }),
    read: async (file) => (await load(file)).text,
    save: async (file, before, edited) => {
      const { path, shown } = file;
      const now = await load(file);
      // Of a text that had no last newline, the editor's own is taken for nobody's.
      const text = before === "" && edited !== "" && !edited.endsWith("\n") ? `${edited}\n` : edited;
      if (now.text !== before) throw failed(strings.memory.changedMeanwhile(shown));
      try {
        if (path.startsWith(`${paths.home}/`)) {
          await ensurePrivateDir(paths.home);
          await writePrivateFile(path, encodeText(text, now.format));
          return;
        }
        await mkdir(dirname(path), { recursive: true });
        const real = await realpath(path).catch(() => path);
        const existing = await lstat(real).catch(() => null);
        const bytes = encodeText(text, now.format);
        await atomicWrite({ path: { real, shown }, bytes, existing, strings: strings.files });
      } catch (error) {
        throw failed(strings.memory.unusable(shown, errorMessage(error)), error);
      }
    },
  };
};
