import type { ModelOptions } from "../../src/providers/model-options.ts";
import type { ModelRequest, StreamChunk } from "../../src/providers/provider.ts";
import { createFetch } from "../../src/providers/transport.ts";
import { en } from "../../src/text/en.ts";

/** Options for a provider against a loopback server. */
export const modelOptions = (baseUrl: string, changes: Partial<ModelOptions> = {}): ModelOptions => ({
  name: "testvendor",
  model: "m-test",
  apiKey: "test-key-0123456789",
  keyVariable: "TESTVENDOR_API_KEY",
  baseUrl,
  thinking: "off",
  cacheKey: "session-1",
  stream: true,
  vision: true,
  strings: en.provider,
  fetch: createFetch({ env: {} }),
  timeouts: { firstByteMs: 20_000, silenceMs: 20_000 },
  info: { contextWindow: null, maxOutputTokens: null, prices: null },
  ...changes,
});

export const HELLO: ModelRequest = { messages: [{ role: "user", content: "hello" }] };

export const BASH = {
  name: "bash",
  description: "Runs a command.",
  inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

export const NEVER = new AbortController().signal;

/** Everything a stream yields, and the error that ends it. */
export const gather = async (
  stream: AsyncIterable<StreamChunk>,
): Promise<{ readonly chunks: StreamChunk[]; readonly error: unknown }> => {
  const chunks: StreamChunk[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
    return { chunks, error: undefined };
  } catch (error) {
    return { chunks, error };
  }
};

/** The deltas of one kind, joined. */
export const joined = (chunks: readonly StreamChunk[], type: "text.delta" | "thinking.delta"): string =>
  chunks.flatMap((chunk) => (chunk.type === type ? [chunk.text] : [])).join("");
