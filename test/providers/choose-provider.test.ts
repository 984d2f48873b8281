import { describe, expect, test } from "vitest";
import {
  type ChooseProviderOptions,
  chooseProvider,
  type NamedChoice,
  type ServerCredential,
} from "../../src/providers/choose-provider.ts";
import { type CustomServer, listServers } from "../../src/providers/servers.ts";
import { en } from "../../src/text/en.ts";
import { UserError } from "../../src/text/user-error.ts";
import { zh } from "../../src/text/zh.ts";

type Setup = {
  readonly named?: readonly NamedChoice[];
  /** Providers with a key. */
  readonly keys?: readonly string[];
  /** Provider → what its model variable says. */
  readonly models?: Readonly<Record<string, string>>;
  /** Provider → another base URL. */
  readonly urls?: Readonly<Record<string, string>>;
  readonly withheld?: readonly string[];
  readonly chat?: boolean;
  /** Base URL → what that server lists. Others do not answer. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  readonly custom?: Readonly<Record<string, CustomServer>>;
};

const options = (setup: Setup): ChooseProviderOptions => {
  const servers = listServers(setup.custom);
  const credentials = servers.map(({ name, baseUrl, keyVariable }): [string, ServerCredential] => [
    name,
    {
      baseUrl: setup.urls?.[name] ?? baseUrl,
      baseUrlOrigin: ".env:1",
      isOwnAddress: setup.urls?.[name] === undefined,
      key: setup.keys?.includes(name) ? { value: `key-${name}`, origin: "env" } : null,
      withheldKey: setup.withheld?.includes(name) ? { variable: keyVariable ?? "", origin: "env X" } : null,
      model: setup.models?.[name] === undefined ? null : { value: setup.models[name], origin: "env" },
    },
  ]);
  return {
    servers,
    credentials: new Map(credentials),
    named: setup.named ?? [],
    chat: setup.chat ?? false,
    listModels: async (_, { baseUrl }) => {
      const models = setup.lists?.[baseUrl];
      if (!models) throw new Error("connect ECONNREFUSED");
      return models;
    },
    strings: en,
  };
};

const pick = async (setup: Setup): Promise<string> => {
  const choice = await chooseProvider(options(setup));
  return choice.kind === "offline" ? "offline" : `${choice.server.name} ${choice.model}`;
};

const failure = async (setup: Setup): Promise<UserError> => {
  const error = await chooseProvider(options(setup)).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof UserError) return error;
  throw new Error("expected a UserError", { cause: error });
};

const GATEWAY = "https://gateway.example/v1";
const OLLAMA = "http://127.0.0.1:11434/v1";
const LMSTUDIO = "http://127.0.0.1:1234/v1";

describe("which provider and model", () => {
  test.each<[string, Setup, string]>([
    ["nothing at all", {}, "offline"],
    ["a key", { keys: ["openai"] }, "openai gpt-5.4"],
    ["anthropic before openai before the rest", { keys: ["xai", "openai", "anthropic"] }, "anthropic claude-opus-4-8"],
    ["the table's order after these", { keys: ["xai", "deepseek"] }, "deepseek deepseek-v4-pro"],
    ["a model variable before a key", { keys: ["anthropic", "openai"], models: { openai: "mock" } }, "openai mock"],
    [
      "the model variable that has a key",
      { keys: ["openai"], models: { anthropic: "claude-x", openai: "mock" } },
      "openai mock",
    ],
    ["a named provider", { named: [{ provider: "groq" }], keys: ["anthropic", "groq"] }, "groq openai/gpt-oss-120b"],
    [
      "its model variable",
      { named: [{ provider: "openai" }], keys: ["openai"], models: { openai: "mock" } },
      "openai mock",
    ],
    ["both named", { named: [{ provider: "openai", model: "gpt-x" }], keys: ["openai"] }, "openai gpt-x"],
    ["provider/model", { named: [{ model: "openai/gpt-x" }], keys: ["anthropic", "openai"] }, "openai gpt-x"],
    [
      "only the first slash divides",
      { named: [{ model: "openrouter/anthropic/claude-x" }], keys: ["openrouter"] },
      "openrouter anthropic/claude-x",
    ],
    [
      "a model id with slashes of a named provider",
      { named: [{ provider: "openrouter", model: "anthropic/claude-x" }], keys: ["openrouter"] },
      "openrouter anthropic/claude-x",
    ],
    [
      "a router's own model",
      { named: [{ model: "openrouter/auto" }], keys: ["openrouter"] },
      "openrouter openrouter/auto",
    ],
    [
      "an id with an unknown first part",
      { named: [{ model: "meta-llama/llama-4" }], keys: ["openrouter"] },
      "openrouter meta-llama/llama-4",
    ],
    [
      "a bare model goes to its vendor",
      { named: [{ model: "gpt-5.4" }], keys: ["anthropic", "openai"] },
      "openai gpt-5.4",
    ],
    [
      "or to the gateway that has the key",
      { named: [{ model: "claude-opus-4-8" }], keys: ["openai"], urls: { openai: GATEWAY } },
      "openai claude-opus-4-8",
    ],
    ["an unknown bare model to the first key", { named: [{ model: "my-model" }], keys: ["openai"] }, "openai my-model"],
    [
      "an unknown bare model to the model variable's provider",
      { named: [{ model: "my-model" }], keys: ["anthropic", "openai"], models: { openai: "mock" } },
      "openai my-model",
    ],
    [
      "its prefix at the own address",
      { named: [{ provider: "openai", model: "openai/gpt-x" }], keys: ["openai"] },
      "openai gpt-x",
    ],
    [
      "its prefix at a gateway",
      { named: [{ provider: "openai", model: "openai/gpt-x" }], keys: ["openai"], urls: { openai: GATEWAY } },
      "openai openai/gpt-x",
    ],
    [
      "a stronger layer's model over a weaker layer's provider",
      { named: [{ model: "openai/gpt-x" }, { provider: "anthropic" }], keys: ["anthropic", "openai"] },
      "openai gpt-x",
    ],
    [
      "a bare one stays with that provider",
      { named: [{ model: "big" }, { provider: "anthropic" }], keys: ["anthropic"] },
      "anthropic big",
    ],
    [
      "a weaker layer's model of another provider does not count",
      { named: [{ provider: "openai" }, { model: "anthropic/claude-x" }], keys: ["openai"] },
      "openai gpt-5.4",
    ],
    [
      "nor with the provider beside it",
      { named: [{ provider: "openai" }, { provider: "qwen", model: "qwen-x" }], keys: ["openai"] },
      "openai gpt-5.4",
    ],
    [
      "one of the same provider counts",
      { named: [{ provider: "openai" }, { model: "openai/gpt-x" }], keys: ["openai"] },
      "openai gpt-x",
    ],
    [
      "a bare weaker one counts",
      { named: [{ provider: "openai" }, { model: "gpt-x" }], keys: ["openai"] },
      "openai gpt-x",
    ],
    [
      "vendor/model through the router that the config names",
      { named: [{ model: "anthropic/claude-x" }, { provider: "openrouter" }], keys: ["openrouter"] },
      "openrouter anthropic/claude-x",
    ],
    [
      "another address with one model",
      { keys: ["openai"], urls: { openai: GATEWAY }, lists: { [GATEWAY]: ["only"] } },
      "openai only",
    ],
    [
      "a local server needs no key",
      { named: [{ provider: "ollama" }], lists: { [OLLAMA]: ["qwen3"] } },
      "ollama qwen3",
    ],
    ["and no list where the model is named", { named: [{ model: "ollama/qwen3" }] }, "ollama qwen3"],
    ["a local server's model variable names it", { models: { ollama: "qwen3" } }, "ollama qwen3"],
    [
      "a configured server",
      {
        named: [{ provider: "mine" }],
        keys: ["mine"],
        custom: { mine: { dialect: "openai", baseUrl: GATEWAY, keyVariable: "K", model: "big" } },
      },
      "mine big",
    ],
    ["offline by name", { named: [{ provider: "offline" }], keys: ["openai"] }, "offline"],
    ["run never asks local servers", { lists: { [OLLAMA]: ["qwen3"] } }, "offline"],
    ["the chat does", { chat: true, lists: { [OLLAMA]: ["qwen3"] } }, "ollama qwen3"],
    ["in the table's order", { chat: true, lists: { [LMSTUDIO]: ["b"], [OLLAMA]: ["a"] } }, "ollama a"],
    [
      "and takes no one that offers a choice",
      { chat: true, lists: { [OLLAMA]: ["a", "b"], [LMSTUDIO]: ["c"] } },
      "lmstudio c",
    ],
    [
      "a key comes before a local server",
      { chat: true, keys: ["openai"], lists: { [OLLAMA]: ["a"] } },
      "openai gpt-5.4",
    ],
    ["the chat with nothing", { chat: true }, "offline"],
  ])("%s", async (_, setup, expected) => {
    expect(await pick(setup)).toBe(expected);
  });

  test("the choice carries address, key and what is known of the model", async () => {
    const choice = await chooseProvider(
      options({ named: [{ model: "openai/gpt-4o" }], keys: ["openai"], urls: { openai: GATEWAY } }),
    );
    expect(choice).toMatchObject({
      kind: "model",
      model: "gpt-4o",
      apiKey: "key-openai",
      baseUrl: GATEWAY,
      isOwnAddress: false,
      info: { contextWindow: 128_000 },
      notes: [],
    });
  });

  test("an unknown model is allowed, with a note", async () => {
    const choice = await chooseProvider(options({ named: [{ model: "openai/gpt-99" }], keys: ["openai"] }));
    expect(choice.notes).toEqual(["openai/gpt-99: price and context window are unknown"]);
  });

  test("a local server that offers several models is named in a note", async () => {
    const choice = await chooseProvider(options({ chat: true, lists: { [OLLAMA]: ["a", "b"] } }));
    expect(choice).toEqual({
      kind: "offline",
      notes: ["the local server ollama offers several models; choose one with --model ollama/NAME: a, b"],
    });
  });
});

describe("what is named without its key ends with 41 and names the variable, never offline", () => {
  test.each<[string, Setup, string]>([
    ["provider", { named: [{ provider: "openai" }] }, "OPENAI_API_KEY"],
    ["provider with its own variable", { named: [{ provider: "qwen" }], keys: ["openai"] }, "DASHSCOPE_API_KEY"],
    ["provider/model", { named: [{ model: "deepseek/deepseek-v4-pro" }], keys: ["openai"] }, "DEEPSEEK_API_KEY"],
    ["bare model of a vendor", { named: [{ model: "gpt-5.4" }] }, "OPENAI_API_KEY"],
    ["bare model, other vendor's key", { named: [{ model: "gpt-5.4" }], keys: ["anthropic"] }, "OPENAI_API_KEY"],
    ["bare unknown model", { named: [{ model: "claude-next" }] }, "ANTHROPIC_API_KEY"],
    ["model variable", { models: { anthropic: "claude-x" } }, "ANTHROPIC_API_KEY"],
    ["model variable, another's key", { models: { anthropic: "claude-x" }, keys: ["openai"] }, "ANTHROPIC_API_KEY"],
    ["in the chat too", { named: [{ provider: "openai" }], chat: true, lists: { [OLLAMA]: ["a"] } }, "OPENAI_API_KEY"],
    [
      "configured server",
      {
        named: [{ provider: "mine" }],
        custom: { mine: { dialect: "openai", baseUrl: GATEWAY, keyVariable: "MY_KEY" } },
      },
      "MY_KEY",
    ],
  ])("%s", async (_, setup, variable) => {
    const error = await failure(setup);
    expect([error.exitCode, error.message]).toEqual([41, `Set the environment variable ${variable}`]);
    const chinese = chooseProvider({ ...options(setup), strings: zh });
    await expect(chinese).rejects.toMatchObject({ message: `请设置 ${variable} 环境变量` });
  });

  test("the address in the message shows no password", async () => {
    const error = await failure({
      withheld: ["openai"],
      urls: { openai: "https://user:hunter2@gateway.example/v1?k=hunter3" },
    });
    expect(error.message).toContain("gateway.example");
    expect(`${error.message}${error.hint}`).not.toMatch(/hunter/);
  });

  test("a key that must not go to the address says why and what to do", async () => {
    const error = await failure({ withheld: ["openai"], urls: { openai: GATEWAY } });
    expect(error).toMatchObject({
      exitCode: 41,
      message: `OPENAI_API_KEY from env X is not sent to ${GATEWAY}: that address comes from a less trusted place, .env:1`,
      hint: "Put OPENAI_API_KEY into the same file, or set OPENAI_BASE_URL in the environment",
    });
  });
});

describe("what cannot be chosen ends with 52", () => {
  test.each<[string, Setup, string]>([
    [
      "a misspelt provider",
      { named: [{ provider: "opnai" }], keys: ["openai"] },
      "unknown provider 'opnai'; did you mean 'openai'?",
    ],
    [
      "in another case",
      { named: [{ provider: "OpenAI" }], keys: ["openai"] },
      "unknown provider 'OpenAI'; did you mean 'openai'?",
    ],
    [
      "in provider/model",
      { named: [{ model: "antropic/claude-x" }], keys: ["openai"] },
      "unknown provider 'antropic'; did you mean 'anthropic'?",
    ],
    [
      "a prototype's name",
      { named: [{ provider: "__proto__" }] },
      "unknown provider '__proto__'; known: anthropic, openai,",
    ],
    [
      "several models elsewhere",
      { keys: ["openai"], urls: { openai: GATEWAY }, lists: { [GATEWAY]: ["a", "b"] } },
      `name a model for openai (${GATEWAY}); it offers: a, b`,
    ],
    [
      "no models elsewhere",
      { keys: ["openai"], urls: { openai: GATEWAY }, lists: { [GATEWAY]: [] } },
      `name a model for openai (${GATEWAY}): the server lists none`,
    ],
    [
      "no answer",
      { named: [{ provider: "ollama" }] },
      `name a model for ollama: the models of ${OLLAMA} could not be listed: connect ECONNREFUSED`,
    ],
  ])("%s", async (_, setup, message) => {
    const error = await failure(setup);
    expect(error.exitCode).toBe(52);
    expect(error.message.slice(0, message.length)).toBe(message);
  });

  test("a long list is shortened", async () => {
    const models = Array.from({ length: 400 }, (_, index) => `m${index}`);
    const error = await failure({ keys: ["openai"], urls: { openai: GATEWAY }, lists: { [GATEWAY]: models } });
    expect(error.message.endsWith("m28, m29, … (400)")).toBe(true);
  });
});
