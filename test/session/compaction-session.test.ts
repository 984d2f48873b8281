import fc from "fast-check";
import { expect, test } from "vitest";
import { createBudget } from "../../src/engine/budget.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/options.ts";
import { createAnthropic } from "../../src/providers/anthropic.ts";
import { createOpenAI } from "../../src/providers/openai.ts";
import type { LLMProvider } from "../../src/providers/provider.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { type ModelInfo, NO_USAGE } from "../../src/schema/model.ts";
import { isJournaled, type JournalEntry, journalLine } from "../../src/session/journal.ts";
import { parseJournalLine } from "../../src/session/journal-schema.ts";
import { readPast } from "../../src/session/resume.ts";
import { isRewindReminder } from "../../src/session/rewind-reminder.ts";
import { Session, type TurnEntry } from "../../src/session/session.ts";
import { en } from "../../src/text/en.ts";
import { ENGINE_OPTIONS, registryOf, tool } from "../helpers/engine.ts";
import {
  type Answer,
  type ModelServer,
  modelServer,
  openAIAnswer,
  type ReceivedRequest,
  sse,
} from "../helpers/model-server.ts";
import { messagesOf, sizeOf, strictly } from "../helpers/strict-model.ts";
import { modelOptions } from "../providers/model-options.ts";

const SIGNAL = new AbortController().signal;
const SYSTEM = `You are a test. PINNED ${"s".repeat(800)}`;
const WINDOW = 8000;

type Dialect = "openai" | "anthropic";
type Said = { readonly text: string } | { readonly call: string };

/** An answer in either dialect, with the figures of its request. */
const answerOf = (dialect: Dialect, said: Said, request: ReceivedRequest, id: string): Answer => {
  const size = sizeOf(request);
  if (dialect === "openai") {
    const usage = { prompt_tokens: size, completion_tokens: 20, total_tokens: size + 20 };
    if ("text" in said) return openAIAnswer(said.text, "stop", usage);
    const call = {
      index: 0,
      id,
      type: "function",
      function: { name: "echo", arguments: JSON.stringify({ text: said.call }) },
    };
    return openAIAnswer({ tool_calls: [call] }, "tool_calls", usage);
  }
  const block =
    "text" in said
      ? { type: "text", text: said.text }
      : { type: "tool_use", id, name: "echo", input: { text: said.call } };
  const thinking = { type: "thinking", thinking: "hm", signature: `sig-${id}` };
  return {
    chunks: sse(
      { type: "message_start", message: { content: [], usage: { input_tokens: size, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: thinking },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: block },
      { type: "content_block_stop", index: 1 },
      {
        type: "message_delta",
        delta: { stop_reason: "text" in said ? "end_turn" : "tool_use" },
        usage: { output_tokens: 20 },
      },
      { type: "message_stop" },
    ),
  };
};

const isSummaryRequest = (request: ReceivedRequest): boolean =>
  JSON.stringify(messagesOf(request).at(-1)).includes("Write a summary of this conversation");

const providerOf = (dialect: Dialect, server: ModelServer, info: ModelInfo): LLMProvider =>
  dialect === "openai"
    ? createOpenAI(modelOptions(`${server.origin}/v1`, { info }))
    : createAnthropic(modelOptions(server.origin, { info, thinking: "native" }));

type Kept = { readonly lines: JournalEntry[]; readonly events: EngineEvent[] };

type On = {
  readonly kept: Kept;
  readonly past?: Awaited<ReturnType<typeof readPast>>;
  readonly output?: number;
  readonly engine?: Partial<EngineOptions>;
};

const engineOn = (
  provider: LLMProvider,
  info: ModelInfo,
  { output = 1500, engine = {} }: Pick<On, "output" | "engine">,
): Engine =>
  new Engine({
    ...ENGINE_OPTIONS,
    provider,
    info,
    tools: registryOf([tool("echo", (text) => `${text} ${"o".repeat(output)}`)]),
    session: { id: "20260102-030405-abcd", workDir: "/work" },
    ...engine,
  });

const sessionOn = (provider: LLMProvider, info: ModelInfo, { kept, past, ...on }: On): Session =>
  new Session({
    id: "20260102-030405-abcd",
    systemPrompt: SYSTEM,
    past,
    engine: engineOn(provider, info, on),
    sinks: [
      (event) => {
        kept.events.push(event);
        if (isJournaled(event)) kept.lines.push(event);
      },
    ],
    note: (entry: TurnEntry) => void kept.lines.push(entry),
    clock: () => new Date("2026-01-02T03:04:05Z"),
    compaction: { at: 0.8, strings: en.compaction },
  });

const newKept = (): Kept => ({ lines: [], events: [] });

const send = async (session: Session, content: string, signal = SIGNAL): Promise<EngineEvent<"run.completed">> => {
  let end: EngineEvent | undefined;
  for await (const event of session.run({ content, source: "person" }, signal)) end = event;
  if (end?.type !== "run.completed") throw new Error("no end");
  return end;
};

const pastOf = (lines: readonly JournalEntry[]): ReturnType<typeof readPast> =>
  readPast(
    (async function* () {
      for (const one of lines) {
        const line = journalLine(one);
        const parsed = parseJournalLine(line);
        if (parsed.type === "entry") yield { type: "entry" as const, entry: parsed.entry, line };
        else throw new Error(`${parsed.type}: ${line}`);
      }
    })(),
    { interrupted: "interrupted", emptyOutput: "nothing" },
  );

const window = (contextWindow: number | null): ModelInfo => ({ contextWindow, maxOutputTokens: 1000, prices: null });
const only = <T extends EngineEvent["type"]>(events: readonly EngineEvent[], type: T) =>
  events.filter((event): event is EngineEvent<T> & EngineEvent => event.type === type);

/** The calls of an Anthropic request that have lost the signed thought which led to them. */
const unsignedCalls = (request: ReceivedRequest): readonly string[] =>
  messagesOf(request).flatMap(({ content }) => {
    const blocks = Array.isArray(content) ? (content as readonly Readonly<Record<string, unknown>>[]) : [];
    const signatures = blocks.map(({ signature }) => signature);
    const ids = blocks.flatMap(({ type, id }) => (type === "tool_use" ? [String(id)] : []));
    return ids.filter((id) => !signatures.includes(`sig-${id}`));
  });

const TURNS_A_RUN = 5;

test.each<Dialect>(["openai", "anthropic"])(
  "400 turns under a window of 8k: %s takes each request, and finds what the person said in it",
  { timeout: 120_000 },
  async (dialect) => {
    const words: string[] = [];
    let turn = 0;
    let summaries = 0;
    const missing: string[] = [];
    const strict = strictly((request) => {
      const text = JSON.stringify(request.body);
      missing.push(...["PINNED", ...words].filter((word) => !text.includes(word)));
      if (dialect === "anthropic") missing.push(...unsignedCalls(request));
      if (isSummaryRequest(request)) {
        summaries += 1;
        return answerOf(dialect, { text: `## Intent\nAll of it, ${summaries} times.` }, request, "s");
      }
      turn += 1;
      const isLast = turn % TURNS_A_RUN === 0;
      return answerOf(dialect, isLast ? { text: `Done ${turn}.` } : { call: `step ${turn}` }, request, `call_${turn}`);
    }, WINDOW);
    const server = await modelServer(strict.answer);
    const kept = newKept();
    const info = window(WINDOW);
    let session = sessionOn(providerOf(dialect, server, info), info, { kept });
    for (let run = 1; turn < 400; run += 1) {
      words.push(`please-do-${run}.`);
      expect(await send(session, `Now please-do-${run}.`)).toMatchObject({ reason: "completed" });
      if (run % 20 === 0) {
        // It goes on in another process, with the same bytes.
        const sent = session.context?.state().messages;
        session = sessionOn(providerOf(dialect, server, info), info, { kept, past: await pastOf(kept.lines) });
        expect(session.context?.state().messages).toEqual(sent);
      }
    }
    expect(strict.problems).toEqual([]);
    expect([...new Set(missing)]).toEqual([]);
    expect(summaries).toBeGreaterThan(3);
    expect(only(kept.events, "context.compacted").length).toBeGreaterThanOrEqual(summaries);
    // The history is whole: nothing of it was rewritten.
    expect(session.messages.filter((message) => "toolCallId" in message)).toHaveLength(320);
    expect(session.messages.every(({ content }) => !content.includes("harness9 left out"))).toBe(true);
  },
);

/** A server with a window of its own, which the model's table may not know. */
const calling = async (
  serverWindow: number,
  turns: number,
  more: { readonly summary?: (request: ReceivedRequest) => Answer } = {},
) => {
  let turn = 0;
  const strict = strictly((request) => {
    if (isSummaryRequest(request))
      return more.summary?.(request) ?? answerOf("openai", { text: "## Intent\nGo on." }, request, "s");
    turn += 1;
    const said = turn % turns === 0 ? { text: "Done." } : { call: `step ${turn}` };
    return answerOf("openai", said, request, `call_${turn}`);
  }, serverWindow);
  return { strict, server: await modelServer(strict.answer) };
};

test("a server with a smaller window than thought: one refusal, then all fits, also after it goes on", async () => {
  const { strict, server } = await calling(5000, 30);
  const kept = newKept();
  for (const info of [window(100_000), window(null)]) {
    strict.problems.length = 0;
    const session = sessionOn(providerOf("openai", server, info), info, { kept });
    expect(await send(session, "work on")).toMatchObject({ reason: "completed" });
    expect(strict.problems.length).toBeLessThanOrEqual(1);
    kept.lines.length = kept.lines.length > 1000 ? 0 : kept.lines.length;
  }
});

test("a message that fits nowhere ends the run with an error that says what to do, and the next run goes on", async () => {
  const { strict, server } = await calling(5000, 1);
  for (const info of [window(5000), window(null)]) {
    const kept = newKept();
    const session = sessionOn(providerOf("openai", server, info), info, { kept });
    const end = await send(session, "x".repeat(400_000));
    expect(end.error).toMatchObject({ kind: "context_overflow", hint: en.compaction.tooLongHint });
    // Nobody knows what the window holds where a refusal is all that is known of it.
    expect(/window holds \d+/.exec(end.error?.message ?? "")?.[0]).toBe(
      info.contextWindow === null ? undefined : "window holds 5000",
    );
    expect(await send(session, "hello")).toMatchObject({ reason: "completed" });
  }
  expect(strict.problems.length).toBeLessThanOrEqual(3);
});

test("a giant result is cut rather than the session lost", async () => {
  const { strict, server } = await calling(8000, 2);
  const info = window(8000);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept(), output: 200_000 });
  expect(await send(session, "look")).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
});

const refusing = { status: 400, chunks: [JSON.stringify({ error: { message: "no", type: "invalid_request_error" } })] };

test.each<[string, (request: ReceivedRequest) => Answer]>([
  ["refused", () => refusing],
  ["empty", (request) => answerOf("openai", { text: "" }, request, "s")],
  ["a call", (request) => answerOf("openai", { call: "x" }, request, "s")],
])("a summary that is %s costs the old steps, and the person is told", async (_, summary) => {
  const { strict, server } = await calling(3000, 40, { summary });
  const info = window(3000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept, output: 100 });
  expect(await send(session, "work on")).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
  expect(only(kept.events, "notice").map(({ text }) => text)).toEqual(
    expect.arrayContaining([expect.stringContaining("no summary could be made")]),
  );
});

test("what a summary costs counts", async () => {
  const { server } = await calling(8000, 100);
  const info = window(8000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept, output: 100 });
  const end = await send(session, "work on");
  const requests = server.requests.length;
  expect(only(kept.events, "usage.updated")).toHaveLength(requests);
  expect(end.usage.inputTokens).toBe(server.requests.reduce((sum, request) => sum + sizeOf(request), 0));
});

test("Esc while the summary is written ends the run as cancelled, and nothing is compacted", async () => {
  const controller = new AbortController();
  const { server } = await calling(3000, 100, {
    summary: () => {
      setImmediate(() => controller.abort());
      return { end: "open" };
    },
  });
  const info = window(3000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept, output: 100 });
  expect(await send(session, "work on", controller.signal)).toMatchObject({ reason: "cancelled" });
  expect(only(kept.events, "context.compacted")).toEqual([]);
  expect(session.context?.compaction()).toBeUndefined();
});

test("a person compacts, rewrites the summary and takes it back; each is written down", async () => {
  const { strict, server } = await calling(100_000, 6);
  const info = window(100_000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  const { context } = session;
  await send(session, "work on");
  const seen: EngineEvent[] = [];
  const onEvent = (event: EngineEvent): void => void seen.push(event);
  const done = await context?.compact({ focus: "the tests" }, SIGNAL, onEvent);
  expect(done).toMatchObject({
    type: "compacted",
    compaction: { summary: "## Intent\nGo on.", focus: "the tests", automatic: false },
  });
  expect(JSON.stringify(messagesOf(server.requests.at(-1) ?? raise()).at(-1))).toContain("above all: the tests");
  expect(seen.map(({ type }) => type)).toEqual(["usage.updated", "context.compacted"]);

  expect(context?.rewrite("MINE", onEvent)).toBe(true);
  await send(session, "more");
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("MINE");
  const again = sessionOn(providerOf("openai", server, info), info, {
    kept: newKept(),
    past: await pastOf(kept.lines),
  });
  expect(again.context?.state().messages).toEqual(context?.state().messages);

  // With the summary both texts of it are gone.
  expect([context?.undo(onEvent), context?.undo(onEvent)]).toEqual([true, false]);
  expect(context?.state().messages).toBe(session.messages);
  expect(kept.lines.flatMap(({ type }) => (type.startsWith("compaction") ? [type] : []))).toEqual([
    "compaction",
    "compaction",
    "compaction.undone",
  ]);
  expect(strict.problems).toEqual([]);
});

const raise = (): never => {
  throw new Error("no request");
};

test("below the threshold the messages are the history itself", async () => {
  const { server } = await calling(100_000, 3);
  const info = window(100_000);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept() });
  await send(session, "work on");
  expect(session.context?.state().messages).toBe(session.messages);
  const [first, second] = server.requests.map(messagesOf);
  expect(second?.slice(0, first?.length)).toEqual(first);
});

test("the figure after an answer is the server's own", async () => {
  const { server } = await calling(100_000, 1);
  const info = window(100_000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  await send(session, "hello");
  const [request] = server.requests;
  const exact = sizeOf(request ?? raise()) + 20;
  expect(only(kept.events, "usage.updated")[0]?.contextTokens).toBe(exact);
  expect(session.context?.state()).toMatchObject({
    tokens: exact,
    isMeasured: true,
    window: 100_000,
    compactsAt: 80_000,
  });
});

test("a budget that the summary uses up ends the run before the next request", async () => {
  const { server } = await calling(3000, 100);
  const info = window(3000);
  const limits = { maxTurns: 50, toolTimeoutMs: 60_000, maxConcurrentTools: 0, maxTokens: 1_000_000 };
  const session = sessionOn(providerOf("openai", server, info), info, {
    kept: newKept(),
    output: 100,
    engine: { limits },
  });
  await send(session, "work on");
  const index = server.requests.findIndex(isSummaryRequest);
  expect(index).toBeGreaterThan(0);
  const spent = server.requests.slice(0, index).reduce((sum, request) => sum + sizeOf(request) + 20, 0);

  const again = await calling(3000, 100);
  const poor = sessionOn(providerOf("openai", again.server, info), info, {
    kept: newKept(),
    output: 100,
    engine: { limits: { ...limits, maxTokens: spent + 1 } },
  });
  expect(await send(poor, "work on")).toMatchObject({ reason: "budget" });
  expect(again.server.requests.findIndex(isSummaryRequest)).toBe(again.server.requests.length - 1);
});

test.each(["two-stage", "off"] as const)(
  "thinking %s: no request is refused, and each answer finds its calls",
  async (thinking) => {
    let turn = 0;
    const strict = strictly((request) => {
      if (isSummaryRequest(request)) return answerOf("openai", { text: "## Intent\nGo on." }, request, "s");
      const hasTools = "tools" in (request.body as object);
      if (!hasTools) return answerOf("openai", { text: `I think ${"about it ".repeat(40)}` }, request, "t");
      turn += 1;
      return answerOf(
        "openai",
        turn % 10 === 0 ? { text: "Done." } : { call: `step ${turn}` },
        request,
        `call_${turn}`,
      );
    }, WINDOW);
    const server = await modelServer(strict.answer);
    const kept = newKept();
    const info = window(WINDOW);
    const session = sessionOn(providerOf("openai", server, info), info, { kept, engine: { thinking } });
    for (let run = 1; run <= 5; run += 1)
      expect(await send(session, `order ${run}`)).toMatchObject({ reason: "completed" });
    expect(strict.problems).toEqual([]);
    expect(only(kept.events, "context.compacted").length).toBeGreaterThan(0);
  },
);

test.each([
  ["Latin", "word and more words "],
  ["Chinese", "上下文压缩之后继续工作"],
  ["JSON", '{"id": 1234567, "path": "/a/b/c.ts"}, '],
])("a server without figures, results in %s: the estimate keeps each request in the window", async (_, text) => {
  let turn = 0;
  const strict = strictly((request) => {
    turn += isSummaryRequest(request) ? 0 : 1;
    if (isSummaryRequest(request)) return openAIAnswer("## Intent\nGo on.");
    if (turn % 20 === 0) return openAIAnswer("Done.");
    const call = {
      index: 0,
      id: `call_${turn}`,
      type: "function",
      function: { name: "echo", arguments: JSON.stringify({ text: `${turn} ${text.repeat(60)}` }) },
    };
    return openAIAnswer({ tool_calls: [call] }, "tool_calls");
  }, WINDOW);
  const server = await modelServer(strict.answer);
  const info = window(WINDOW);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept(), output: 10 });
  for (let run = 1; run <= 3; run += 1)
    expect(await send(session, `order ${run}`)).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
});

test("a cache that is suddenly lost is told of once, with what it costs", async () => {
  let turn = 0;
  const server = await modelServer(() => {
    turn += 1;
    const cached = turn === 3 || turn === 5 ? 0 : 9000;
    const usage = { prompt_tokens: 10_000, completion_tokens: 20, prompt_tokens_details: { cached_tokens: cached } };
    if (turn === 7) return openAIAnswer("Done.", "stop", usage);
    const call = {
      index: 0,
      id: `call_${turn}`,
      type: "function",
      function: { name: "echo", arguments: `{"text":"${turn}"}` },
    };
    return openAIAnswer({ tool_calls: [call] }, "tool_calls", usage);
  });
  const kept = newKept();
  const info = { ...window(1_000_000), prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 } };
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  await send(session, "work on");
  expect(only(kept.events, "notice").map(({ text }) => text)).toEqual([en.compaction.cacheLost(10_000, 0.027)]);
});

test("/compact of a conversation that is too long for its own summary leaves outputs out first", async () => {
  const { strict, server } = await calling(6000, 4);
  const info = window(null);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept, output: 4500 });
  await send(session, "work on");
  const done = await session.context?.compact({}, SIGNAL, () => undefined);
  expect(done).toMatchObject({ type: "compacted", compaction: { summary: "## Intent\nGo on." } });
  expect(strict.problems.length).toBeLessThanOrEqual(1);
});

test("a rewind takes a compaction along that covers what is gone, and a redo brings it back", async () => {
  const { server } = await calling(100_000, 4);
  const info = window(100_000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  await send(session, "first");
  await session.context?.compact({}, SIGNAL, () => undefined);
  await send(session, "second");
  const [, second] = session.turns.list();
  const compaction = session.context?.compaction();
  session.rewind(second?.seq ?? 0, "conversation");
  expect(session.context?.compaction()).toBe(compaction);
  const [first] = session.turns.list();
  session.rewind(first?.seq ?? 0, "conversation");
  expect(session.context?.state().messages).toEqual([{ role: "system", content: SYSTEM }]);
  session.redo();
  session.redo();
  expect(session.context?.compaction()).toBe(compaction);
  const again = sessionOn(providerOf("openai", server, info), info, {
    kept: newKept(),
    past: await pastOf(kept.lines),
  });
  expect(again.context?.state().messages).toEqual(session.context?.state().messages);
});

test("it goes on in the same bytes wherever the program was killed", async () => {
  const { server } = await calling(8000, 60);
  const info = window(8000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  const sent = new Map<number, string>();
  for await (const event of session.run({ content: "work on", source: "person" }, SIGNAL))
    if (event.type === "context.compacted")
      sent.set(kept.lines.indexOf(event), JSON.stringify(session.context?.state().messages));
  expect(sent.size).toBeGreaterThan(0);
  for (const [line, messages] of sent) {
    const past = await pastOf(kept.lines.slice(0, line + 1));
    const again = sessionOn(providerOf("openai", server, info), info, { kept: newKept(), past });
    expect(JSON.stringify(again.context?.state().messages)).toBe(messages);
  }
});

test("a person who says more than the window holds can go on all the same", async () => {
  const { strict, server } = await calling(8000, 1);
  const info = window(8000);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept() });
  for (let run = 1; run <= 80; run += 1)
    expect(await send(session, `order ${run} ${"and so on ".repeat(100)}`)).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
  const [newest] = session.context?.state().messages.slice(-2) ?? [];
  expect(newest?.content).toContain("order 80 ");
});

test("a server that counts its calls from one again gives none the id of one that is left out", async () => {
  let turn = 0;
  const strict = strictly((request) => {
    if (isSummaryRequest(request)) return answerOf("openai", { text: "## Intent\nGo on." }, request, "s");
    turn += 1;
    return answerOf("openai", turn % 30 === 0 ? { text: "Done." } : { call: `step ${turn}` }, request, "call_0");
  }, 5000);
  const server = await modelServer(strict.answer);
  const info = window(5000);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept(), output: 700 });
  await send(session, "work on");
  const ids = session.messages.flatMap((message) => ("toolCallId" in message ? [message.toolCallId] : []));
  expect(new Set(ids).size).toBe(29);
  expect(session.context?.compaction()).toBeDefined();
});

test("a message that did not fit keeps nobody from going on, also behind answers", async () => {
  const { strict, server } = await calling(5000, 1);
  const info = window(5000);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept() });
  await send(session, "hi");
  expect(await send(session, "x".repeat(400_000))).toMatchObject({ reason: "error" });
  expect(await send(session, "hello")).toMatchObject({ reason: "completed" });
  expect(await send(session, "hello again")).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("hello again");
});

test("a summary that is much longer than it was to be is cut, and not paid for in vain", async () => {
  const summary = (request: ReceivedRequest): Answer =>
    answerOf("openai", { text: `## Intent\n${"word ".repeat(10_000)}the end` }, request, "s");
  const { strict, server } = await calling(8000, 40, { summary });
  const info = window(8000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept, output: 100 });
  for (let run = 1; run <= 3; run += 1)
    expect(await send(session, `order ${run}`)).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
  expect(only(kept.events, "notice")).toEqual([]);
  expect(session.context?.compaction()?.summary).toMatch(/^## Intent\n.* characters left out here .*the end$/s);
  expect(server.requests.filter(isSummaryRequest)).toHaveLength(only(kept.events, "context.compacted").length);
});

const inBudget = (spent: number) => ({
  limits: { maxTurns: 50, toolTimeoutMs: 60_000, maxConcurrentTools: 0, maxTokens: spent },
});

test("a summary that has to be asked for twice is not, where the budget is used up between", async () => {
  const summary = (request: ReceivedRequest): Answer => answerOf("openai", { call: "x" }, request, "s");
  const info = window(3000);
  const rich = await calling(3000, 100, { summary });
  await send(sessionOn(providerOf("openai", rich.server, info), info, { kept: newKept(), output: 100 }), "work on");
  const index = rich.server.requests.findIndex(isSummaryRequest);
  const spent = rich.server.requests.slice(0, index).reduce((sum, request) => sum + sizeOf(request) + 20, 0);

  const { server } = await calling(3000, 100, { summary });
  const engine = inBudget(spent + 1);
  const session = sessionOn(providerOf("openai", server, info), info, { kept: newKept(), output: 100, engine });
  expect(await send(session, "work on")).toMatchObject({ reason: "budget" });
  expect(server.requests.findIndex(isSummaryRequest)).toBe(server.requests.length - 1);
  expect(session.context?.compaction()).toBeUndefined();
});

test.each([
  ["nobody extends", undefined, "cancelled"],
  ["a person does not extend", "stop", "cancelled"],
  ["a person extends", "again", "compacted"],
])("/compact with a budget that is used up, which %s", async (_, choice, type) => {
  const { server } = await calling(100_000, 6);
  const info = window(100_000);
  const budget = createBudget({ maxTokens: 100 });
  const asked: string[] = [];
  const ask: EngineOptions["ask"] = async (question) => {
    asked.push(question.kind);
    return { choice: choice ?? "" };
  };
  const provider = providerOf("openai", server, info);
  const session = sessionOn(provider, info, { kept: newKept() });
  await send(session, "work on");
  budget.add({ ...NO_USAGE, inputTokens: 100 }, null, "server");
  session.use(engineOn(provider, info, { engine: { budget, ask: choice === undefined ? undefined : ask } }));
  const sent = server.requests.length;
  const seen: EngineEvent[] = [];
  const done = await session.context?.compact({}, SIGNAL, (event) => void seen.push(event));
  expect(done?.type).toBe(type);
  expect(server.requests.length - sent).toBe(type === "compacted" ? 1 : 0);
  expect(asked).toEqual(choice === undefined ? [] : ["choice"]);
  if (type === "cancelled") expect(seen.map((event) => event.type)).toEqual(["notice"]);
});

test("what a server's refusal has shown is forgotten with another model, also when the session goes on with it", async () => {
  const { server } = await calling(5000, 30);
  const kept = newKept();
  const unknown = window(null);
  const session = sessionOn(providerOf("openai", server, unknown), unknown, { kept });
  await send(session, "work on");
  expect(session.context?.state().window).toBeLessThan(6000);

  const same = sessionOn(providerOf("openai", server, unknown), unknown, { kept, past: await pastOf(kept.lines) });
  await send(same, "more");
  expect(same.context?.state().window).toBeLessThan(6000);

  const large = window(200_000);
  const { server: roomy } = await calling(200_000, 30);
  const other = { ...providerOf("openai", roomy, large), model: "another-model" };
  const again = sessionOn(other, large, { kept, past: await pastOf(kept.lines) });
  await send(again, "more");
  expect(again.context?.state().window).toBe(200_000);
});

/** A server whose answers end the run, and say how much of a prompt of 10,000 tokens came from its cache. */
const caching = (...cached: readonly number[]) =>
  modelServer((_, count) =>
    openAIAnswer("Done.", "stop", {
      prompt_tokens: 10_000,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: cached[count - 1] ?? 0 },
    }),
  );

test("a cache that is lost between two runs of one request each is told of", async () => {
  const server = await caching(9000, 0);
  const info = window(1_000_000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  await send(session, "one");
  await send(session, "two");
  expect(only(kept.events, "notice").map(({ text }) => text)).toEqual([en.compaction.cacheLost(10_000, null)]);
});

test.each<[string, (session: Session) => void]>([
  ["a way back", (session) => void session.rewind(session.turns.list()[0]?.seq ?? 0, "conversation")],
  [
    "a way back and forth",
    (session) => {
      session.rewind(session.turns.list()[0]?.seq ?? 0, "conversation");
      session.redo();
    },
  ],
])("no cache is lost by %s: the requests begin in another way", async (_, change) => {
  const server = await caching(9000, 0);
  const info = window(1_000_000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  await send(session, "one");
  change(session);
  await send(session, "two");
  expect(only(kept.events, "notice")).toEqual([]);
});

test("a session that goes on counts by the server's figure from the first moment on", async () => {
  const { server } = await calling(8000, 30);
  const info = window(8000);
  const kept = newKept();
  const session = sessionOn(providerOf("openai", server, info), info, { kept });
  const agrees = async (): Promise<void> => {
    const again = sessionOn(providerOf("openai", server, info), info, {
      kept: newKept(),
      past: await pastOf(kept.lines),
    });
    expect(again.context?.state()).toEqual(session.context?.state());
  };
  await send(session, "work on");
  await agrees();
  await send(session, "more");
  await agrees();
  await session.context?.compact({}, SIGNAL, () => undefined);
  await agrees();
  session.context?.undo(() => undefined);
  await agrees();
});

test("each summary that was paid for between two runs is in the session's sums, also by two programs or models", async () => {
  const { server } = await calling(100_000, 6);
  const info = window(100_000);
  const kept = newKept();
  const provider = providerOf("openai", server, info);
  const session = sessionOn(provider, info, { kept });
  await send(session, "work on");
  for (const engine of [1, 2]) {
    session.use(engineOn(provider, info, { output: engine }));
    await session.context?.compact({}, SIGNAL, () => undefined);
    session.context?.undo(() => undefined);
  }
  const again = sessionOn(provider, info, { kept, past: await pastOf(kept.lines) });
  await again.context?.compact({}, SIGNAL, () => undefined);
  const { totals } = await pastOf(kept.lines);
  expect(server.requests.filter(isSummaryRequest)).toHaveLength(3);
  expect(totals.usage.inputTokens).toBe(server.requests.reduce((sum, request) => sum + sizeOf(request), 0));
});

test("a giant order in plan mode is not cut for the reminder behind it: the person is told", async () => {
  const { strict, server } = await calling(5000, 1);
  const info = window(5000);
  const kept = newKept();
  const session = new Session({
    id: "20260102-030405-abcd",
    systemPrompt: SYSTEM,
    engine: engineOn(providerOf("openai", server, info), info, {}),
    sinks: [(event) => void kept.events.push(event)],
    clock: () => new Date("2026-01-02T03:04:05Z"),
    compaction: { at: 0.8, strings: en.compaction },
    permissionMode: () => "plan",
  });
  expect(await send(session, "x".repeat(400_000))).toMatchObject({ error: { kind: "context_overflow" } });
  expect(await send(session, "hello")).toMatchObject({ reason: "completed" });
  expect(strict.problems).toEqual([]);
});

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant("send" as const),
        text: fc.string({ minLength: 1, maxLength: 40 }),
        isCut: fc.boolean(),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constantFrom(
          "compact" as const,
          "undo" as const,
          "rewrite" as const,
          "redo" as const,
          "resume" as const,
          "note" as const,
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("rewind" as const), at: fc.nat(20) }) },
  ),
  { minLength: 5, maxLength: 25 },
);

test("whatever a person does: no request is refused, and the journal gives the same bytes", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const { strict, server } = await calling(6000, 4);
      const info = window(6000);
      const kept = newKept();
      let session = sessionOn(providerOf("openai", server, info), info, { kept, output: 900 });
      for (const step of list) {
        switch (step.type) {
          case "send": {
            const controller = new AbortController();
            for await (const event of session.run({ content: step.text, source: "person" }, controller.signal))
              if (step.isCut && event.type === "tool.completed") controller.abort();
            break;
          }
          case "compact":
            await session.context?.compact({}, SIGNAL, () => undefined);
            break;
          case "undo":
            session.context?.undo(() => undefined);
            break;
          case "rewrite":
            session.context?.rewrite("MINE", () => undefined);
            break;
          case "redo":
            if (session.turns.undoable()) session.redo();
            break;
          case "note":
            session.addNote("a note");
            break;
          case "rewind": {
            const turns = session.turns.list();
            const turn = turns[step.at % Math.max(1, turns.length)];
            if (turn) session.rewind(turn.seq, "conversation");
            break;
          }
          case "resume":
            session = sessionOn(providerOf("openai", server, info), info, {
              kept,
              past: await pastOf(kept.lines),
              output: 900,
            });
            break;
          default:
            step satisfies never;
        }
        if (kept.lines.length === 0) continue;
        const again = sessionOn(providerOf("openai", server, info), info, {
          kept: newKept(),
          past: await pastOf(kept.lines),
        });
        expect(again.context?.state().messages).toEqual(session.context?.state().messages);
        const text = JSON.stringify(session.context?.state().messages);
        // A reminder of ours may be cut where the window is too small for all.
        const said = session.messages.filter((m) => m.role === "user" && !("toolCallId" in m));
        for (const { content } of said.filter((m) => !isRewindReminder(m.content)))
          expect(text).toContain(JSON.stringify(content).slice(1, -1));
      }
      expect(strict.problems.map((p) => p.slice(0, 200))).toEqual([]);
    }),
    { numRuns: 12 },
  );
});
