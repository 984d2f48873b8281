import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { Session } from "../../src/session/session.ts";
import { ENGINE_OPTIONS, registryOf, tool } from "../helpers/engine.ts";
import { call, type ScriptedProvider, scriptedProvider } from "../helpers/scripted-provider.ts";

const SYSTEM = { role: "system", content: "Be brief." };

const newSession = (provider: ScriptedProvider, sinks: ((event: EngineEvent) => void)[] = []) => {
  const session: Session = new Session({
    id: "20260102-030405-abcd",
    systemPrompt: SYSTEM.content,
    engine: new Engine({
      provider,
      ...ENGINE_OPTIONS,
      tools: registryOf([tool("echo", (text) => (text === "queue" ? queueAnd("queued") : text))]),
      session: { id: "20260102-030405-abcd", workDir: "/work" },
    }),
    sinks,
    clock: () => new Date("2026-01-02T03:04:05Z"),
  });
  const queueAnd = (output: string): string => {
    session.queue({ content: "one", source: "queue" });
    session.queue({ content: "two", source: "queue" });
    return output;
  };
  return session;
};

const run = async (session: Session, content: string): Promise<EngineEvent[]> => {
  const events: EngineEvent[] = [];
  for await (const event of session.run({ content, source: "person" }, new AbortController().signal))
    events.push(event);
  return events;
};

test("events are numbered from 1 and go on counting in the next run; each has the session and the time", async () => {
  const session = newSession(scriptedProvider({ text: "Hi." }));
  const events = [...(await run(session, "hello")), ...(await run(session, "again"))];
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set(["20260102-030405-abcd"]));
  expect(new Set(events.map(({ time }) => time))).toEqual(new Set(["2026-01-02T03:04:05.000Z"]));
  expect(events.filter(({ type }) => type === "run.completed")).toHaveLength(2);
});

test("turns count from 1 in each run, and only events inside a turn have one", async () => {
  const session = newSession(scriptedProvider({ calls: [call("echo")] }, { text: "Hi." }));
  for (const content of ["hello", "again"]) {
    const events = await run(session, content);
    const outside = ["run.started", "input.added", "run.completed"];
    expect(events.filter(({ turn }) => turn === undefined).map(({ type }) => type)).toEqual(outside);
    expect(events.find(({ type }) => type === "turn.started")?.turn).toBe(1);
  }
});

test("every sink has seen an event before the reader gets it, in the same order", async () => {
  const seen: number[] = [];
  const other: number[] = [];
  const session = newSession(scriptedProvider({ text: "Hi." }), [
    ({ seq }) => seen.push(seq),
    ({ seq }) => other.push(seq),
  ]);
  const read: number[] = [];
  for await (const { seq } of session.run({ content: "hello", source: "person" }, new AbortController().signal)) {
    expect(seen).toContain(seq);
    read.push(seq);
  }
  expect(seen).toEqual(read);
  expect(other).toEqual(read);
});

test("the conversation goes on: the next run's request holds what was said", async () => {
  const provider = scriptedProvider({ text: "Hi." });
  const session = newSession(provider);
  await run(session, "hello");
  await run(session, "again");
  expect(provider.requests.at(-1)?.messages).toEqual([
    SYSTEM,
    { role: "user", content: "hello" },
    { role: "assistant", content: "Hi.", toolCalls: [] },
    { role: "user", content: "again" },
  ]);
});

test("what is queued while a tool runs joins after its observation, as one message", async () => {
  const echo = call("echo", { text: "queue" });
  const provider = scriptedProvider({ calls: [echo] }, { text: "Hi." });
  const events = await run(newSession(provider), "hello");
  expect(provider.requests.at(-1)?.messages.slice(-2)).toEqual([
    { role: "user", toolCallId: echo.id, content: "queued", isError: false },
    { role: "user", content: "one\n\ntwo" },
  ]);
  expect(events.filter(({ type }) => type === "input.added").at(-1)).toMatchObject({
    content: "one\n\ntwo",
    source: "queue",
  });
});
