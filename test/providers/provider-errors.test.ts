import { describe, expect, test } from "vitest";
import { createAnthropic } from "../../src/providers/anthropic.ts";
import { createOpenAI } from "../../src/providers/openai.ts";
import { ProviderError } from "../../src/providers/provider.ts";
import { type Answer, modelServer, openAIAnswer, sse } from "../helpers/model-server.ts";
import { gather, HELLO, modelOptions, NEVER } from "./model-options.ts";

const DIALECTS = ["openai", "anthropic"] as const;

const create = (
  dialect: (typeof DIALECTS)[number],
  origin: string,
  changes: Parameters<typeof modelOptions>[1] = {},
) =>
  dialect === "openai"
    ? createOpenAI(modelOptions(`${origin}/v1`, changes))
    : createAnthropic(modelOptions(origin, changes));

const errorOf = async (answer: Answer, dialect: (typeof DIALECTS)[number] = "openai", changes = {}) => {
  const { origin } = await modelServer([answer]);
  const { error } = await gather(create(dialect, origin, changes).generateStream(HELLO, NEVER));
  if (!(error instanceof ProviderError)) throw new Error(`no provider error but ${error}`);
  return error;
};

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  chunks: [typeof body === "string" ? body : JSON.stringify(body)],
});

describe.each(DIALECTS)("%s: a status says what kind of failure it is", (dialect) => {
  test.each([
    [400, "bad_request", false],
    [401, "auth", false],
    [402, "rate_limit", false],
    [403, "auth", false],
    [404, "bad_request", false],
    [408, "timeout", true],
    [409, "server", true],
    [413, "context_overflow", false],
    [422, "bad_request", false],
    [429, "rate_limit", true],
    [500, "server", true],
    [502, "server", true],
    [503, "overloaded", true],
    [504, "server", true],
    [529, "overloaded", true],
  ])("%d", async (status, kind, retryable) => {
    const error = await errorOf(json(status, { error: { message: "the server's words" } }), dialect);
    expect({ kind: error.kind, status: error.status, retryable: error.retryable, message: error.message }).toEqual({
      kind,
      status,
      retryable,
      message: `testvendor (m-test): HTTP ${status} the server's words`,
    });
  });
});

describe("a code or a type says more than the status", () => {
  test.each<[string, number, unknown, string, boolean]>([
    [
      "an exhausted quota",
      429,
      { error: { message: "m", type: "insufficient_quota", code: "insufficient_quota" } },
      "rate_limit",
      false,
    ],
    [
      "a spend limit",
      429,
      {
        type: "error",
        error: { type: "rate_limit_error", message: "m", details: { error_code: "enforced_spend_limit_reached" } },
      },
      "rate_limit",
      false,
    ],
    ["a billing error", 400, { type: "error", error: { type: "billing_error", message: "m" } }, "rate_limit", false],
    [
      "no credit, in words alone",
      400,
      { error: { type: "invalid_request_error", message: "Your credit balance is too low to access the API." } },
      "rate_limit",
      false,
    ],
    [
      "an overflow by its code",
      400,
      { error: { message: "m", type: "invalid_request_error", code: "context_length_exceeded" } },
      "context_overflow",
      false,
    ],
    [
      "an overflow in words alone",
      400,
      { error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" } },
      "context_overflow",
      false,
    ],
    [
      "an overflow with the output limit",
      400,
      {
        error: {
          type: "invalid_request_error",
          message: "input length and `max_tokens` exceed context limit: 1 + 2 > 3",
        },
      },
      "context_overflow",
      false,
    ],
    [
      "an overflow of a local server",
      400,
      { error: { code: 400, type: "exceed_context_size_error", message: "m" } },
      "context_overflow",
      false,
    ],
    [
      "an overflow in another server's words",
      400,
      { object: "error", message: "This model's maximum context length is 4096 tokens.", code: 400 },
      "context_overflow",
      false,
    ],
    ["a wrong key under 400", 400, { error: { code: "invalid_api_key", message: "m" } }, "auth", false],
    ["a filtered prompt", 400, { error: { code: "content_filter", message: "m" } }, "content_filter", false],
    [
      "an error in an array",
      400,
      [{ error: { code: 400, message: "words", status: "INVALID_ARGUMENT" } }],
      "bad_request",
      false,
    ],
    [
      "a 5xx with a client error's type",
      500,
      { error: { type: "invalid_request_error", message: "m" } },
      "server",
      true,
    ],
  ])("%s", async (_, status, body, kind, retryable) => {
    expect(await errorOf(json(status, body))).toMatchObject({ kind, retryable, status });
  });

  test("x-should-retry: false is obeyed", async () => {
    const error = await errorOf(json(429, { error: { message: "m" } }, { "x-should-retry": "false" }));
    expect(error).toMatchObject({ kind: "rate_limit", retryable: false });
  });
});

describe("in a stream, and under HTTP 200", () => {
  const started = sse({ choices: [{ delta: { content: "he" } }] });

  test.each<[string, unknown, string, boolean]>([
    ["a code that is a status", { error: { message: "m", code: 429 } }, "rate_limit", true],
    ["a status as text", { error: { message: "m", code: "503" } }, "overloaded", true],
    ["a type", { error: { message: "m", type: "server_error" } }, "server", true],
    [
      "an overload beside choices",
      { choices: [{ delta: {}, finish_reason: "error" }], error: { code: 529, message: "m" } },
      "overloaded",
      true,
    ],
    ["a text", { error: "boom" }, "server", true],
    ["a wrong key", { error: { type: "authentication_error", message: "m" } }, "auth", false],
    ["no quota", { error: { code: "insufficient_quota", message: "m" } }, "rate_limit", false],
    ["an overflow", { error: { code: "context_length_exceeded", message: "m" } }, "context_overflow", false],
    ["a bare error", { code: "Throttling.RateQuota", message: "m", request_id: "r" }, "rate_limit", true],
    ["an error object of its own shape", { object: "error", message: "m", code: 400 }, "bad_request", false],
  ])("%s", async (_, event, kind, retryable) => {
    expect(await errorOf({ chunks: [...started, ...sse(event)] })).toMatchObject({ kind, retryable });
  });

  test("an event named error is one whatever its data", async () => {
    const error = await errorOf({ chunks: [...started, 'event: error\ndata: {"message":"boom"}\n\n'] });
    expect(error).toMatchObject({ kind: "server", retryable: true, message: "testvendor (m-test): boom" });
  });

  test("the finish reason error is a failure", async () => {
    const error = await errorOf({ chunks: [...started, ...sse({ choices: [{ delta: {}, finish_reason: "error" }] })] });
    expect(error).toMatchObject({ kind: "server", retryable: true });
  });

  test("a line that is no JSON breaks the stream", async () => {
    const error = await errorOf({ chunks: [...started, "data: {oops}\n\n"] });
    expect(error).toMatchObject({
      kind: "protocol",
      retryable: true,
      message: "testvendor (m-test): a piece of the stream is not JSON: {oops}",
    });
  });

  test.each(DIALECTS)("%s: a web page says that the base URL is wrong", async (dialect) => {
    const error = await errorOf(
      { headers: { "content-type": "text/html" }, chunks: ["\n<!doctype html><p>hi"] },
      dialect,
    );
    expect(error).toMatchObject({ kind: "protocol", retryable: false });
    expect(error.message).toBe("testvendor (m-test): the server sent a web page, not the API's JSON");
    expect(error.hint).toMatch(/^Check the base URL: http:\/\/127\.0\.0\.1:\d+(\/v1)?$/);
  });

  test("a web page under 404 is not quoted", async () => {
    const error = await errorOf({ status: 404, chunks: ["<html><body>Not Found</body></html>"] });
    expect(error.message).toBe("testvendor (m-test): HTTP 404 the server sent a web page, not the API's JSON");
    expect(error.hint).toMatch(/^Check the base URL/);
  });

  test.each<[string, string, string, boolean]>([
    ["JSON that is no answer", '{"hello":1}', "protocol", false],
    ["text that begins like JSON", "{oops", "protocol", false],
    ["an empty list", "[]", "protocol", false],
    ["plain words", "upstream connect error", "protocol", true],
    ["a bare error", '{"code":"model_not_found","message":"m"}', "bad_request", false],
    ["an error without a code", '{"error":"Unexpected endpoint"}', "bad_request", false],
    ["nothing", "", "network", true],
  ])("%s", async (_, body, kind, retryable) => {
    for (const dialect of DIALECTS)
      expect(await errorOf({ chunks: [body] }, dialect)).toMatchObject({ kind, retryable });
  });
});

describe("what the message says", () => {
  test("the key is masked, control characters go, and long words are cut", async () => {
    const words = `\x1b[31mbad\x07 key\n test-key-0123456789 sk-abcdefghijklmnop1234 ${"x".repeat(600)}`;
    const { message } = await errorOf(json(401, { error: { message: words } }));
    const start = "testvendor (m-test): HTTP 401 bad key [masked TESTVENDOR_API_KEY] [masked] xxx";
    expect(message.slice(0, start.length)).toBe(start);
    expect(message.length).toBeLessThan(560);
    expect(message.endsWith("x…")).toBe(true);
  });

  test.each<[string, Answer]>([
    ["JSON that is no answer", { chunks: [JSON.stringify({ note: `${"x".repeat(180)} test-key-0123456789` })] }],
    ["no JSON", { chunks: [`{${"x".repeat(190)} test-key-0123456789`] }],
    ["a piece of the stream", { chunks: [`data: ${"x".repeat(190)} test-key-0123456789\n\ndata: {}\n\n`] }],
    ["an error", { status: 400, chunks: [`${"x".repeat(490)} test-key-0123456789`] }],
  ])("a key that is quoted at the edge of a cut leaves no half behind: %s", async (_, answer) => {
    expect((await errorOf(answer)).message).not.toMatch(/test-|key-0/);
  });

  test.each<[number, RegExp]>([
    [401, /Check TESTVENDOR_API_KEY/],
    [402, /quota or balance is used up/],
    [404, /model name m-test .*base URL http:\/\/127\.0\.0\.1/],
    [413, /larger window/],
    [500, /-m\/--model/],
  ])("HTTP %d says what to do", async (status, hint) => {
    expect((await errorOf(json(status, {}))).hint).toMatch(hint);
  });

  test.each<[string, unknown, string]>([
    ["error as text", { error: "words" }, "words"],
    ["message", { message: "words" }, "words"],
    ["detail", { detail: "words" }, "words"],
    ["detail as a list", { detail: [{ msg: "words" }] }, '[{"msg":"words"}]'],
    ["plain text", "words", "words"],
    ["the vendor behind a router", { error: { message: "words", metadata: { raw: "its words" } } }, "words: its words"],
    ["nothing", "", "the server gave no reason"],
  ])("the server's words come from %s", async (_, body, words) => {
    expect((await errorOf(json(400, body))).message).toBe(`testvendor (m-test): HTTP 400 ${words}`);
  });

  test("a password in the base URL stays out of it", async () => {
    const { origin } = await modelServer([json(404, {})]);
    const provider = createOpenAI(modelOptions(`${origin.replace("://", "://me:secret@")}/v1`));
    const { error } = await gather(provider.generateStream(HELLO, NEVER));
    expect(error).toMatchObject({ kind: "bad_request" });
    expect(JSON.stringify([(error as ProviderError).message, (error as ProviderError).hint])).not.toContain("secret");
  });
});

describe.each(DIALECTS)("%s: a refusal whose body does not end well", (dialect) => {
  test.each<[string, Partial<Answer>]>([
    ["breaks off", { end: "reset" }],
    ["stays open", { end: "open" }],
    ["is endless", { chunks: ["words", " ".repeat(100_000)], end: "open" }],
  ])("%s", async (_, answer) => {
    const error = await errorOf({ status: 401, chunks: ["words"], ...answer }, dialect);
    expect([error.kind, error.message]).toEqual(["auth", "testvendor (m-test): HTTP 401 words"]);
  });
});

describe("Retry-After", () => {
  test.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "7" }, 7000],
    ["half seconds", { "retry-after": "0.5" }, 500],
    ["milliseconds go first", { "retry-after-ms": "250", "retry-after": "7" }, 250],
    ["a date in the past", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 0],
    ["nonsense", { "retry-after": "soon" }, undefined],
    ["less than nothing", { "retry-after": "-5" }, undefined],
    ["seconds with a unit", { "retry-after": "7s" }, undefined],
    ["blanks around seconds", { "retry-after": " 7 " }, 7000],
    ["an ISO date", { "retry-after": "2015-10-21T07:28:00Z" }, 0],
    ["none", {}, undefined],
  ])("%s", async (_, headers, expected) => {
    expect((await errorOf(json(429, {}, headers))).retryAfterMs).toBe(expected);
  });

  test("Google says it in the body", async () => {
    const details = [{ "@type": "x" }, { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
    const body = [{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "m", details } }];
    expect((await errorOf(json(429, body))).retryAfterMs).toBe(34_500);
    expect((await errorOf(json(429, body, { "retry-after": "2" }))).retryAfterMs).toBe(2000);
  });

  test("a date in the future", async () => {
    const date = new Date(Date.now() + 90_000).toUTCString();
    const { retryAfterMs } = await errorOf(json(429, {}, { "retry-after": date }));
    expect(retryAfterMs).toBeGreaterThan(60_000);
    expect(retryAfterMs).toBeLessThanOrEqual(90_000);
  });
});

describe.each(DIALECTS)("%s: the connection", (dialect) => {
  test("nobody listens there", async () => {
    const { error } = await gather(create(dialect, "http://127.0.0.1:9").generateStream(HELLO, NEVER));
    expect(error).toMatchObject({
      kind: "network",
      retryable: true,
      message: "testvendor (m-test): cannot reach http://127.0.0.1:9 (ECONNREFUSED)",
    });
  });

  test("an unknown host", async () => {
    const { error } = await gather(create(dialect, "http://no-such-host.invalid").generateStream(HELLO, NEVER));
    expect(error).toMatchObject({ kind: "network", retryable: true });
  });

  test("a server that speaks no TLS under https is not asked again", async () => {
    const { origin } = await modelServer([{}]);
    const { error } = await gather(create(dialect, origin.replace("http:", "https:")).generateStream(HELLO, NEVER));
    expect(error).toMatchObject({ kind: "protocol", retryable: false });
  });

  test("a key that no header can hold is never sent nor shown", async () => {
    const { origin } = await modelServer([{}]);
    const { error } = await gather(
      create(dialect, origin, { apiKey: "bad\nkey-0123456789" }).generateStream(HELLO, NEVER),
    );
    expect(error).toMatchObject({ kind: "auth", retryable: false });
    expect(String(error)).not.toContain("key-0123456789");
  });

  test("not a byte within the limit is a time-out", async () => {
    const { origin } = await modelServer([{ end: "open" }]);
    const provider = create(dialect, origin, { timeouts: { firstByteMs: 50, silenceMs: 20_000 } });
    const { error } = await gather(provider.generateStream(HELLO, NEVER));
    expect(error).toMatchObject({ kind: "timeout", retryable: true });
  });

  test("silence in the middle is a time-out", async () => {
    const { origin } = await modelServer([{ chunks: [": ping\n\n"], end: "open" }]);
    const provider = create(dialect, origin, { timeouts: { firstByteMs: null, silenceMs: 50 } });
    const { error } = await gather(provider.generateStream(HELLO, NEVER));
    expect(error).toMatchObject({ kind: "timeout", retryable: true });
  });

  test.each<[string, Answer]>([
    ["before the first byte", { end: "open" }],
    ["in the middle of the stream", { chunks: sse({ choices: [{ delta: { content: "x" } }] }), end: "open" }],
  ])("an abort %s cancels at once and cuts the connection", async (_, answer) => {
    const server = await modelServer([answer]);
    const controller = new AbortController();
    const provider = create(dialect, server.origin);
    const running = gather(provider.generateStream(HELLO, controller.signal));
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await running).error).toMatchObject({ kind: "cancelled", retryable: false });
    await server.cut;
  });

  test("a signal that was aborted before sends nothing", async () => {
    const server = await modelServer([{}]);
    const { error } = await gather(create(dialect, server.origin).generateStream(HELLO, AbortSignal.abort()));
    expect(error).toMatchObject({ kind: "cancelled" });
    expect(server.requests).toEqual([]);
  });

  test("whoever stops reading ends the request", async () => {
    const server = await modelServer([
      { chunks: sse({ choices: [{ delta: { content: "x" } }] }, { type: "ping" }), end: "open" },
    ]);
    if (dialect === "anthropic") return;
    for await (const _ of create(dialect, server.origin).generateStream(HELLO, NEVER)) break;
    await server.cut;
  });
});

test("pings keep a slow stream alive", async () => {
  const pings = Array.from({ length: 30 }, () => ": ping\n\n");
  const { origin } = await modelServer([{ chunks: [...pings, ...(openAIAnswer("ok").chunks ?? [])] }]);
  const provider = createOpenAI(modelOptions(`${origin}/v1`, { timeouts: { firstByteMs: 5000, silenceMs: 5000 } }));
  expect((await provider.generate(HELLO, NEVER)).message.content).toBe("ok");
});
