import { describe, expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineEvent, PermissionMode } from "../../src/schema/event.ts";
import type { Message } from "../../src/schema/message.ts";
import { isPlanReminder, knowsOfPlan, planReminder } from "../../src/session/plan-reminder.ts";
import { type Lifecycle, Session } from "../../src/session/session.ts";
import { ENGINE_OPTIONS, registryOf, tool } from "../helpers/engine.ts";
import { call, type Reply, scriptedProvider } from "../helpers/scripted-provider.ts";

const user = (content: string) => ({ role: "user", content }) as const;
const BEGINS = planReminder([], "plan") ?? "";
const ENDS = planReminder([user(BEGINS)], "ask") ?? "";

describe("what the model is told of plan mode", () => {
  test.each<[string, readonly Message[], PermissionMode, string | undefined]>([
    ["nothing outside of plan mode", [user("hi")], "ask", undefined],
    ["that it is on", [user("hi")], "plan", BEGINS],
    ["that it is on only once", [user("hi"), user(BEGINS), user("more")], "plan", undefined],
    ["that it is over", [user(BEGINS), user("more")], "auto-edit", ENDS],
    ["that it is over only once", [user(BEGINS), user(ENDS), user("more")], "yolo", undefined],
    ["that it is on again", [user(BEGINS), user(ENDS)], "plan", BEGINS],
    ["that it is on, whatever a tool says", [{ ...user(BEGINS), toolCallId: "1", isError: false }], "plan", BEGINS],
  ])("%s", (_name, history, mode, expected) => expect(planReminder(history, mode)).toBe(expected));

  test("says that only reading works, and what is wanted", () => {
    for (const word of ["Only reading works", "final answer is the plan", "verified"]) expect(BEGINS).toContain(word);
    expect([BEGINS, ENDS, "hi"].map(isPlanReminder)).toEqual([true, true, false]);
    expect(knowsOfPlan([user(`${BEGINS} `)])).toBe(false);
  });
});

const SIGNAL = new AbortController().signal;

/** A session whose mode the test changes. */
const open = (turns: readonly Reply[], onTool = (): void => undefined, lifecycle: Lifecycle = {}) => {
  const provider = scriptedProvider(...turns);
  let mode: PermissionMode = "plan";
  const permissionMode = (): PermissionMode => mode;
  const look = tool("look", () => {
    onTool();
    return "seen";
  });
  const engine = new Engine({
    provider,
    ...ENGINE_OPTIONS,
    tools: registryOf([look]),
    permissionMode,
  });
  const session = new Session({
    id: "test",
    systemPrompt: "You are here.",
    engine,
    sinks: [],
    clock: () => new Date(0),
    lifecycle,
    permissionMode,
  });
  const run = async (content: string, signal = SIGNAL): Promise<readonly EngineEvent[]> => {
    const events: EngineEvent[] = [];
    for await (const event of session.run({ content, source: "person" }, signal)) events.push(event);
    return events;
  };
  const set = (next: PermissionMode): void => {
    mode = next;
  };
  return { provider, session, run, set };
};

const inputs = (events: readonly EngineEvent[]): readonly (readonly [string, string])[] =>
  events.flatMap((event) => (event.type === "input.added" ? [[event.source, event.content] as const] : []));

describe("a session in plan mode", () => {
  test("reminds with the first input, not with the second, and says when it is over; the prompt stays", async () => {
    const { provider, session, run, set } = open([{ text: "Plan." }, { text: "Better." }, { text: "Done." }]);
    expect(session.isPlanning).toBe(false);
    expect(inputs(await run("one"))).toEqual([
      ["person", "one"],
      ["reminder", BEGINS],
    ]);
    expect(session.isPlanning).toBe(true);
    expect(inputs(await run("two"))).toEqual([["person", "two"]]);
    set("ask");
    expect(session.isPlanning).toBe(false);
    expect(inputs(await run("three"))).toEqual([
      ["person", "three"],
      ["reminder", ENDS],
    ]);
    expect(new Set(provider.requests.map(({ messages }) => messages[0]?.content))).toEqual(new Set(["You are here."]));
    expect(new Set(provider.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  });

  test("a change within a run is told with what was queued", async () => {
    const opened: ReturnType<typeof open> = open([{ calls: [call("look")] }, { text: "Done." }], () => {
      opened.set("auto");
      opened.session.queue({ content: "go on", source: "person" });
    });
    expect(inputs(await opened.run("one"))).toEqual([
      ["person", "one"],
      ["reminder", BEGINS],
      ["queue", "go on"],
      ["reminder", ENDS],
    ]);
    expect(opened.provider.requests[1]?.messages.slice(-2)).toEqual([user("go on"), user(ENDS)]);
  });

  test("without an input nothing is told, though the mode changes", async () => {
    const opened: ReturnType<typeof open> = open([{ calls: [call("look")] }, { text: "Done." }], () =>
      opened.set("ask"),
    );
    expect(inputs(await opened.run("one"))).toHaveLength(2);
    expect(opened.session.isPlanning).toBe(false);
  });

  test("an input that is refused brings no reminder, and the next one does", async () => {
    const { run } = open([{ text: "Plan." }], undefined, {
      prompted: async (input) =>
        input.content === "bad" ? { type: "blocked", reason: "no" } : { type: "admitted", inputs: [input] },
    });
    expect(inputs(await run("bad"))).toEqual([]);
    expect(inputs(await run("good"))).toEqual([
      ["person", "good"],
      ["reminder", BEGINS],
    ]);
  });
});

describe("a queued input that waits for those who have a say", () => {
  const opened = () => {
    const stop = new AbortController();
    const made: ReturnType<typeof open> = open(
      [{ calls: [call("look")] }, { text: "Done." }],
      () => made.session.queue({ content: "go on", source: "person" }),
      {
        prompted: async (input, { signal }) => {
          if (input.source !== "queue") return { type: "admitted", inputs: [input] };
          reached();
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          return { type: "blocked", reason: "cancelled" };
        },
      },
    );
    let reached = (): void => undefined;
    const waits = new Promise<void>((resolve) => {
      reached = resolve;
    });
    return { ...made, stop, waits };
  };

  test("is still listed, and whoever takes it has it alone", async () => {
    const { session, run, stop, waits } = opened();
    const running = run("one", stop.signal);
    await waits;
    expect(session.queued().map(({ content }) => content)).toEqual(["go on"]);
    stop.abort();
    expect(session.takeQueued()?.content).toBe("go on");
    await running;
    expect([session.queued(), session.takeQueued()]).toEqual([[], undefined]);
    expect(session.messages.filter(({ content }) => content === "go on")).toEqual([]);
  });

  test("goes on waiting where the run is cancelled and nobody takes it", async () => {
    const { session, run, stop, waits } = opened();
    const running = run("one", stop.signal);
    await waits;
    stop.abort();
    await running;
    expect(session.takeQueued()?.content).toBe("go on");
  });
});
