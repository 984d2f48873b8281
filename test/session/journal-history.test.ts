import fc from "fast-check";
import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/options.ts";
import { ProviderError } from "../../src/providers/provider.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { isObservation, type Message } from "../../src/schema/message.ts";
import { isJournaled, type JournalEntry, journalLine } from "../../src/session/journal.ts";
import { createHistory } from "../../src/session/journal-history.ts";
import { parseJournalLine } from "../../src/session/journal-schema.ts";
import { type Input, Session, type SessionOptions } from "../../src/session/session.ts";
import type { ToolMiddleware } from "../../src/tools/tool.ts";
import { registryOf, tool, zh } from "../helpers/engine.ts";
import { call, type Reply, scriptedProvider } from "../helpers/scripted-provider.ts";

const SYSTEM = "Your working directory is: /work\n\t中文";
const INTERRUPTED = "Error: no result";
const never = new AbortController().signal;

/** A session whose events become lines, as in a journal. */
const journaled = (replies: readonly Reply[], more: Journaled = {}) => {
  const lines: string[] = [];
  const registry = registryOf(
    [
      tool("say", (text) => text),
      tool("fail", () => {
        throw new Error("no");
      }),
      tool("data", () => ({ output: "short", data: { type: "json", value: "x".repeat(100_000) } })),
      tool("stop", () => {
        more.abort?.abort();
        return "stopped";
      }),
      tool("queue", (text) => {
        session.queue({ content: text, source: "queue" });
        session.addNote("a note in the midst of a run");
        return "queued";
      }),
    ],
    more.middlewares ?? [],
  );
  const session: Session = new Session({
    id: "test",
    systemPrompt: SYSTEM,
    engine: new Engine({
      provider: scriptedProvider(...replies),
      info: { contextWindow: null, maxOutputTokens: null, prices: null },
      tools: registry,
      limits: { maxTurns: 8, toolTimeoutMs: 60_000, maxConcurrentTools: 0 },
      thinking: "off",
      permissionMode: () => "auto",
      sandbox: "off",
      logFile: null,
      session: { id: "test", workDir: "/work" },
      mask: (text) => text.replaceAll("key-value", "[masked KEY]"),
      strings: zh.engine,
      now: () => 0,
      ...more.engine,
    }),
    sinks: [(event) => isJournaled(event) && lines.push(journalLine(event))],
    clock: () => new Date("2026-01-02T03:04:05Z"),
    ...more.session,
  });
  return { session, lines };
};

type Journaled = {
  readonly engine?: Partial<EngineOptions>;
  readonly session?: Partial<SessionOptions>;
  readonly middlewares?: readonly ToolMiddleware[];
  /** What the tool `stop` aborts. */
  readonly abort?: AbortController;
};

const run = async (session: Session, input: Input, signal = never, onEvent?: (event: EngineEvent) => void) => {
  for await (const event of session.run(input, signal)) onEvent?.(event);
};

const entriesFrom = (lines: readonly string[]): readonly JournalEntry[] =>
  [journalLine({ type: "system", content: SYSTEM }), ...lines].map((line) => {
    const parsed = parseJournalLine(line);
    if (parsed.type !== "entry") throw new Error(`${parsed.type}: ${line}`);
    return parsed.entry;
  });

const historyFrom = (entries: readonly JournalEntry[]) => {
  const history = createHistory({ interrupted: ({ name }) => `${INTERRUPTED} of ${name}` });
  for (const entry of entries) history.add(entry);
  return history;
};

const person = (content: string): Input => ({ content, source: "person" });

const SCRIPTS: readonly (readonly [name: string, replies: readonly Reply[], more?: Journaled])[] = [
  ["an answer", [{ text: "Hi." }]],
  ["an answer of nothing", [{ text: "" }]],
  [
    "several calls, one of which fails",
    [
      { text: "I look.", calls: [call("say", { text: "a" }), call("fail"), call("say", { text: "b" })] },
      { text: "Done." },
    ],
  ],
  ["a result without text", [{ calls: [call("say")] }, { text: "Done." }]],
  ["a masked key", [{ calls: [call("say", { text: "key-value" })] }, { text: "Done." }]],
  ["data that the journal leaves out", [{ calls: [call("data")] }, { text: "Done." }]],
  [
    "the same call again and again, until the run ends",
    [{ calls: [call("say", { text: "same" }), call("say", { text: "same" })] }],
  ],
  [
    "calls that are wrong",
    [{ calls: [call("nobody"), call("say", "{broken"), call("say", { text: 7 })] }, { text: "Done." }],
  ],
  [
    "calls that were cut off",
    [
      { calls: [{ id: "cut", name: "say", arguments: '{"te' }, call("say", { text: "a" })], cutCalls: ["cut"] },
      { text: "Done." },
    ],
  ],
  [
    "more turns than allowed",
    [{ calls: [call("fail"), call("say", { text: "a" })] }],
    { engine: { limits: { maxTurns: 2, toolTimeoutMs: 60_000, maxConcurrentTools: 1 } } },
  ],
  ["a request that fails", [{ error: new ProviderError("no", { kind: "server" }), text: "half" }]],
  ["an answer that pauses", [{ text: "One moment.", finishReason: "pause" }, { text: "Done." }]],
  [
    "two-stage thinking",
    [
      { text: "First, then." },
      { text: "I do.", calls: [call("say", { text: "a" })] },
      { text: "And now." },
      { text: "Done." },
    ],
    { engine: { thinking: "two-stage" } },
  ],
  [
    "two-stage thinking with a thought of nothing",
    [{ text: "" }, { text: "Done." }],
    { engine: { thinking: "two-stage" } },
  ],
  ["what is queued and noted while a tool runs", [{ calls: [call("queue", { text: "and this" })] }, { text: "Done." }]],
  [
    "a hook's context in an observation, and with an input",
    [{ calls: [call("say", { text: "a" }), call("say")] }, { text: "Done." }],
    {
      middlewares: [
        async (invocation, next) => {
          const result = await next(invocation);
          invocation.context.emit({ type: "input.added", content: "[hook] more", source: "hook" });
          return { ...result, output: `${result.output}\n\n[hook] more` };
        },
      ],
      session: {
        lifecycle: {
          started: async () => ({ type: "admitted", inputs: [{ content: "[hook] start", source: "hook" }] }),
          prompted: async (input) => ({
            type: "admitted",
            inputs: [input, { content: "[hook] prompt", source: "hook" }],
          }),
        },
      },
    },
  ],
];

test.each(SCRIPTS.map(([name, replies, more]) => ({ name, replies, more })))(
  "$name: the journal gives the history that the session held, message for message",
  async ({ replies, more }) => {
    const { session, lines } = journaled(replies, more);
    const attachments = [{ kind: "image", mediaType: "image/png", path: "/projects/app/a.png" }] as const;
    await run(session, { ...person("do it"), attachments });
    session.addNote("a note between runs");
    await run(session, person("again \ud800 \x1b[2J"));
    const history = historyFrom(entriesFrom(lines));
    expect(history.messages()).toEqual(session.messages);
    expect(history.open()).toEqual([]);
  },
);

test("opaque blocks of thinking come back as they were", async () => {
  const blocks = [
    { type: "thinking", thinking: "hm", signature: "EqQB+/==" },
    { type: "redacted_thinking", data: "AAA" },
  ];
  const provider = scriptedProvider({ text: "" });
  const message = {
    role: "assistant",
    content: "Hi.",
    thinking: { kind: "native", text: "hm", blocks },
    toolCalls: [],
  } as const;
  const { session, lines } = journaled([], {
    engine: {
      provider: {
        ...provider,
        async *generateStream() {
          yield { type: "completed", response: { message, finishReason: "stop", usage: null } };
        },
      },
    },
  });
  await run(session, person("do it"));
  expect(historyFrom(entriesFrom(lines)).messages()).toEqual([...session.messages]);
  expect(session.messages.at(-1)).toEqual(message);
});

test.each(["off", "two-stage"] as const)(
  "what was said when a run is cancelled (thinking %s) is in the journal as in the session",
  async (thinking) => {
    for (const replies of [[{ hang: "I am going to" }], [{ text: "A thought." }, { hang: "I am going to" }]] as const) {
      const { session, lines } = journaled(replies, { engine: { thinking } });
      const stop = new AbortController();
      await run(session, person("do it"), stop.signal, (event) => {
        if (event.type === "text.delta" && event.text.startsWith("I am")) stop.abort();
      });
      expect(historyFrom(entriesFrom(lines)).messages()).toEqual(session.messages);
    }
  },
);

test("calls that a cancelled run no longer starts are in the journal as in the session", async () => {
  const abort = new AbortController();
  const { session, lines } = journaled(
    [{ calls: [call("say", { text: "a" }), call("stop"), call("say", { text: "b" })] }],
    { abort, engine: { limits: { maxTurns: 5, toolTimeoutMs: 60_000, maxConcurrentTools: 1 } } },
  );
  await run(session, person("do it"), abort.signal);
  expect(historyFrom(entriesFrom(lines)).messages()).toEqual(session.messages);
});

test("a command of the person's own beside a run is no observation; the note about it is a message", async () => {
  const { session, lines } = journaled([{ calls: [call("say", { text: "a" })] }, { text: "Done." }], {
    session: {
      shell: async (_command, _signal, emit) => {
        emit({ type: "tool.started", call: { id: "person_1", name: "bash", arguments: "{}" }, display: "bash" });
        emit({
          type: "tool.completed",
          toolCallId: "person_1",
          name: "bash",
          result: { output: "x", isError: false },
          durationMs: 1,
        });
        return "I ran ls.";
      },
    },
  });
  let commands = Promise.resolve();
  await run(session, person("do it"), never, (event) => {
    if (event.type === "tool.started") commands = session.runShell("ls", never, () => undefined);
  });
  await commands;
  await session.runShell("ls", never, () => undefined);
  expect(historyFrom(entriesFrom(lines)).messages()).toEqual(session.messages);
});

const reply = fc.oneof(
  fc.record({
    text: fc.constantFrom("", "I look. "),
    calls: fc
      .array(
        fc.constantFrom(["say", { text: "a" }], ["say", {}], ["fail", {}], ["nobody", {}], ["queue", { text: "q" }]),
        {
          minLength: 1,
          maxLength: 3,
        },
      )
      .map((calls) => calls.map(([name, args]) => call(name as string, args))),
  }),
  fc.record({ text: fc.constantFrom("Done.", "") }),
  fc.constant({ error: new ProviderError("no", { kind: "server" }) }),
);
const scripts = fc.record({
  replies: fc.array(reply, { minLength: 1, maxLength: 6 }),
  thinking: fc.constantFrom("off" as const, "two-stage" as const),
});

test("whatever the model does, the journal gives the session's history; cut anywhere, it gives a valid one", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async ({ replies, thinking }) => {
      const { session, lines } = journaled(replies, { engine: { thinking } });
      await run(session, person("do it"));
      await run(session, person("again"));
      const entries = entriesFrom(lines);
      expect(historyFrom(entries).messages()).toEqual(session.messages);
      for (let length = 1; length <= entries.length; length += 1)
        expectValid(historyFrom(entries.slice(0, length)).messages());
    }),
    { numRuns: 60 },
  );
});

/** Behind each answer with calls stands exactly one observation for each, and nowhere else is one. */
const expectValid = (messages: readonly Message[]): void => {
  let open: string[] = [];
  for (const message of messages) {
    if (isObservation(message)) expect(open.shift()).toBe(message.toolCallId);
    else {
      expect(open).toEqual([]);
      if (message.role === "assistant") open = message.toolCalls.map(({ id }) => id);
    }
  }
  expect(open).toEqual([]);
};

test("after a kill, a call without a result is answered by an error, also when the session went on", async () => {
  const { session, lines } = journaled([
    { calls: [call("say", { text: "a" }), call("say", { text: "b" })] },
    { text: "Done." },
  ]);
  await run(session, person("do it"));
  const entries = entriesFrom(lines);
  const killed = entries.slice(0, entries.findIndex(({ type }) => type === "tool.completed") + 1);
  const history = historyFrom(killed);
  const [first, second] = session.messages.flatMap((message) =>
    message.role === "assistant" ? message.toolCalls : [],
  );
  expect(history.open().filter(({ result }) => !result)).toEqual([{ call: second }]);
  const observations = [
    { role: "user", toolCallId: first?.id, content: "a", isError: false },
    { role: "user", toolCallId: second?.id, content: `${INTERRUPTED} of say`, isError: true },
  ];
  expect(history.messages().slice(-2)).toEqual(observations);

  const later = entriesFrom(lines).filter(({ type }) => type === "run.started" || type === "input.added");
  expect(
    historyFrom([...killed, ...later])
      .messages()
      .slice(-3),
  ).toEqual([...observations, { role: "user", content: "do it" }]);
});

test("what a child session says is not in its parent's history", async () => {
  const { session, lines } = journaled([{ text: "Hi." }]);
  await run(session, person("do it"));
  const entries = entriesFrom(lines);
  const child = entries.flatMap((entry) =>
    "seq" in entry ? [{ ...entry, sessionId: "child", parentToolCallId: "c1" }] : [],
  );
  expect(historyFrom([...entries, ...child]).messages()).toEqual(session.messages);
});
