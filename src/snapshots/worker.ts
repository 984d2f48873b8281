import { parentPort, Worker, workerData } from "node:worker_threads";
import { errorStack } from "../text/error-message.ts";
import { collect } from "./collect.ts";
import { createLooker, type LookThread } from "./look-ahead.ts";
import { createSnapshotCore, type SnapshotCore } from "./snapshot-core.ts";
import { SnapshotError } from "./snapshot-error.ts";
import { LIMITS } from "./take-snapshot.ts";
import type { Task, TaskResults, WorkerAnswer, WorkerPlaces, WorkerRequest } from "./worker-messages.ts";

/*
 * The thread in which the store works: one task after the other, in the order in which they were asked for.
 * A bundle of its own (scripts/build.mjs); `openSnapshots` starts it. It starts itself once more, to look at files.
 */

const LOOKING = "looking";

type Done = { readonly result: TaskResults[Task["type"]]; readonly afterwards?: () => void };

const answerTo = async ({ id, task }: WorkerRequest, core: SnapshotCore, places: WorkerPlaces): Promise<void> => {
  let afterwards: (() => void) | undefined;
  let answer: WorkerAnswer;
  try {
    const done = await carryOut(task, core, places);
    afterwards = done.afterwards;
    answer = { id, type: "done", result: done.result };
  } catch (error) {
    answer = failed(id, error);
  }
  parentPort?.postMessage(answer);
  try {
    afterwards?.();
  } catch (error) {
    // The cache is a convenience: without it the next process reads all files again.
    if (!(error instanceof SnapshotError)) throw error;
  }
};

const carryOut = async (task: Task, core: SnapshotCore, { folder }: WorkerPlaces): Promise<Done> => {
  switch (task.type) {
    case "take": {
      const { snapshot, save } = core.take(() => Atomics.load(task.cancelled, 0) !== 0);
      return { result: snapshot, afterwards: save };
    }
    case "changes":
      return { result: await core.changes(task.steps) };
    case "diff":
      return { result: await core.diff(task.steps) };
    case "plan":
      return { result: await core.plan(task.steps) };
    case "apply":
      return { result: await core.apply(task.plan) };
    case "collect":
      return { result: collect({ folder, keep: task.keep, maxBytes: task.maxBytes, now: Date.now() }) };
    default:
      throw task satisfies never;
  }
};

const failed = (id: number, error: unknown): WorkerAnswer =>
  error instanceof SnapshotError
    ? { id, type: "failed", failure: error.failure, detail: error.detail }
    : { id, type: "defect", message: errorStack(error) };

const start = (places: WorkerPlaces): void => {
  const core = createSnapshotCore({ ...places, limits: LIMITS, now: Date.now, startLooking });
  let last: Promise<void> = Promise.resolve();
  parentPort?.on("message", (request: WorkerRequest) => {
    last = last.then(() => answerTo(request, core, places));
  });
};

const startLooking = (): LookThread => {
  const thread = new Worker(new URL(import.meta.url), { workerData: LOOKING });
  thread.unref();
  // What it would have looked at is looked at here.
  thread.on("error", () => undefined);
  return { postMessage: (task, give) => thread.postMessage(task, [...(give ?? [])]) };
};

if (workerData === LOOKING) parentPort?.on("message", createLooker());
else start(workerData);
