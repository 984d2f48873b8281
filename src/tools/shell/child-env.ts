export type Env = Readonly<Record<string, string | undefined>>;

/** The user's environment for a child process, without the named secrets. BASH_ENV, ENV and the rest are the user's own. */
export const childEnv = (env: Env, secretNames: Iterable<string>): Record<string, string> => {
  const secrets = new Set(secretNames);
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !secrets.has(entry[0])),
  );
};

/** What a command gets on top: no prompts, no pagers, no editors, and a mark by which scripts know an agent. */
export const commandEnv = (env: Env): Record<string, string> => ({
  ...childEnv(env, []),
  GIT_TERMINAL_PROMPT: "0",
  PAGER: "cat",
  GIT_PAGER: "cat",
  // An editor without a terminal waits until the time is up; this one leaves the text as git offers it.
  GIT_EDITOR: "true",
  HARNESS9: "1",
  AI_AGENT: "harness9",
  ...gitSetting(env, "core.fsmonitor", "false"),
});

// core.fsmonitor names a program that git runs: a repository's own setting would run with the first `git status`.
const gitSetting = (env: Env, key: string, value: string): Record<string, string> => {
  const given = Number(env["GIT_CONFIG_COUNT"] ?? "");
  const count = Number.isSafeInteger(given) && given > 0 ? given : 0;
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: key,
    [`GIT_CONFIG_VALUE_${count}`]: value,
  };
};
