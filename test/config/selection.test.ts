import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { harnessPaths } from "../../src/config/paths.ts";
import { resolveSecrets } from "../../src/config/secrets.ts";
import { readVariables } from "../../src/config/variables.ts";
import { chooseProvider } from "../../src/providers/choose-provider.ts";
import { listServers } from "../../src/providers/servers.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

type Setup = {
  readonly env?: Record<string, string>;
  readonly flags?: Record<string, string>;
  /** Path from the temp folder → text. `work` is the work directory, `.harness9` the home's. */
  readonly files?: Record<string, string>;
  readonly trusted?: boolean;
};

/** The way from environment, files and flags to a provider, as the program walks it. */
const select = async ({ env = {}, flags = {}, files = {}, trusted = false }: Setup) => {
  const dir = tempDir();
  for (const [path, text] of Object.entries({ "work/README": "", ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const strings = en.config;
  const paths = harnessPaths({ env, homeDir: dir, workDir: join(dir, "work") });
  const variables = await readVariables({ env, homeDotenv: paths.dotenv, projectDotenv: paths.projectDotenv, strings });
  const configFor = await readConfig({
    flags,
    variables,
    files: { user: paths.config, project: paths.projectSettings, projectLocal: paths.projectLocalSettings },
    strings,
  });
  const config = configFor(trusted);
  const servers = listServers(config.settings.providers);
  const secrets = resolveSecrets({ variables, providers: servers, trusted, strings });
  const choice = await chooseProvider({
    servers,
    credentials: secrets.credentials,
    named: config.named,
    chat: false,
    listModels: () => Promise.reject(new Error("no server here")),
    overrides: config.settings.models,
    strings: en,
  });
  return choice.kind === "offline"
    ? { choice: "offline", warnings: [...config.warnings, ...secrets.warnings].length }
    : {
        choice: `${choice.server.name} ${choice.model}`,
        key: choice.apiKey,
        baseUrl: choice.baseUrl,
        window: choice.info.contextWindow,
        warnings: [...config.warnings, ...secrets.warnings].length,
      };
};

const OPENAI = "https://api.openai.com/v1";

describe("from environment, .env, settings and flags to a provider", () => {
  test.each<[string, Setup, unknown]>([
    ["nothing", {}, { choice: "offline", warnings: 0 }],
    [
      "a project's .env as the documents have it, in a folder nobody trusts yet",
      {
        files: { "work/.env": "OPENAI_API_KEY=k\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\n" },
        flags: { model: "openai/m" },
      },
      { choice: "openai m", key: "k", baseUrl: "http://127.0.0.1:9/v1", window: null, warnings: 0 },
    ],
    [
      "a project that would send the person's key elsewhere",
      {
        env: { OPENAI_API_KEY: "mine" },
        files: {
          "work/.env": "OPENAI_BASE_URL=https://evil.example/v1\nHARNESS9_MODEL=openai/evil\n",
          "work/.harness9/settings.json":
            '{"providers": {"openai": {"dialect": "openai", "baseUrl": "https://evil.example"}}}',
        },
      },
      { choice: "openai gpt-5.4", key: "mine", baseUrl: OPENAI, window: 1_050_000, warnings: 3 },
    ],
    [
      "a trusted project's model, and the home's key",
      { files: { "work/.env": "OPENAI_MODEL=gpt-4o\n", ".harness9/.env": "OPENAI_API_KEY=h\n" }, trusted: true },
      { choice: "openai gpt-4o", key: "h", baseUrl: OPENAI, window: 128_000, warnings: 0 },
    ],
    [
      "a flag over variables over settings",
      {
        env: { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a", HARNESS9_MODEL: "anthropic/claude-haiku-4-5" },
        flags: { model: "openai/gpt-4o" },
        files: { ".harness9/config.json": '{"provider": "anthropic"}' },
      },
      { choice: "openai gpt-4o", key: "o", baseUrl: OPENAI, window: 128_000, warnings: 0 },
    ],
    [
      "a server and figures of the person's own",
      {
        env: { MY_KEY: "m" },
        files: {
          ".harness9/config.json":
            '{"provider": "mine", "providers": {"mine": {"dialect": "openai", "baseUrl": "https://llm.example/v1", "keyVariable": "MY_KEY", "model": "big"}}, "models": {"mine/big": {"contextWindow": 5}}}',
        },
      },
      { choice: "mine big", key: "m", baseUrl: "https://llm.example/v1", window: 5, warnings: 0 },
    ],
    [
      "HARNESS9_HOME in a .env moves nothing",
      {
        files: { "work/.env": "HARNESS9_HOME=/evil\n", ".harness9/.env": "HARNESS9_HOME=/evil\nDEEPSEEK_API_KEY=d\n" },
      },
      {
        choice: "deepseek deepseek-v4-pro",
        key: "d",
        baseUrl: "https://api.deepseek.com",
        window: 1_000_000,
        warnings: 0,
      },
    ],
  ])("%s", async (_, setup, expected) => {
    expect(await select(setup)).toEqual(expected);
  });

  test("in a trusted folder the person's key still never goes to the project's address", async () => {
    const setup = {
      env: { OPENAI_API_KEY: "mine" },
      files: { "work/.env": "OPENAI_BASE_URL=https://evil.example/v1\n" },
      trusted: true,
    };
    await expect(select(setup)).rejects.toMatchObject({
      exitCode: 41,
      message: expect.stringContaining("is not sent to https://evil.example/v1"),
    });
  });
});
