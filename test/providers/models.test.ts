import { describe, expect, test } from "vitest";
import { lookupModel, MODEL_TABLE_DATE, vendorOf } from "../../src/providers/models.ts";
import { listServers } from "../../src/providers/servers.ts";

const UNKNOWN = { contextWindow: null, maxOutputTokens: null, prices: null };
const OPUS = {
  contextWindow: 1_000_000,
  maxOutputTokens: 128_000,
  prices: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
};
const GPT_4O = {
  contextWindow: 128_000,
  maxOutputTokens: 16_384,
  prices: { input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 2.5 },
};

describe("lookupModel", () => {
  test.each([
    ["anthropic", "claude-opus-4-8", OPUS],
    ["anthropic", "claude-opus-4-8-20260101", OPUS],
    ["anthropic", "claude-opus-4.8", OPUS],
    ["openrouter", "anthropic/claude-opus-4.8", OPUS],
    ["openai", "gpt-4o", GPT_4O],
    ["openai", "gpt-4o-2024-11-20", GPT_4O],
    ["openai", "openai/gpt-4o", GPT_4O],
    ["openrouter", "openai/gpt-4o", GPT_4O],
    ["gateway", "openai/gpt-4o", { ...GPT_4O, prices: null }],
    ["openrouter", "moonshotai/kimi-k3", { contextWindow: 1_048_576, maxOutputTokens: 131_072, prices: null }],
    [
      "groq",
      "openai/gpt-oss-120b",
      {
        contextWindow: 131_072,
        maxOutputTokens: 65_536,
        prices: { input: 0.15, output: 0.6, cacheRead: 0.075, cacheWrite: 0.15 },
      },
    ],
  ])("%s/%s is known", (provider, model, expected) => {
    expect(lookupModel(provider, model)).toEqual(expected);
  });

  test("a dated model with prices of its own is not the undated one", () => {
    expect(lookupModel("openai", "gpt-4o-2024-05-13").prices).toMatchObject({ input: 5, output: 15 });
  });

  test.each([
    ["openai", "gpt-4o-audio-preview"],
    ["openai", "gpt-4o:free"],
    ["openai", "gpt-99"],
    ["openai", ""],
    ["anthropic", "gpt-4o"],
    ["ollama", "claude-opus-4-8"],
    ["nobody", "gpt-4o"],
    ["openrouter", "nobody/gpt-4o"],
    ["__proto__", "constructor"],
    ["openai", "__proto__"],
    ["openrouter", "constructor/x"],
  ])("%s/%s is unknown, never a guess", (provider, model) => {
    expect(lookupModel(provider, model)).toEqual(UNKNOWN);
  });

  test("the person's figures win, part by part", () => {
    expect(lookupModel("openai", "gpt-4o", { "openai/gpt-4o": { contextWindow: 64_000 } })).toEqual({
      ...GPT_4O,
      contextWindow: 64_000,
    });
    expect(
      lookupModel("ollama", "qwen", { "ollama/qwen": { contextWindow: 32_768, prices: { input: 0, output: 0 } } }),
    ).toEqual({
      contextWindow: 32_768,
      maxOutputTokens: null,
      prices: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
    expect(lookupModel("openai", "gpt-4o", { "anthropic/gpt-4o": { contextWindow: 1 } })).toEqual(GPT_4O);
  });
});

describe("the table", () => {
  test("knows the default model of every vendor", () => {
    const unknown = listServers()
      .filter(
        ({ name, defaultModel }) => defaultModel !== null && lookupModel(name, defaultModel).contextWindow === null,
      )
      .map(({ name }) => name);
    expect(unknown).toEqual([]);
  });

  test("is dated", () => {
    expect(MODEL_TABLE_DATE).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  test.each([
    ["claude-sonnet-4-5-20250929", "anthropic"],
    ["gpt-5.4-mini", "openai"],
    ["glm-5.3", "zhipu"],
    ["llama3.2", null],
    ["openai/gpt-4o", null],
  ])("%s is a model of %s", (model, vendor) => {
    expect(vendorOf(model)).toBe(vendor);
  });
});
