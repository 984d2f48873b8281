import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseProvider, type ProviderChoice } from "../../src/providers/choose-provider.ts";
import { createListModels, createProvider } from "../../src/providers/create-provider.ts";
import type { StreamChunk } from "../../src/providers/provider.ts";
import { listServers } from "../../src/providers/servers.ts";
import { createFetch } from "../../src/providers/transport.ts";
import { en } from "../../src/text/en.ts";
import { type Answer, modelServer } from "../helpers/model-server.ts";

const fetch = createFetch({ env: {} });

const choose = (name: string, baseUrl: string, model?: string): Promise<ProviderChoice> =>
  chooseProvider({
    servers: listServers(),
    credentials: new Map([
      [
        name,
        {
          baseUrl,
          baseUrlOrigin: "env",
          isOwnAddress: false,
          key: { value: "test-key", origin: "env" },
          withheldKey: null,
          model: null,
        },
      ],
    ]),
    named: [{ provider: name, ...(model !== undefined && { model }) }],
    chat: false,
    listModels: createListModels(fetch),
    strings: en,
  });

const create = (choice: ProviderChoice, attempts = 1) =>
  createProvider(choice, {
    thinking: "off",
    effort: null,
    stream: true,
    cacheKey: "session",
    attempts,
    chat: false,
    fetch,
    random: () => 0,
    strings: en,
  });

const REQUEST = { messages: [{ role: "user" as const, content: "hi" }] };
const signal = new AbortController().signal;

const sse = (...events: readonly unknown[]): Answer => ({
  chunks: events.map((event) => {
    const type = (event as { type?: string }).type;
    return `${type ? `event: ${type}\n` : ""}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  }),
});

const OPENAI_HELLO = sse(
  { id: "1", choices: [{ index: 0, delta: { role: "assistant", content: "hello" } }] },
  { id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  "[DONE]",
);

const ANTHROPIC_HELLO = sse(
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
);

describe("createProvider", () => {
  test("speaks the dialect of the server with its key and model", async () => {
    const openai = await modelServer([OPENAI_HELLO]);
    const deepseek = await create(await choose("deepseek", openai.origin, "deepseek-x"));
    expect([deepseek.name, deepseek.model]).toEqual(["deepseek", "deepseek-x"]);
    expect((await deepseek.generate(REQUEST, signal)).message.content).toBe("hello");
    expect(openai.requests[0]).toMatchObject({
      url: "/chat/completions",
      headers: { authorization: "Bearer test-key" },
      body: { model: "deepseek-x" },
    });

    const server = await modelServer([ANTHROPIC_HELLO]);
    const anthropic = await create(await choose("anthropic", server.origin, "claude-x"));
    expect((await anthropic.generate(REQUEST, signal)).message.content).toBe("hello");
    expect(JSON.stringify(server.requests[0]?.headers)).toContain("test-key");
    expect(server.requests[0]).toMatchObject({
      url: "/v1/messages",
      body: { model: "claude-x" },
    });
  });

  test("asks the server for its one model where none is named", async () => {
    const server = await modelServer((request) =>
      request.url.startsWith("/v1/models") ? { chunks: ['{"data": [{"id": "only"}]}'] } : OPENAI_HELLO,
    );
    const provider = await create(await choose("openai", `${server.origin}/v1`));
    await provider.generate(REQUEST, signal);
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/v1/models", "Bearer test-key"],
      ["/v1/chat/completions", "Bearer test-key"],
    ]);
    expect(provider.model).toBe("only");
  });

  test("a key that the server refuses at its list of models ends with 41", async () => {
    const server = await modelServer([{ status: 401, chunks: ["{}"] }]);
    await expect(choose("openai", server.origin)).rejects.toMatchObject({ exitCode: 41 });
  });

  test("sends a failed request again, and says so", async () => {
    const server = await modelServer((_, count) =>
      count === 1 ? { status: 503, headers: { "retry-after": "0" }, chunks: ["{}"] } : OPENAI_HELLO,
    );
    const provider = await create(await choose("openai", server.origin, "m"), 2);
    const chunks: StreamChunk[] = [];
    for await (const chunk of provider.generateStream(REQUEST, signal)) chunks.push(chunk);
    expect(chunks.map(({ type }) => type)).toEqual(["retrying", "text.delta", "completed"]);
  });

  test("offline drives no server", async () => {
    const provider = await create({ kind: "offline", notes: [] });
    expect([provider.name, provider.model]).toEqual(["offline", "demo"]);
    const request = {
      messages: [{ role: "user" as const, content: "run ls" }],
      tools: [{ name: "bash", description: "", inputSchema: {} }],
    };
    expect((await provider.generate(request, signal)).message.toolCalls[0]?.arguments).toBe('{"command":"ls"}');
  });

  test("offline loads no SDK", async () => {
    const { build } = await import("rolldown");
    const { output } = await build({
      input: join(import.meta.dirname, "../../src/providers/create-provider.ts"),
      platform: "node",
      write: false,
    });
    const eager = new Set([output[0]]);
    for (const { imports } of eager)
      for (const chunk of output) if (chunk.type === "chunk" && imports.includes(chunk.fileName)) eager.add(chunk);
    const inputs = [...eager].flatMap(({ moduleIds }) => moduleIds);
    expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
    expect(inputs.length).toBeGreaterThan(0);
  });
});
