import { type HarnessPaths, isSessionId, sessionFiles } from "../config/paths.ts";
import type { ProviderChoice } from "../providers/choose-provider.ts";
import type { PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { Past, PastRun } from "../session/resume.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import { type ChooseOptions, choose } from "./choose-model.ts";
import type { Setup } from "./setup.ts";

/*
 * What comes back with a session: model, thinking and mode, unless a flag or the environment says otherwise. What stands
 * in a settings file is for new sessions.
 */

/** The model of a session that goes on; where it cannot be used any more, the ordinary one, with a warning. @throws UserError */
export const chooseAgain = async (
  setup: Setup,
  last: PastRun | undefined,
  options: Omit<ChooseOptions, "named">,
): Promise<{ readonly choice: ProviderChoice; readonly warnings: readonly string[] }> => {
  const { config, servers, strings } = setup;
  const { named } = config;
  const ordinary = () => choose(setup, { named, ...options });
  // A demonstration gives way to a model as soon as there is one.
  const isFree = last === undefined || last.provider === "offline" || named.some(({ origin }) => isAsked(origin));
  if (isFree) return { choice: await ordinary(), warnings: [] };
  const { provider, model } = last;
  try {
    if (servers.some(({ name }) => name === provider))
      return { choice: await choose(setup, { named: [{ provider, model }], ...options }), warnings: [] };
  } catch (error) {
    if (!(error instanceof UserError && error.exitCode === EXIT.auth)) throw error;
  }
  return { choice: await ordinary(), warnings: [strings.sessions.modelGone(`${provider}/${model}`)] };
};

export const thinkingOf = ({ config }: Setup, last: PastRun | undefined): ThinkingMode =>
  last && !isAsked(originOf(config, "thinking")) ? last.thinking : config.settings.thinking;

/**
 * Null where neither the session nor the settings say. What asks nobody any more never comes back by itself; in the chat
 * `auto` does not either, which is what a `run` begins with, and nobody's choice.
 */
export const modeOf = (
  { config }: Setup,
  last: PastRun | undefined,
  never: readonly PermissionMode[],
): PermissionMode | null =>
  last && !never.includes(last.mode) && !isAsked(originOf(config, "permissionMode"))
    ? last.mode
    : config.settings.permissionMode;

const originOf = ({ entries }: Setup["config"], key: string): string =>
  entries.find((entry) => entry.key === key)?.origin ?? "default";

/** Of several origins, the strongest comes first. */
const isAsked = (origin: string): boolean => /^(?:flag\b|env )/.test(origin);

/** The folders of long outputs of the sessions that a fork goes back to: the history names files there. */
export const earlierOutputs = (
  paths: HarnessPaths,
  past: (Pick<Past, "sessionIds"> & { readonly id: string }) | undefined,
): readonly string[] =>
  (past?.sessionIds ?? [])
    .filter((id) => id !== past?.id && isSessionId(id))
    .map((id) => sessionFiles(paths, id).outputs);
