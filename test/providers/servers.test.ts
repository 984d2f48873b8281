import { describe, expect, test } from "vitest";
import { listServers } from "../../src/providers/servers.ts";

describe("listServers", () => {
  test("names every known server in the order in which a key is looked for", () => {
    expect(listServers().map(({ name, keyVariable, baseUrl }) => [name, keyVariable, baseUrl])).toEqual([
      ["anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com"],
      ["openai", "OPENAI_API_KEY", "https://api.openai.com/v1"],
      ["deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com"],
      ["openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"],
      ["moonshot", "MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"],
      ["qwen", "DASHSCOPE_API_KEY", "https://dashscope.aliyuncs.com/compatible-mode/v1"],
      ["zhipu", "ZHIPU_API_KEY", "https://open.bigmodel.cn/api/paas/v4"],
      ["groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"],
      ["mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"],
      ["xai", "XAI_API_KEY", "https://api.x.ai/v1"],
      ["gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"],
      ["ollama", "OLLAMA_API_KEY", "http://127.0.0.1:11434/v1"],
      ["lmstudio", "LMSTUDIO_API_KEY", "http://127.0.0.1:1234/v1"],
      ["llamacpp", "LLAMACPP_API_KEY", "http://127.0.0.1:8080/v1"],
      ["vllm", "VLLM_API_KEY", "http://127.0.0.1:8000/v1"],
    ]);
  });

  test("only local servers need no key, and no local one has a default model", () => {
    const local = listServers().filter(({ isLocal }) => isLocal);
    expect(local.map(({ name, defaultModel }) => [name, defaultModel])).toEqual([
      ["ollama", null],
      ["lmstudio", null],
      ["llamacpp", null],
      ["vllm", null],
    ]);
  });

  test("a configured server comes last; one with a known name takes its place", () => {
    const servers = listServers({
      mine: { dialect: "anthropic", baseUrl: "https://llm.example", keyVariable: "MY_KEY", model: "big" },
      openai: { dialect: "openai", baseUrl: "https://gateway.example/v1" },
    });
    expect(servers[1]).toEqual({
      name: "openai",
      dialect: "openai",
      baseUrl: "https://gateway.example/v1",
      keyVariable: "OPENAI_API_KEY",
      baseUrlVariable: null,
      modelVariable: null,
      defaultModel: null,
      isLocal: false,
      vision: false,
    });
    expect(servers.at(-1)).toEqual({
      name: "mine",
      dialect: "anthropic",
      baseUrl: "https://llm.example",
      keyVariable: "MY_KEY",
      baseUrlVariable: null,
      modelVariable: null,
      defaultModel: "big",
      isLocal: false,
      vision: false,
    });
  });
});
