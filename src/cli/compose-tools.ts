import { availableParallelism } from "node:os";
import { createMemoryRead } from "../memory/memory-read.ts";
import { createMemoryWrite } from "../memory/memory-write.ts";
import type { Ask } from "../schema/ask.ts";
import type { PermissionMode } from "../schema/event.ts";
import type { ModelInfo } from "../schema/model.ts";
import type { FoundSkills, Skill } from "../skills/skill.ts";
import { createSkillTool } from "../skills/skill-tool.ts";
import type { Mask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import { type Bash, createBash } from "../tools/builtin/bash.ts";
import { createEditFile } from "../tools/builtin/edit-file.ts";
import { createReadFile } from "../tools/builtin/read-file.ts";
import { createWriteFile } from "../tools/builtin/write-file.ts";
import { Registry } from "../tools/registry.ts";
import { retryRecoverable } from "../tools/retry.ts";
import { offerOutside } from "../tools/sandbox/offer-outside.ts";
import type { Sandbox } from "../tools/sandbox/sandbox.ts";
import { childEnv } from "../tools/shell/child-env.ts";
import { createSlots, limitProcesses } from "../tools/shell/process-slots.ts";
import { limitTime } from "../tools/timeout.ts";
import type { ToolMiddleware } from "../tools/tool.ts";
import { createPathLocks } from "../tools/workspace/path-lock.ts";
import { createWorkspace } from "../tools/workspace/workspace.ts";
import { memoryFolders } from "./memory-folders.ts";
import { createMemoryTurn } from "./memory-turn.ts";
import type { Setup } from "./setup.ts";

const LARGE_WINDOW_TOKENS = 100_000;
const SMALL_READ_BYTES = 4096;
const LARGE_READ_BYTES = 65_536;

export type ToolsOptions = {
  readonly outputsDir: string;
  /** Those of the sessions that this one goes back to. */
  readonly earlierOutputs?: readonly string[] | undefined;
  readonly info: ModelInfo;
  readonly permissionMode: () => PermissionMode;
  readonly guard: boolean;
  readonly ask: Ask | undefined;
  /** Absent where the model's commands are not confined. */
  readonly sandbox?: Sandbox | undefined;
  /** Puts the hooks around the permissions; absent where the settings have none. */
  readonly withHooks?: ((permissions: ToolMiddleware) => ToolMiddleware) | undefined;
  /** Keeps the files as they are before the first call that may change them; absent where that is not wanted. */
  readonly checkpoint?: ToolMiddleware | undefined;
  readonly skills: FoundSkills;
  /** Of the values of known keys. */
  readonly mask: Mask;
};

export type Tools = {
  /** What the model may call. */
  readonly registry: Registry;
  /** bash alone, for the person: nobody is asked, and the limits are the same. */
  readonly personal: Registry;
  readonly bash: Bash;
  /** Without those whose name another tool has. */
  readonly skills: FoundSkills;
  /** How much one read may bring depends on the model's window. */
  readonly fitModel: (info: ModelInfo) => void;
};

/** The tools of a session, and what governs them. */
export const createTools = (setup: Setup, options: ToolsOptions): Tools => {
  const { workDir, homeDir, env, paths, strings, config } = setup;
  const { settings } = config;
  const { ask, outputsDir, withHooks, sandbox } = options;
  const { checkpoint } = options;
  const limits = [
    ...(checkpoint ? [checkpoint] : []),
    limitProcesses(createSlots(Math.max(4, 2 * availableParallelism())), strings.registry),
    limitTime({ toolTimeoutMs: settings.toolTimeoutMs, strings: strings.registry }),
    retryRecoverable(),
  ];
  const permissions = loadedByFirstCall(async () => {
    const { createPermissions } = await import("../permissions/permission-middleware.ts");
    const { policyOptions } = await import("./policy-options.ts");
    return createPermissions({ ...policyOptions(setup, options.guard), mode: options.permissionMode, ask });
  });
  const governed = withHooks?.(permissions) ?? permissions;
  const bash = createBash({
    workDir,
    env: childEnv(env, setup.secretNames),
    outputsDir,
    strings,
    sandbox,
    maxOutputBytes: settings.maxOutputBytes,
    timeoutMs: settings.bashTimeoutMs,
  });
  const { tool: confined, unconfined } = bash;
  const outside = sandbox && offerOutside({ sandbox, confined, unconfined, ask, strings: strings.sandbox });
  const registry = new Registry({
    strings: strings.registry,
    middlewares: [governed, ...(outside ? [outside] : []), ...limits],
  });
  const personal = new Registry({ strings: strings.registry, middlewares: limits });

  const workspace = createWorkspace({
    workDir,
    homeDir,
    harnessHome: paths.home,
    addedDirs: settings.addDirs,
    readableDirs: [
      outputsDir,
      ...(options.earlierOutputs ?? []),
      paths.instructions,
      ...(settings.memory ? [paths.memory] : []),
      ...options.skills.skills.flatMap(({ origin, folder }) => (origin === "user" ? [folder] : [])),
    ],
  });
  const fileTools = { workspace, locks: createPathLocks(), strings };
  const readFile = (info: ModelInfo) =>
    createReadFile({ ...fileTools, maxReadBytes: maxReadBytes(settings.maxReadBytes, info) });
  registry.register(readFile(options.info));
  registry.register(createWriteFile(fileTools));
  registry.register(createEditFile(fileTools));
  registry.register(confined);
  personal.register(unconfined);
  if (settings.memory) {
    const memory = { folders: memoryFolders(setup), strings };
    registry.register(createMemoryRead(memory));
    const takeTurn = createMemoryTurn(setup.paths);
    registry.register(createMemoryWrite({ ...memory, locks: fileTools.locks, takeTurn, mask: options.mask }));
  }
  const skills = registerSkills(registry, options.skills, strings);
  return { registry, personal, bash, skills, fitModel: (info) => registry.replace(readFile(info)) };
};

/** A tool that is there first keeps its name. */
const registerSkills = (registry: Registry, { skills, skipped }: FoundSkills, strings: Strings): FoundSkills => {
  // Letter case aside: a model would take one for the other.
  const names = new Set(registry.getAvailableTools().map(({ name }) => name.toLowerCase()));
  const isTaken = ({ name }: Skill): boolean => names.has(name.toLowerCase());
  const free = skills.filter((skill) => !isTaken(skill));
  for (const skill of free) registry.register(createSkillTool(skill, strings));
  const refused = skills
    .filter(isTaken)
    .map(({ shown, name }) => ({ shown, problem: (texts: Strings["skills"]) => texts.reserved(name) }));
  return { skills: free, skipped: [...skipped, ...refused] };
};

const maxReadBytes = (setting: number | "auto", { contextWindow }: ModelInfo): number => {
  if (setting !== "auto") return setting;
  return contextWindow !== null && contextWindow >= LARGE_WINDOW_TOKENS ? LARGE_READ_BYTES : SMALL_READ_BYTES;
};

/** A middleware whose modules a session without calls does not need. */
const loadedByFirstCall = (load: () => Promise<ToolMiddleware>): ToolMiddleware => {
  let loading: Promise<ToolMiddleware> | undefined;
  const middleware = (): Promise<ToolMiddleware> => {
    loading ??= load();
    return loading;
  };
  const govern: ToolMiddleware = async (invocation, next) => (await middleware())(invocation, next);
  govern.asks = async (invocation) => (await (await middleware()).asks?.(invocation)) ?? false;
  return govern;
};
