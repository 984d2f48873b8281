import { expect, test } from "vitest";
import { childEnv, commandEnv } from "../../../src/tools/shell/child-env.ts";

test("secrets by name and unset variables go, everything else stays", () => {
  const env = {
    PATH: "/bin",
    BASH_ENV: "/b",
    ENV: "/e",
    OPENAI_API_KEY: "k",
    OPENAI_API_KEY_2: "x",
    EMPTY: "",
    NONE: undefined,
  };
  expect(childEnv(env, ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"])).toEqual({
    PATH: "/bin",
    BASH_ENV: "/b",
    ENV: "/e",
    OPENAI_API_KEY_2: "x",
    EMPTY: "",
  });
});

const always = {
  GIT_TERMINAL_PROMPT: "0",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  HARNESS9: "1",
  AI_AGENT: "harness9",
};

test.each([
  [{}, { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.fsmonitor", GIT_CONFIG_VALUE_0: "false" }],
  [
    { PAGER: "less", GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "me" },
    {
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: "me",
      GIT_CONFIG_KEY_1: "core.fsmonitor",
      GIT_CONFIG_VALUE_1: "false",
    },
  ],
  [
    { GIT_CONFIG_COUNT: "x" },
    { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.fsmonitor", GIT_CONFIG_VALUE_0: "false" },
  ],
])("a command's environment neither asks nor pages, and the user's git settings stay: %j", (env, expected) => {
  expect(commandEnv(env)).toEqual({ ...always, ...expected });
});
