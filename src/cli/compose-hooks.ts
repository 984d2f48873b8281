import { hookCalls } from "../hooks/hook-middleware.ts";
import { createHooks } from "../hooks/hooks.ts";
import { createHookLifecycle, type HookLifecycle } from "../hooks/lifecycle.ts";
import { createHookRunner } from "../hooks/run-hook.ts";
import type { Mask } from "../text/mask.ts";
import { childEnv, commandEnv } from "../tools/shell/child-env.ts";
import { createProcessTree } from "../tools/shell/process-tree.ts";
import type { ToolMiddleware } from "../tools/tool.ts";
import type { Setup } from "./setup.ts";

export type SessionHooks = {
  readonly around: (permissions: ToolMiddleware) => ToolMiddleware;
  readonly lifecycle: HookLifecycle;
  /** The last resort: no waiting. */
  readonly kill: () => void;
};

/** The programs of the settings that have a say; undefined where there are none. */
export const openHooks = (
  setup: Setup,
  { id, mask }: { readonly id: string; readonly mask: Mask },
): SessionHooks | undefined => {
  const { workDir, env, secretNames, strings, config } = setup;
  if (config.settings.hooks.length === 0) return undefined;
  const runner = createHookRunner({
    workDir,
    env: commandEnv(childEnv(env, secretNames)),
    tree: createProcessTree(process.platform),
  });
  const hooks = createHooks({
    hooks: config.settings.hooks,
    runner,
    session: { id, workDir },
    mask,
    strings: strings.hooks,
  });
  return {
    around: (permissions: ToolMiddleware) => hookCalls({ hooks, permissions, mask, strings: strings.hooks }),
    lifecycle: createHookLifecycle(hooks, strings.hooks),
    kill: runner.kill,
  };
};
