import { describe, expect, test } from "vitest";
import type { EngineEvent } from "../../../src/schema/event.ts";
import type { Chat } from "../../../src/session/chat.ts";
import type { Input } from "../../../src/session/session.ts";
import type { Block } from "../../../src/ui/transcript/transcript.ts";
import { createRuns } from "../../../src/ui/view/runs.ts";
import type { Scribe } from "../../../src/ui/view/scribe.ts";
import { createStore, emptyState } from "../../../src/ui/view/view-state.ts";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A session whose runs end when the test says so, or (but for slow ones) when they are stopped. */
const open = ({ isSlow = false } = {}) => {
  const store = createStore(emptyState(0));
  const happened: string[] = [];
  const restored: string[] = [];
  const queue: Input[] = [];
  let finish = (_?: Error): void => undefined;
  const stopped = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const finished = (): Promise<void> =>
    new Promise((resolve, reject) => {
      finish = (error) => (error ? reject(error) : resolve());
    });
  const session = {
    run: async function* (input: Input, signal: AbortSignal) {
      happened.push(`run ${input.content}`);
      await Promise.race([finished(), ...(isSlow ? [] : [stopped(signal)])]);
      happened.push(signal.aborted ? "stopped" : "ended");
      yield { type: "run.completed", text: `answer to ${input.content}` } as EngineEvent;
    },
    queue: (input: Input) => void queue.push(input),
    queued: () => queue,
    takeQueued: () => {
      const taken = queue.splice(0);
      return taken.length === 0
        ? undefined
        : { content: taken.map(({ content }) => content).join("\n"), source: "queue" };
    },
    takeBack: () => queue.pop(),
  };
  const chat = {
    session: () => session,
    runShell: async (command: string, signal: AbortSignal) => {
      happened.push(`shell ${command}`);
      await stopped(signal);
      happened.push("killed");
    },
    writeLog: (text: string) => void happened.push(`log ${text.split("\n", 1)[0]}`),
  } as unknown as Chat;
  const blocks: Block[] = [];
  const scribe: Scribe = {
    take: () => undefined,
    add: (block) => void blocks.push(block),
    say: () => undefined,
    restart: () => undefined,
    settle: () => undefined,
    flush: () => undefined,
  };
  const ends: string[] = [];
  const runs = createRuns({
    chat: () => chat,
    store,
    scribe,
    restore: (text) => void restored.push(text),
    onEnd: ({ text }) => void ends.push(text),
  });
  return { runs, ends, store, happened, restored, blocks, finish: (error?: Error) => finish(error) };
};

describe("runs", () => {
  test("a message starts one, and is printed", async () => {
    const { runs, happened, blocks, finish } = open();
    runs.submit("go");
    expect(runs.isBusy).toBe(true);
    expect(blocks).toEqual([{ type: "person", text: "go" }]);
    await turns();
    finish();
    await runs.settled();
    expect(happened).toEqual(["run go", "ended"]);
    expect(runs.isBusy).toBe(false);
  });

  test("what comes meanwhile waits, can be taken back, and is the next run's", async () => {
    const { runs, store, happened, finish, blocks } = open();
    runs.submit("one");
    await turns();
    runs.submit("two");
    runs.submit("three");
    expect(store.get().queued).toEqual(["two", "three"]);
    expect(runs.takeBack()).toBe("three");
    expect(store.get().queued).toEqual(["two"]);
    expect(blocks).toHaveLength(1);
    finish();
    await turns();
    expect(happened).toEqual(["run one", "ended", "run two"]);
    expect(store.get().queued).toEqual([]);
    expect(runs.isBusy).toBe(true);
    finish();
    await runs.settled();
    expect(runs.isBusy).toBe(false);
  });

  test("a stop ends the run once, and gives what waits back to the person", async () => {
    const { runs, store, happened, restored } = open();
    expect(runs.interrupt()).toBe(false);
    runs.submit("one");
    await turns();
    runs.submit("two");
    runs.submit("three");
    expect(runs.interrupt()).toBe(true);
    expect(store.get()).toMatchObject({ isStopping: true, queued: [] });
    expect(runs.interrupt()).toBe(false);
    await runs.settled();
    expect(happened).toEqual(["run one", "stopped"]);
    expect(restored).toEqual(["two\nthree"]);
    expect(store.get().isStopping).toBe(false);
  });

  test("a person's command runs beside, and is stopped with the rest", async () => {
    const { runs, store, happened, blocks } = open();
    runs.shell("sleep 9");
    await turns();
    expect(blocks).toEqual([{ type: "person", text: "!sleep 9" }]);
    expect(runs.isBusy).toBe(true);
    expect(runs.interrupt()).toBe(true);
    await turns();
    expect(happened).toEqual(["shell sleep 9", "killed"]);
    expect(runs.isBusy).toBe(false);
    expect(store.get().isStopping).toBe(false);
  });

  test("what was told to stop is stopping until all of it has ended", async () => {
    const { runs, store, happened, finish } = open({ isSlow: true });
    runs.submit("one");
    runs.shell("sleep 9");
    await turns();
    runs.interrupt();
    await turns();
    expect(happened.at(-1)).toBe("killed");
    expect(store.get().isStopping).toBe(true);
    finish();
    await runs.settled();
    expect(store.get().isStopping).toBe(false);
    expect(runs.isBusy).toBe(false);
  });

  test("a bug in a run goes to the log, and the chat goes on", async () => {
    const { runs, happened, finish } = open();
    runs.submit("one");
    await turns();
    finish(new TypeError("oops"));
    await runs.settled();
    expect(happened).toEqual(["run one", "log TypeError: oops"]);
    runs.submit("two");
    await turns();
    expect(happened.at(-1)).toBe("run two");
    finish();
    await runs.settled();
  });

  test("the end of the last of them is told, not one that a message follows nor one that was stopped", async () => {
    const { runs, ends, finish } = open();
    runs.submit("one");
    await turns();
    runs.submit("two");
    finish();
    await turns();
    expect(ends).toEqual([]);
    finish();
    await runs.settled();
    expect(ends).toEqual(["answer to two"]);
    runs.submit("three");
    await turns();
    runs.interrupt();
    await runs.settled();
    expect(ends).toEqual(["answer to two"]);
  });

  test("what is held waits behind the queue, can be taken back, and comes out in its order", async () => {
    const { runs, store, ends, finish, restored } = open();
    runs.submit("one");
    await turns();
    runs.submit("two");
    for (const text of ["/clear", "three", "four"]) runs.hold(text);
    expect(store.get().queued).toEqual(["two", "/clear", "three", "four"]);
    expect(runs.takeBack()).toBe("four");
    expect(runs.takeHeld()).toEqual(["/clear", "three"]);
    expect([store.get().queued, runs.takeHeld()]).toEqual([["two"], []]);
    runs.hold("five");
    finish();
    await turns();
    finish();
    await runs.settled();
    // Something follows: nothing is asked about the answer.
    expect(ends).toEqual([]);
    runs.submit("six");
    await turns();
    runs.interrupt();
    expect([restored, store.get().queued]).toEqual([["five"], []]);
    await runs.settled();
  });

  test("a message may stand otherwise in the transcript", async () => {
    const { runs, blocks, happened, finish } = open();
    runs.submit("the whole plan", "accepted");
    await turns();
    expect([blocks, happened]).toEqual([[{ type: "person", text: "accepted" }], ["run the whole plan"]]);
    finish();
    await runs.settled();
  });
});
