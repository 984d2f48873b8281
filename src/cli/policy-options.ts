import { plainRepositoryCheck } from "../permissions/plain-repository.ts";
import type { PolicyOptions } from "../permissions/policy.ts";
import type { Setup } from "./setup.ts";

/** What the policy may know of where we are, whoever asks it. */
export const policyOptions = (setup: Setup, guard: boolean): Omit<PolicyOptions, "mode"> => {
  const { workDir, homeDir, paths, config, rules, trusted, trust, strings } = setup;
  // Where something waits for a yes, or the person has said no, git is not the exception.
  const isOpen = trust.items.length === 0 && trust.decision !== "no";
  return {
    rules: rules.rules,
    guard,
    places: { workDir, homeDir, harnessHome: paths.home, addedDirs: config.settings.addDirs },
    trusted,
    ...(isOpen && { plainRepository: plainRepositoryCheck(workDir) }),
    strings: strings.permission,
  };
};
