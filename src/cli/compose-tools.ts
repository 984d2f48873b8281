import { availableParallelism } from "node:os";
import { createPermissions } from "../permissions/permission-middleware.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import type { Ask } from "../schema/ask.ts";
import type { PermissionMode } from "../schema/event.ts";
import type { ModelInfo } from "../schema/model.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { type Bash, createBash } from "../tools/builtin/bash.ts";
import { createEditFile } from "../tools/builtin/edit-file.ts";
import { createReadFile } from "../tools/builtin/read-file.ts";
import { createWriteFile } from "../tools/builtin/write-file.ts";
import { Registry } from "../tools/registry.ts";
import { retryRecoverable } from "../tools/retry.ts";
import { childEnv } from "../tools/shell/child-env.ts";
import { createSlots, limitProcesses } from "../tools/shell/process-slots.ts";
import { limitTime } from "../tools/timeout.ts";
import type { ToolMiddleware } from "../tools/tool.ts";
import { createPathLocks } from "../tools/workspace/path-lock.ts";
import { createWorkspace } from "../tools/workspace/workspace.ts";
import type { Setup } from "./setup.ts";

const LARGE_WINDOW_TOKENS = 100_000;
const SMALL_READ_BYTES = 4096;
const LARGE_READ_BYTES = 65_536;

export type ToolsOptions = {
  readonly outputsDir: string;
  readonly info: ModelInfo;
  readonly permissionMode: () => PermissionMode;
  readonly guard: boolean;
  readonly ask: Ask | undefined;
  /** Puts the hooks around the permissions; absent where the settings have none. */
  readonly withHooks?: ((permissions: ToolMiddleware) => ToolMiddleware) | undefined;
};

export type Tools = {
  /** What the model may call. */
  readonly registry: Registry;
  /** bash alone, for the person: nobody is asked, and the limits are the same. */
  readonly personal: Registry;
  readonly bash: Bash;
  /** How much one read may bring depends on the model's window. */
  readonly fitModel: (info: ModelInfo) => void;
};

/** The tools of a session, and what governs them. @throws UserError for a rule that cannot be read. */
export const createTools = (setup: Setup, options: ToolsOptions): Tools => {
  const { workDir, homeDir, env, paths, strings, config } = setup;
  const { settings } = config;
  const { ask, outputsDir, withHooks } = options;
  const rules = (kind: "allow" | "ask" | "deny") =>
    config.rules[kind].map(({ rule, origin }) => readRule(rule, `${origin}: ${kind}`, strings.permission));
  const limits = [
    limitProcesses(createSlots(Math.max(4, 2 * availableParallelism())), strings.registry),
    limitTime({ toolTimeoutMs: settings.toolTimeoutMs, strings: strings.registry }),
    retryRecoverable(),
  ];
  const permissions = createPermissions({
    mode: options.permissionMode,
    rules: { allow: rules("allow"), ask: rules("ask"), deny: rules("deny") },
    guard: options.guard,
    places: { workDir, homeDir, harnessHome: paths.home, addedDirs: settings.addDirs },
    trusted: setup.trusted,
    strings: strings.permission,
    ask,
  });
  const governed = withHooks?.(permissions) ?? permissions;
  const registry = new Registry({ strings: strings.registry, middlewares: [governed, ...limits] });
  const personal = new Registry({ strings: strings.registry, middlewares: limits });

  const workspace = createWorkspace({
    workDir,
    homeDir,
    harnessHome: paths.home,
    addedDirs: settings.addDirs,
    readableDirs: [outputsDir],
  });
  const fileTools = { workspace, locks: createPathLocks(), strings };
  const bash = createBash({
    workDir,
    env: childEnv(env, setup.secretNames),
    outputsDir,
    strings,
    maxOutputBytes: settings.maxOutputBytes,
    timeoutMs: settings.bashTimeoutMs,
  });
  const readFile = (info: ModelInfo) =>
    createReadFile({ ...fileTools, maxReadBytes: maxReadBytes(settings.maxReadBytes, info) });
  registry.register(readFile(options.info));
  registry.register(createWriteFile(fileTools));
  registry.register(createEditFile(fileTools));
  registry.register(bash.tool);
  personal.register(bash.tool);
  return { registry, personal, bash, fitModel: (info) => registry.replace(readFile(info)) };
};

const readRule = (rule: string, place: string, strings: Strings["permission"]): Rule => {
  try {
    return parseRule(rule, strings);
  } catch (error) {
    const problem = errorMessage(error);
    throw new UserError(`${place}: ${problem}`, { exitCode: EXIT.config, cause: error });
  }
};

const maxReadBytes = (setting: number | "auto", { contextWindow }: ModelInfo): number => {
  if (setting !== "auto") return setting;
  return contextWindow !== null && contextWindow >= LARGE_WINDOW_TOKENS ? LARGE_READ_BYTES : SMALL_READ_BYTES;
};
