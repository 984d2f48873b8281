import { readFileSync } from "node:fs";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { openSandbox, type SandboxProblem } from "../tools/sandbox/open-sandbox.ts";
import type { PolicyOptions } from "../tools/sandbox/policy.ts";
import type { Sandbox } from "../tools/sandbox/sandbox.ts";
import { createTrialMemory } from "../tools/sandbox/trial-memory.ts";
import { createWorkspace } from "../tools/workspace/workspace.ts";
import type { Setup } from "./setup.ts";

/**
 * The sandbox of a session's commands; undefined where the settings want none, or where none works and none is required.
 * @throws UserError where one is required and none works.
 */
export const sessionSandbox = async (setup: Setup, outputsDir: string): Promise<Sandbox | undefined> => {
  const { env, strings, config } = setup;
  if (config.settings.sandbox === "off") return undefined;
  const options = sandboxOptions(setup, [outputsDir]);
  // Where one is required, it is known before anything has run.
  const memory = config.settings.sandbox === "auto" ? createTrialMemory(setup.paths.sandboxTrial) : undefined;
  const found = await openSandbox({ ...options, env, platform: process.platform, memory });
  if (found.type === "works") return found.sandbox;
  if (config.settings.sandbox === "auto") return undefined;
  throw new UserError(strings.sandbox.required(problemText(found, strings.sandbox)), {
    exitCode: EXIT.config,
    hint: strings.sandbox.requiredHint(problemHint(found, strings.sandbox)),
  });
};

/** What the settings make of it. */
export const sandboxOptions = (setup: Setup, readableDirs: readonly string[]): PolicyOptions => {
  const { workDir, homeDir, env, paths, config } = setup;
  const { settings } = config;
  return {
    workspace: createWorkspace({
      workDir,
      homeDir,
      harnessHome: paths.home,
      addedDirs: settings.addDirs,
      readableDirs,
    }),
    homeDir,
    tempDirs: ["/tmp", ...(env["TMPDIR"] ? [env["TMPDIR"]] : [])],
    writable: settings["sandbox.writable"],
    network: settings["sandbox.network"],
  };
};

export const problemText = (problem: SandboxProblem, { problems }: Strings["sandbox"]): string => {
  switch (problem.type) {
    case "platform":
      return problems.platform(process.platform);
    case "no-program":
      return problems["no-program"](problem.name);
    case "failed":
      return problems.failed(problem.name, problem.said);
    default:
      return problem satisfies never;
  }
};

/** What a person can do about it. */
export const problemHint = (problem: SandboxProblem, { hints }: Strings["sandbox"]): string => {
  if (problem.type === "platform") return hints.platform;
  if (problem.name === "seatbelt") return hints.seatbelt;
  if (problem.type === "no-program") return hints.install;
  // Why a system refuses is told by its switches, not by what the program says.
  if (kernelSetting("kernel/apparmor_restrict_unprivileged_userns") === "1") return hints.appArmor;
  const isOff = ["user/max_user_namespaces", "kernel/unprivileged_userns_clone"].some(
    (name) => kernelSetting(name) === "0",
  );
  return isOff ? hints.namespaces : hints.container;
};

const kernelSetting = (name: string): string | undefined => {
  try {
    return readFileSync(`/proc/sys/${name}`, "utf8").trim();
  } catch {
    return undefined; // this kernel has no such switch
  }
};
