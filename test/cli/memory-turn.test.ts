import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMemoryTurn } from "../../src/cli/memory-turn.ts";
import { put } from "../helpers/program.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const NEVER = new AbortController().signal;

test("one changes the memory at a time, whoever comes meanwhile waits", async () => {
  const home = join(tempDir(), "home");
  const steps: string[] = [];
  const change = async (name: string): Promise<void> => {
    const end = await createMemoryTurn({ home })(NEVER);
    steps.push(`${name} begins`);
    await new Promise(setImmediate);
    steps.push(`${name} ends`);
    end();
  };
  await Promise.all(["a", "b", "c"].map(change));
  for (let at = 0; at < steps.length; at += 2)
    expect(steps[at]?.replace("begins", "")).toBe(steps[at + 1]?.replace("ends", ""));
  expect([steps.length, existsSync(join(home, "memory.lock"))]).toEqual([6, false]);
});

test("the lock of a process that has ended holds nobody up", async () => {
  const home = tempDir();
  put(home, "memory.lock", JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "1", host: hostname() }));
  (await createMemoryTurn({ home })(NEVER))();
  expect(existsSync(join(home, "memory.lock"))).toBe(false);
});

test("where no lock can be written, or somebody never lets go, the memory is changed all the same", async () => {
  const home = tempDir();
  put(home, "file", "");
  expect(await createMemoryTurn({ home: join(home, "file", "home") })(NEVER)).toBeTypeOf("function");
  const elsewhere = JSON.stringify({ pid: 1, startedAt: null, host: "another.example" });
  put(home, "memory.lock", elsewhere);
  (await createMemoryTurn({ home })(NEVER))();
  expect(existsSync(join(home, "memory.lock"))).toBe(true);
});

test("a call that is cancelled waits no longer", async () => {
  const home = tempDir();
  const end = await createMemoryTurn({ home })(NEVER);
  await expect(createMemoryTurn({ home })(AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  end();
});
