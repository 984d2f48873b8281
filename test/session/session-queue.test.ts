import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { Session, type SessionOptions } from "../../src/session/session.ts";
import { ENGINE_OPTIONS, registryOf, tool } from "../helpers/engine.ts";
import { call, type ScriptedProvider, scriptedProvider } from "../helpers/scripted-provider.ts";

const SIGNAL = new AbortController().signal;
const SYSTEM = { role: "system", content: "You are here." };

const engineOf = (provider: ScriptedProvider, onTool: () => void = () => undefined): Engine =>
  new Engine({
    provider,
    ...ENGINE_OPTIONS,
    tools: registryOf([
      tool("look", () => {
        onTool();
        return "seen";
      }),
    ]),
  });

const sessionOf = (engine: Engine, more: Partial<SessionOptions> = {}): Session =>
  new Session({
    id: "test",
    systemPrompt: SYSTEM.content,
    engine,
    sinks: [],
    clock: () => new Date("2026-01-02T03:04:05Z"),
    ...more,
  });

const run = async (session: Session, content: string): Promise<readonly EngineEvent[]> => {
  const events: EngineEvent[] = [];
  for await (const event of session.run({ content, source: "person" }, SIGNAL)) events.push(event);
  return events;
};

const user = (content: string) => ({ role: "user", content });

test("the newest queued input can be taken back, and what is left becomes one input", () => {
  const session = sessionOf(engineOf(scriptedProvider({ text: "Hi." })));
  const attachment = { kind: "image", mediaType: "image/png", path: "/a.png" } as const;
  session.queue({ content: "one", source: "person", attachments: [attachment] });
  session.queue({ content: "two", source: "person" });
  session.queue({ content: "three", source: "person" });

  expect(session.takeBack()?.content).toBe("three");
  expect(session.queued().map(({ content }) => content)).toEqual(["one", "two"]);
  expect(session.takeQueued()).toEqual({ content: "one\n\ntwo", source: "queue", attachments: [attachment] });
  expect([session.queued(), session.takeQueued(), session.takeBack()]).toEqual([[], undefined, undefined]);
});

test("what is queued while the last answer comes waits for the next run", async () => {
  const provider = scriptedProvider({ text: "Hi." });
  const session = sessionOf(engineOf(provider));
  for await (const event of session.run({ content: "hello", source: "person" }, SIGNAL))
    if (event.type === "turn.started") session.queue({ content: "and then", source: "person" });
  expect(session.takeQueued()).toEqual({ content: "and then", source: "queue" });
  expect(session.messages.map(({ content }) => content)).toEqual(["You are here.", "hello", "Hi."]);
});

test("another engine serves the next run, and the conversation goes on", async () => {
  const second = scriptedProvider({ text: "From the second." });
  const session = sessionOf(engineOf(scriptedProvider({ text: "From the first." })));
  await run(session, "hello");
  session.use(engineOf(second));
  await run(session, "again");
  expect(second.requests[0]?.messages).toEqual([
    SYSTEM,
    user("hello"),
    { role: "assistant", content: "From the first.", toolCalls: [] },
    user("again"),
  ]);
});

test("a note between runs joins the history at once, and the sinks hear of it", () => {
  const heard: EngineEvent[] = [];
  const session = sessionOf(engineOf(scriptedProvider({ text: "Hi." })), { sinks: [(event) => heard.push(event)] });
  session.addNote("I ran ls");
  expect(session.messages).toEqual([SYSTEM, user("I ran ls")]);
  expect(heard).toEqual([
    {
      type: "input.added",
      content: "I ran ls",
      source: "person",
      sessionId: "test",
      seq: 1,
      time: "2026-01-02T03:04:05.000Z",
    },
  ]);
});

test("a note during a call stands after the observation, before what is queued", async () => {
  const look = call("look");
  const provider = scriptedProvider({ calls: [look] }, { text: "Hi." });
  const engine = engineOf(provider, () => {
    session.queue({ content: "go on", source: "person" });
    session.addNote("I ran ls");
  });
  const session: Session = sessionOf(engine);
  await run(session, "hello");
  expect(provider.requests[1]?.messages.slice(-3)).toEqual([
    { role: "user", toolCallId: look.id, content: "seen", isError: false },
    user("I ran ls"),
    user("go on"),
  ]);
});

test("a note that comes with the last answer joins after it", async () => {
  const heard: EngineEvent[] = [];
  const session = sessionOf(engineOf(scriptedProvider({ text: "Hi." })), { sinks: [(event) => heard.push(event)] });
  let read: EngineEvent | undefined;
  for await (const event of session.run({ content: "hello", source: "person" }, SIGNAL)) {
    if (event.type === "turn.started") session.addNote("I ran ls");
    read = event;
  }
  expect(read?.type).toBe("run.completed");
  expect(heard.slice(-2).map(({ type }) => type)).toEqual(["run.completed", "input.added"]);
  expect(session.messages.at(-1)).toEqual(user("I ran ls"));
});

test("a command of the person's own tells of itself and leaves a note", async () => {
  const heard: number[] = [];
  const session = sessionOf(engineOf(scriptedProvider({ text: "Hi." })), {
    sinks: [({ seq }) => heard.push(seq)],
    shell: async (command, _signal, emit) => {
      emit({ type: "tool.progress", toolCallId: "person_1", text: "half" });
      return `ran ${command}`;
    },
  });
  const seen: EngineEvent[] = [];
  await session.runShell("ls", SIGNAL, (event) => seen.push(event));
  expect(seen.map(({ type, seq }) => [type, seq])).toEqual([["tool.progress", 1]]);
  expect(heard).toEqual([1, 2]);
  expect(session.messages.at(-1)).toEqual(user("ran ls"));
});
