import type { Strings } from "../text/strings.ts";
import type { Actions } from "./program.ts";
import { run } from "./run-command.ts";
import type { Surroundings } from "./setup.ts";

export type ActionsOptions = {
  readonly surroundings: Surroundings;
  readonly version: string;
  /** Until the settings are read. */
  readonly strings: Strings;
};

/** What the commands do. Each is loaded for itself: a run needs none of the others. */
export const createActions = ({ surroundings, version, strings }: ActionsOptions): Actions => ({
  run: (prompt, options) => run({ prompt, options, surroundings, version, strings }),
  config: async (request, options) => {
    await (await import("./config-command.ts")).runConfig(request, options, surroundings);
    return 0;
  },
  tools: async (options) => {
    await (await import("./tools-command.ts")).printTools(options, surroundings);
    return 0;
  },
  logs: async (options) => (await import("./logs-command.ts")).runLogs(options, surroundings),
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
  doctor: async (options) => (await import("./doctor-command.ts")).runDoctor(options, surroundings, version),
  trust: async (options) => {
    await (await import("./trust-command.ts")).runTrust(options, surroundings);
    return 0;
  },
  permissions: async (request, options) => {
    await (await import("./permissions-command.ts")).runPermissions(request, options, surroundings);
    return 0;
  },
  completion: async (shell, program) => {
    process.stdout.write((await import("./completion-command.ts")).completionScript(shell, program, strings.cli));
    return 0;
  },
});
