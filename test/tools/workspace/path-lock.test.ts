import { setImmediate as nextTick } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createPathLocks } from "../../../src/tools/workspace/path-lock.ts";

/** Says in order what was granted. */
const recorder = () => {
  const granted: string[] = [];
  return { granted, note: (name: string) => () => granted.push(name) };
};

it("readers share a path, and the entry goes with the last of them", async () => {
  const locks = createPathLocks();
  const [first, second] = await Promise.all([locks.read("/a"), locks.read("/a")]);
  expect(locks.size).toBe(1);
  first();
  first();
  expect(locks.size).toBe(1);
  second();
  expect(locks.size).toBe(0);
});

it("a writer excludes readers and writers of its path only", async () => {
  const locks = createPathLocks();
  const { granted, note } = recorder();
  const release = await locks.write("/a");
  const waiting = [locks.read("/a"), locks.write("/a")];
  for (const [index, one] of waiting.entries()) void one.then(note(`waiter ${index}`));
  (await locks.write("/b"))();
  await nextTick();
  expect([granted, locks.size]).toEqual([[], 1]);
  release();
  (await waiting[0])?.();
  (await waiting[1])?.();
  expect([granted, locks.size]).toEqual([["waiter 0", "waiter 1"], 0]);
});

it("a reader that comes after a waiting writer waits for it", async () => {
  const locks = createPathLocks();
  const { granted, note } = recorder();
  const reader = await locks.read("/a");
  const writer = locks.write("/a");
  const later = locks.read("/a");
  void writer.then(note("writer"));
  void later.then(note("later reader"));
  await nextTick();
  expect(granted).toEqual([]);
  reader();
  (await writer)();
  (await later)();
  expect(granted).toEqual(["writer", "later reader"]);
});

it("an aborted waiter leaves the queue, and those behind it go on", async () => {
  const locks = createPathLocks();
  const reader = await locks.read("/a");
  const cancel = new AbortController();
  const writer = locks.write("/a", cancel.signal);
  const later = locks.read("/a");
  cancel.abort(new Error("stop"));
  await expect(writer).rejects.toThrow("stop");
  (await later)();
  reader();
  expect(locks.size).toBe(0);
});

it("an aborted signal asks for nothing", async () => {
  const locks = createPathLocks();
  await expect(locks.write("/a", AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  expect(locks.size).toBe(0);
});

it("an abort after the lock was given takes nothing away", async () => {
  const locks = createPathLocks();
  const cancel = new AbortController();
  const release = await locks.write("/a", cancel.signal);
  cancel.abort();
  expect(locks.size).toBe(1);
  release();
  expect(locks.size).toBe(0);
});

it("no schedule lets a writer overlap, and none leaves an entry", async () => {
  const step = fc.record({
    use: fc.constantFrom<"read" | "write">("read", "write"),
    path: fc.constantFrom("/a", "/b"),
    ticks: fc.nat(3),
    abortAfter: fc.option(fc.nat(3), { nil: null }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const locks = createPathLocks();
      const held = new Map([
        ["/a", { read: 0, write: 0 }],
        ["/b", { read: 0, write: 0 }],
      ]);
      const run = async ({ use, path, ticks, abortAfter }: (typeof steps)[number]): Promise<void> => {
        const cancel = new AbortController();
        if (abortAfter !== null) void wait(abortAfter).then(() => cancel.abort(new Error("cancelled")));
        const release = await locks[use](path, cancel.signal);
        const count = held.get(path);
        if (!count) throw new Error(path);
        count[use] += 1;
        expect(count.write === 0 || (count.write === 1 && count.read === 0)).toBe(true);
        await wait(ticks);
        count[use] -= 1;
        release();
      };
      const results = await Promise.allSettled(steps.map(run));
      for (const result of results)
        if (result.status === "rejected") expect(result.reason).toEqual(new Error("cancelled"));
      expect(locks.size).toBe(0);
    }),
  );
});

const wait = async (ticks: number): Promise<void> => {
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
};
