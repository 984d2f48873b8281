import { expect, test } from "vitest";
import { type CheckpointOptions, createCheckpoints } from "../../src/snapshots/checkpoint.ts";
import type { LeftOut, Snapshot } from "../../src/snapshots/snapshots.ts";
import { en } from "../../src/text/en.ts";
import type { Invocation, ToolPermission } from "../../src/tools/tool.ts";

const NOTHING: LeftOut = { bigFiles: [], unreadable: [], beyondLimit: 0 };

/** Checkpoints of a store that the test plays. `done` is what happened, in order. */
const begin = (more: Partial<CheckpointOptions> = {}) => {
  const done: string[] = [];
  const waiting: { resolve: (snapshot: Snapshot) => void; reject: (error: Error) => void }[] = [];
  let going: number | undefined = 1;
  let open: number | null | undefined;
  let taken = 0;
  const checkpoints = createCheckpoints({
    take: () => {
      done.push("take");
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    going: () => going,
    openStep: () => open,
    keep: ({ id, startedBy }, at) => {
      done.push(`${at} ${id}${startedBy === undefined ? "" : ` of ${startedBy}`}`);
      open = at === "before" ? (startedBy ?? null) : undefined;
    },
    tell: (text) => done.push(text),
    tellLeftOut: (text) => done.push(text),
    strings: en.rewind,
    ...more,
  });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    checkpoints,
    done,
    settled,
    go: (step: number | undefined) => {
      going = step;
      checkpoints.stepMayHaveEnded();
    },
    call: (name: string, permission: ToolPermission = "high", signal = new AbortController().signal): void => {
      const invocation = { tool: { permission }, context: { signal } } as unknown as Invocation;
      const next = async () => {
        done.push(name);
        return { toolCallId: "c", name, output: "", isError: false };
      };
      void checkpoints.middleware(invocation, next);
    },
    /** The oldest snapshot that waits is there. */
    answer: async (leftOut: LeftOut = NOTHING): Promise<void> => {
      taken += 1;
      waiting.shift()?.resolve({ id: `s${taken}`, files: 1, leftOut });
      await settled();
    },
    fail: async (): Promise<void> => {
      waiting.shift()?.reject(new Error("disk full"));
      await settled();
    },
  };
};

test("the first calls that may change something wait for one snapshot, later ones and looking do not", async () => {
  const run = begin();
  run.call("read", "low");
  run.call("write", "medium");
  run.call("bash");
  await run.settled();
  expect(run.done).toEqual(["read", "take"]);
  await run.answer();
  run.call("again");
  await run.settled();
  expect(run.done).toEqual(["read", "take", "before s1 of 1", "write", "bash", "again"]);
});

test("the state after a run is taken in the background; the next run's first write waits for it", async () => {
  const run = begin();
  run.call("write");
  await run.settled();
  await run.answer();
  run.go(undefined);
  run.go(2);
  run.call("next");
  await run.settled();
  expect(run.done.slice(3)).toEqual(["take"]);
  await run.answer();
  expect(run.done.slice(3)).toEqual(["take", "after s2", "take"]);
  await run.answer();
  expect(run.done.slice(6)).toEqual(["before s3 of 2", "next"]);
});

test("a run that changes nothing has no snapshot, and ends none", async () => {
  const run = begin();
  run.call("read", "low");
  run.go(undefined);
  run.go(2);
  run.go(undefined);
  await run.checkpoints.settled();
  expect(run.done).toEqual(["read"]);
});

test("a run whose program was killed has the state after it as soon as somebody needs it", async () => {
  const run = begin({ openStep: () => 7 });
  run.go(undefined);
  const settled = run.checkpoints.settled();
  await run.settled();
  await run.answer();
  await settled;
  expect(run.done).toEqual(["take", "after s1"]);
});

test("a snapshot that fails stops no work, is told of once, and is tried again in the next run", async () => {
  const run = begin();
  run.call("write");
  await run.settled();
  await run.fail();
  run.go(undefined);
  run.go(2);
  run.call("next");
  await run.settled();
  await run.fail();
  expect(run.done).toEqual(["take", en.rewind.snapshotFailed("disk full"), "write", "take", "next"]);
});

test("a snapshot that is slow stops no work, and what comes too late is no state before it", async () => {
  const run = begin({ slowMs: 1 });
  run.call("write");
  await expect.poll(() => run.done).toContain("write");
  await run.answer();
  expect(run.done).toEqual(["take", en.rewind.snapshotSlow(0.001), "write"]);
});

test("a state after a run that comes late is kept as long as nothing else has begun", async () => {
  const run = begin({ slowMs: 1, openStep: () => 7 });
  run.go(undefined);
  await run.checkpoints.settled();
  await run.answer();
  expect(run.done).toEqual(["take", "after s1"]);

  await run.checkpoints.settled();
  run.go(8);
  await run.answer();
  expect(run.done).toEqual(["take", "after s1", "take"]);
});

test("who stops the work does not wait for a snapshot", async () => {
  const run = begin();
  const stop = new AbortController();
  run.call("write", "high", stop.signal);
  await run.settled();
  stop.abort();
  await run.settled();
  expect(run.done).toEqual(["take", "write"]);
});

test("what is left out is said once, by kind and with a few names", async () => {
  const run = begin();
  run.call("write");
  await run.settled();
  const leftOut = { bigFiles: ["a.bin", "b.bin", "c.bin", "d.bin"], unreadable: ["x"], beyondLimit: 3 };
  await run.answer(leftOut);
  run.go(undefined);
  await run.settled();
  await run.answer(leftOut);
  expect(run.done.filter((text) => text.includes("does not bring back"))).toEqual([
    "/rewind does not bring back 4 files that are too big (a.bin, b.bin, c.bin, …); 1 file that cannot be read (x); 3 files beyond the limit",
  ]);
});
