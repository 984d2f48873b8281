import { resolve } from "node:path";
import { ensurePrivateDir } from "../config/paths.ts";
import { type LogFile, openLogFile } from "../logging/log-file.ts";
import { systemMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import type { RunOptions } from "./program.ts";
import type { Setup } from "./setup.ts";

/** A log that was asked for must open; without one in the default place the run goes on. `tell` hears of one that ends early. */
export const openLog = async (
  { paths, strings, cwd, config: { settings } }: Setup,
  run: RunOptions,
  defaultPath: string,
  tell: (text: string) => void,
): Promise<{ readonly log: LogFile | null; readonly warnings: readonly string[] }> => {
  const path = run.logFile === undefined ? defaultPath : resolve(cwd, run.logFile);
  const onFailure = (error: unknown): void => tell(strings.cli.logStopped(path, systemMessage(error)));
  try {
    if (run.logFile === undefined) {
      await ensurePrivateDir(paths.home);
      await ensurePrivateDir(paths.sessions);
    }
    const block = {
      maxOutputBytes: settings["log.maxOutputBytes"],
      indent: settings["log.indent"],
      inlineArguments: settings["log.inlineArguments"],
    };
    return { log: openLogFile(path, { block, onFailure }), warnings: [] };
  } catch (error) {
    if (run.logFile !== undefined)
      throw new UserError(strings.cli.logUnwritable(path, systemMessage(error)), {
        exitCode: EXIT.config,
        cause: error,
      });
    return { log: null, warnings: [strings.cli.homeUnwritable(paths.home, systemMessage(error))] };
  }
};
