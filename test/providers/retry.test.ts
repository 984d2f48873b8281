import { describe, expect, test } from "vitest";
import { collect, type LLMProvider, ProviderError, type StreamChunk } from "../../src/providers/provider.ts";
import { backoffDelay, withRetry } from "../../src/providers/retry.ts";
import { en } from "../../src/text/en.ts";
import { gather, HELLO, NEVER } from "./model-options.ts";

const DONE: StreamChunk = {
  type: "completed",
  response: { message: { role: "assistant", content: "ok", toolCalls: [] }, finishReason: "stop", usage: null },
};

/** A provider that plays one script each time it is asked. */
const scripted = (...scripts: readonly (readonly (StreamChunk | Error)[])[]): LLMProvider & { asked: () => number } => {
  let asked = 0;
  async function* generateStream(): AsyncGenerator<StreamChunk> {
    const script = scripts[Math.min(asked, scripts.length - 1)] ?? [];
    asked += 1;
    for (const step of script) {
      if (step instanceof Error) throw step;
      yield step;
    }
  }
  return { name: "t", model: "m", generateStream, generate: () => collect(generateStream()), asked: () => asked };
};

const failure = (options: Partial<ConstructorParameters<typeof ProviderError>[1]> = {}) =>
  new ProviderError("failed", { kind: "server", retryable: true, ...options });

const retried = (provider: LLMProvider, waits: number[] = []) =>
  withRetry(provider, {
    attempts: 5,
    baseMs: 1000,
    capMs: 30_000,
    maxRetryAfterMs: 120_000,
    strings: en.provider,
    random: () => 1,
    now: () => Date.UTC(2030, 0, 1),
    sleep: async (ms) => {
      waits.push(ms);
    },
  });

test.each([
  [1, 1000, 30_000, 1000],
  [2, 1000, 30_000, 2000],
  [4, 1000, 30_000, 8000],
  [10, 1000, 30_000, 30_000],
  [100, 1000, 30_000, 30_000],
  [64, 1000, 60_000, 60_000],
  [5000, 1000, 30_000, 30_000],
  [-3, 500, 30_000, 500],
])("attempt %d with base %d and cap %d waits %d ms", (attempt, base, cap, expected) => {
  expect(backoffDelay(attempt, base, cap)).toBe(expected);
});

describe("withRetry", () => {
  test("announces each wait, doubles it, and discards what was shown before", async () => {
    const waits: number[] = [];
    const error = failure();
    const provider = scripted(
      [error],
      [{ type: "text.delta", text: "par" }, error],
      [{ type: "text.delta", text: "ok" }, DONE],
    );
    const { chunks } = await gather(retried(provider, waits).generateStream(HELLO, NEVER));
    expect(chunks).toEqual([
      { type: "retrying", attempt: 2, maxAttempts: 5, delayMs: 1000, error, discard: false },
      { type: "text.delta", text: "par" },
      { type: "retrying", attempt: 3, maxAttempts: 5, delayMs: 2000, error, discard: true },
      { type: "text.delta", text: "ok" },
      DONE,
    ]);
    expect(waits).toEqual([1000, 2000]);
  });

  test("gives up after the last attempt with the last error", async () => {
    const provider = scripted([failure()]);
    const { chunks, error } = await gather(retried(provider).generateStream(HELLO, NEVER));
    expect([chunks.length, provider.asked()]).toEqual([4, 5]);
    expect(error).toMatchObject({ kind: "server", message: "failed" });
  });

  test.each<[string, Error]>([
    ["what will not pass", failure({ kind: "auth", retryable: false })],
    ["a cancelled request", failure({ kind: "cancelled" })],
    ["announced calls that did not come", failure({ kind: "empty_tool_calls" })],
    ["a bug", new TypeError("x is not a function")],
  ])("does not retry %s", async (_, error) => {
    const provider = scripted([error], [DONE]);
    expect(await gather(retried(provider).generateStream(HELLO, NEVER))).toEqual({ chunks: [], error });
    expect(provider.asked()).toBe(1);
  });

  test("waits as long as the server asks, up to the limit", async () => {
    const waits: number[] = [];
    await retried(scripted([failure({ retryAfterMs: 120_000 })], [DONE]), waits).generate(HELLO, NEVER);
    expect(waits).toEqual([120_000]);
  });

  test("no wait at all is not what a server can mean", async () => {
    const waits: number[] = [];
    await retried(scripted([failure({ retryAfterMs: 0 })], [DONE]), waits).generate(HELLO, NEVER);
    expect(waits).toEqual([1000]);
  });

  test("a longer wait ends it and says when the limit resets", async () => {
    const provider = scripted([failure({ kind: "rate_limit", status: 429, retryAfterMs: 277_403_000 })], [DONE]);
    const { error } = await gather(retried(provider).generateStream(HELLO, NEVER));
    expect(error).toMatchObject({
      kind: "rate_limit",
      status: 429,
      retryable: false,
      message: "failed (the limit resets in 77h3m23s (2030-01-04T05:03:23.000Z): too long to wait, so no retry)",
    });
  });

  test("an abort during the wait ends it at once as cancelled", async () => {
    const controller = new AbortController();
    const provider = withRetry(scripted([failure({ retryAfterMs: 100_000 })]), {
      attempts: 5,
      baseMs: 1000,
      capMs: 30_000,
      maxRetryAfterMs: 120_000,
      strings: en.provider,
      random: Math.random,
    });
    const kinds: string[] = [];
    const running = (async () => {
      for await (const chunk of provider.generateStream(HELLO, controller.signal)) {
        kinds.push(chunk.type);
        setImmediate(() => controller.abort());
      }
    })();
    await expect(running).rejects.toMatchObject({ kind: "cancelled", retryable: false });
    expect(kinds).toEqual(["retrying"]);
  });

  test("jitter takes at most half of the wait away", async () => {
    const waits: number[] = [];
    const provider = withRetry(scripted([failure()], [DONE]), {
      attempts: 2,
      baseMs: 1000,
      capMs: 30_000,
      maxRetryAfterMs: 1,
      strings: en.provider,
      random: () => 0,
      sleep: async (ms) => {
        waits.push(ms);
      },
    });
    await provider.generate(HELLO, NEVER);
    expect(waits).toEqual([500]);
  });
});
