import type { Strings } from "../text/strings.ts";
import { completionScript } from "./completion-command.ts";
import { runConfig } from "./config-command.ts";
import { runDoctor } from "./doctor-command.ts";
import { runLogs } from "./logs-command.ts";
import { runPermissions } from "./permissions-command.ts";
import type { Actions } from "./program.ts";
import { run } from "./run-command.ts";
import type { Surroundings } from "./setup.ts";
import { printTools } from "./tools-command.ts";
import { runTrust } from "./trust-command.ts";

export type ActionsOptions = {
  readonly surroundings: Surroundings;
  readonly version: string;
  /** Until the settings are read. */
  readonly strings: Strings;
};

/** What the commands do. One module: the program loads it when the command line has been understood. */
export const createActions = ({ surroundings, version, strings }: ActionsOptions): Actions => ({
  run: (prompt, options) => run({ prompt, options, surroundings, version, strings }),
  config: async (request, options) => {
    await runConfig(request, options, surroundings);
    return 0;
  },
  tools: async (options) => {
    await printTools(options, surroundings);
    return 0;
  },
  logs: (options) => runLogs(options, surroundings),
  // Loaded for itself: a run writes journals and reads none.
  sessions: async (request, options) => {
    const { runSessions } = await import("./sessions-command.ts");
    return runSessions(request, options, surroundings);
  },
  usage: async (request, options) => {
    await (await import("./usage-command.ts")).printUsage(request, options, surroundings);
    return 0;
  },
  replay: async (request, options) => {
    const { runReplay } = await import("./replay-command.ts");
    return runReplay(request, options, surroundings);
  },
  doctor: (options) => runDoctor(options, surroundings, version),
  trust: async (options) => {
    await runTrust(options, surroundings);
    return 0;
  },
  permissions: async (request, options) => {
    await runPermissions(request, options, surroundings);
    return 0;
  },
  completion: async (shell, program) => {
    process.stdout.write(completionScript(shell, program, strings.cli));
    return 0;
  },
});
