import fc from "fast-check";
import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { isJournaled, type JournalEntry, journalLine, type Restores } from "../../src/session/journal.ts";
import { readJournal } from "../../src/session/journal-read.ts";
import { type Past, readPast } from "../../src/session/resume.ts";
import { isRewindReminder } from "../../src/session/rewind-reminder.ts";
import { Session } from "../../src/session/session.ts";
import { registryOf, tool, zh } from "../helpers/engine.ts";
import { call, scriptedProvider } from "../helpers/scripted-provider.ts";

const ID = "20260102-030405-abcd";
const SIGNAL = new AbortController().signal;
const TIME = "2026-01-02T03:04:05.000Z";

/** A session whose model calls a tool that changes files, then answers; and its journal. */
const begin = (past?: Past, written: readonly string[] = []) => {
  const lines = [...written];
  let snapshots = 0;
  const keep = (at: "before" | "after", startedBy?: number): void => {
    snapshots += 1;
    const id = `${lines.length}-${snapshots}`;
    session.keep({ type: "snapshot", time: TIME, at, id, ...(startedBy !== undefined && { startedBy }) });
  };
  const change = (): string => {
    keep("before", session.turns.going());
    return "changed";
  };
  const script = Array.from({ length: 80 }, (_, index) =>
    index % 2 === 0 ? { calls: [call("change")] } : { text: `answer ${index}` },
  );
  const engine = new Engine({
    provider: scriptedProvider(...script),
    info: { contextWindow: null, maxOutputTokens: null, prices: null },
    tools: registryOf([tool("change", change)]),
    limits: { maxTurns: 50, toolTimeoutMs: 60_000, maxConcurrentTools: 0 },
    thinking: "off",
    permissionMode: () => "auto",
    sandbox: "off",
    logFile: null,
    session: { id: ID, workDir: "/w" },
    mask: (text) => text,
    strings: zh.engine,
    now: () => 0,
  });
  let commands = 0;
  const session: Session = new Session({
    id: ID,
    systemPrompt: "Be brief.",
    past,
    engine,
    sinks: [(event) => void (isJournaled(event) && lines.push(journalLine(event)))],
    note: (entry) => void lines.push(journalLine(entry)),
    clock: () => new Date(TIME),
    shell: async (command, _signal, emit) => {
      commands += 1;
      const id = `person_${commands}`;
      const shellCall = { id, name: "bash", arguments: JSON.stringify({ command }) };
      emit({ type: "tool.started", call: shellCall, display: command });
      change();
      const result = { output: "out", isError: false };
      emit({ type: "tool.completed", toolCallId: id, name: "bash", result, durationMs: 1 });
      return `ran ${command}`;
    },
  });
  return {
    session,
    lines,
    keep,
    say: async (content: string): Promise<readonly EngineEvent[]> => {
      const events: EngineEvent[] = [];
      for await (const event of session.run({ content, source: "person" }, SIGNAL)) events.push(event);
      return events;
    },
    shell: (command: string) => session.runShell(command, SIGNAL, () => undefined),
    rewind: (before: number, restores: Restores) => {
      if (restores !== "conversation") keep("before");
      session.rewind(before, restores);
      if (restores !== "conversation") keep("after");
    },
  };
};

const HEAD: readonly JournalEntry[] = [
  { type: "session", version: 1, id: ID, workDir: "/w", createdAt: TIME, harness9: "1" },
  { type: "system", content: "Be brief." },
];

const pastOf = (lines: readonly string[]): Promise<Past> =>
  readPast(readJournal([Buffer.from([...HEAD.map((entry) => journalLine(entry as never)), ...lines].join(""))]), {
    interrupted: "interrupted",
    emptyOutput: "nothing",
  });

const said = (session: Session): readonly string[] =>
  session.messages.flatMap((message) =>
    message.role === "user" && !("toolCallId" in message) && !isRewindReminder(message.content)
      ? [message.content]
      : [],
  );

const texts = (session: Session): readonly string[] => session.turns.list().map(({ type, text }) => `${type} ${text}`);

test("a turn is what the person sent with the run that answers it; a command between runs is one too", async () => {
  const { session, say, shell, lines } = begin();
  await say("one");
  await shell("rm x");
  await say("two");
  const [first, command, second] = session.turns.list();
  expect(texts(session)).toEqual(["run one", "shell rm x", "run two"]);
  expect([first?.messagesBefore, command?.messagesBefore, second?.messagesBefore]).toEqual([0, 4, 5]);
  expect(session.turns.steps().map(({ turn, at }) => [turn, at])).toEqual(
    [first, command, second].map((turn) => [turn?.seq, turn?.seq]),
  );
  expect((await pastOf(lines)).turns.turns).toEqual(session.turns.list());
});

test.each<readonly [Restores, readonly string[], readonly string[]]>([
  ["both", ["one"], ["run one"]],
  ["conversation", ["one"], ["run one"]],
  ["files", ["one", "two", "three"], ["run one", "run two", "run three"]],
])("going back with %s leaves what it should, and redo brings all back", async (restores, left, turns) => {
  const { session, say, rewind } = begin();
  for (const text of ["one", "two", "three"]) await say(text);
  const whole = [...session.messages];
  rewind(session.turns.list()[1]?.seq ?? 0, restores);
  expect([said(session), texts(session)]).toEqual([left, turns]);
  expect(session.turns.undoable()?.rewind).toMatchObject({ restores, text: "two" });
  session.redo();
  expect(session.messages).toEqual(whole);
  expect(session.turns.undoable()).toBeUndefined();
});

test("ways back stack, redo takes them back one by one, and the next input ends that", async () => {
  const { session, say, rewind } = begin();
  for (const text of ["one", "two", "three"]) await say(text);
  const [first, , third] = session.turns.list();
  rewind(third?.seq ?? 0, "both");
  rewind(first?.seq ?? 0, "conversation");
  expect(said(session)).toEqual([]);
  session.redo();
  expect(said(session)).toEqual(["one", "two"]);
  await say("other");
  expect(said(session)).toEqual(["one", "two", "other"]);
  expect(() => session.redo()).toThrow("nothing to redo");
  expect(() => session.rewind(third?.seq ?? 0, "both")).toThrow("no going back");
});

test("what a command of the person's own has said ends redo too: what was cut does not fit behind it", async () => {
  const { session, say, rewind } = begin();
  await say("one");
  rewind(session.turns.list()[0]?.seq ?? 0, "conversation");
  session.addNote("a note");
  expect(said(session)).toEqual(["a note"]);
  expect(() => session.redo()).toThrow("nothing to redo");
});

test("only what the model cannot see is told to it, once, with the next message", async () => {
  const { session, say, shell, rewind } = begin();
  const reminders = () => session.messages.filter(({ content }) => isRewindReminder(content)).length;
  for (const text of ["one", "two"]) await say(text);
  const [, second] = session.turns.list();
  rewind(second?.seq ?? 0, "both");
  await say("three");
  expect(reminders()).toBe(0);
  rewind(session.turns.list()[1]?.seq ?? 0, "files");
  session.redo();
  await say("four");
  expect(reminders()).toBe(0);
  rewind(session.turns.list()[1]?.seq ?? 0, "files");
  await shell("ls");
  expect(reminders()).toBe(0);
  const events = await say("five");
  expect(reminders()).toBe(1);
  expect(events.find((event) => event.type === "input.added" && event.source === "reminder")).toBeDefined();
  rewind(session.turns.list().at(-1)?.seq ?? 0, "conversation");
  await say("six");
  await say("seven");
  expect(reminders()).toBe(1);
});

test("a step without an end ends where the next one begins", async () => {
  const { session, say, lines } = begin();
  await say("one");
  await say("two");
  const [first, second] = session.turns.steps();
  expect([first?.after, second?.after]).toEqual([second?.before, null]);
  expect((await pastOf(lines)).turns.steps).toEqual(session.turns.steps());
});

test("of a command that follows a killed run the snapshot tells that it is a turn of its own", async () => {
  const { lines, say } = begin();
  await say("one");
  const killed = lines.slice(0, -2);
  const resumed = begin(await pastOf(killed), killed);
  await resumed.shell("rm x");
  expect((await pastOf(resumed.lines)).turns.turns).toEqual(resumed.session.turns.list());
  expect(texts(resumed.session)).toEqual(["run one", "shell rm x"]);
});

type Command =
  | { readonly type: "say" }
  | { readonly type: "shell" }
  | { readonly type: "redo" }
  | { readonly type: "rewind"; readonly turn: number; readonly restores: Restores }
  /** So many lines of the journal are lost. */
  | { readonly type: "kill"; readonly lost: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Command>({ type: "say" }, { type: "shell" }) },
  { weight: 2, arbitrary: fc.constant<Command>({ type: "redo" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("rewind" as const),
      turn: fc.nat({ max: 5 }),
      restores: fc.constantFrom<Restores>("both", "conversation", "files"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("kill" as const), lost: fc.nat({ max: 12 }) }) },
);

test("whatever a person does, and wherever the program is killed, the journal tells what the session has", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 12 }), async (commands) => {
      let one = begin();
      for (const [index, next] of commands.entries()) {
        const { session } = one;
        switch (next.type) {
          case "say":
            await one.say(`message ${index}`);
            break;
          case "shell":
            await one.shell(`command ${index}`);
            break;
          case "redo":
            if (session.turns.undoable()) session.redo();
            break;
          case "kill": {
            const left = one.lines.slice(0, Math.max(0, one.lines.length - next.lost));
            one = begin(await pastOf(left), left);
            break;
          }
          case "rewind": {
            const turn = session.turns.list()[next.turn];
            if (turn) one.rewind(turn.seq, next.restores);
            break;
          }
          default:
            next satisfies never;
        }
        const past = await pastOf(one.lines);
        expect(past.messages).toEqual(one.session.messages);
        expect(past.turns.turns).toEqual(one.session.turns.list());
        expect(past.turns.steps).toEqual(one.session.turns.steps());
        expect(past.turns.undoable.at(-1)?.before).toEqual(one.session.turns.undoable()?.rewind.before);
        const calls = past.messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
        expect(past.messages.filter((message) => "toolCallId" in message)).toHaveLength(calls.length);
      }
    }),
    { numRuns: 60 },
  );
});
