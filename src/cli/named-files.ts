import { accessSync, constants, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, systemMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { atomicWrite } from "../tools/workspace/atomic-write.ts";

/*
 * The folders and files that options name, by their absolute paths. All throw a UserError that names the path and the
 * system's reason.
 */

/** The real path of the work directory. */
export const checkWorkDir = (path: string, strings: Strings["cli"]): string => {
  try {
    if (!statSync(path).isDirectory()) throw new UserError(strings.workDirNotDirectory(path), { exitCode: EXIT.input });
    accessSync(path, constants.R_OK | constants.X_OK);
    return realpathSync(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const message =
      errorCode(error) === "ENOENT"
        ? strings.workDirMissing(path)
        : strings.workDirUnreadable(path, systemMessage(error));
    throw new UserError(message, { exitCode: EXIT.input, cause: error });
  }
};

export const checkAddedDir = (path: string, strings: Strings["cli"]): void => {
  if (!isDirectory(path)) throw new UserError(strings.addedDirMissing(path), { exitCode: EXIT.input });
};

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Missing, below a file, or out of reach.
    return false;
  }
};

/** What `--config` names must be there; the settings' reader says the rest. */
export const checkConfigFile = (path: string, strings: Strings["cli"]): void => {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const message = strings.fileUnreadable("--config", path, systemMessage(error));
    throw new UserError(message, { exitCode: EXIT.config, cause: error });
  }
};

/** The text of a file that an option names. A pipe will do, as from `<(command)`. */
export const readOptionFile = (option: string, path: string, strings: Strings["cli"]): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const message = strings.fileUnreadable(option, path, systemMessage(error));
    throw new UserError(message, { exitCode: EXIT.input, cause: error });
  }
};

/** Whether `--output` can be written is told before the run, not after it. */
export const checkOutput = (path: string, { cli, files }: Strings): void => {
  try {
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing?.isDirectory())
      throw new UserError(cli.outputUnwritable(path, files.reasons.EISDIR), { exitCode: EXIT.input });
    accessSync(existing ? path : dirname(path), constants.W_OK);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(cli.outputUnwritable(path, systemMessage(error)), { exitCode: EXIT.input, cause: error });
  }
};

export const writeOutput = async (path: string, text: string, { cli, files }: Strings): Promise<void> => {
  try {
    const existing = statSync(path, { throwIfNoEntry: false }) ?? null;
    const real = existing ? realpathSync(path) : path;
    if (existing && !existing.isFile()) writeFileSync(path, text);
    else await atomicWrite({ path: { real, shown: path }, bytes: Buffer.from(text), existing, strings: files });
  } catch (error) {
    throw new UserError(cli.outputUnwritable(path, systemMessage(error)), { exitCode: EXIT.failed, cause: error });
  }
};
