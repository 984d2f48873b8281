import { expect, test } from "vitest";
import * as z from "zod";
import { zh } from "../../../src/text/zh.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { createSlots, limitProcesses } from "../../../src/tools/shell/process-slots.ts";
import type { Invocation, Tool, ToolKind } from "../../../src/tools/tool.ts";

const never = new AbortController().signal;

test("slots are given in order of asking, each once", async () => {
  const slots = createSlots(2);
  const order: string[] = [];
  const take = async (name: string) => {
    const release = await slots.acquire(never);
    order.push(name);
    return release;
  };
  const [first] = await Promise.all([take("a"), take("b")]);
  const rest = [take("c"), take("d")];
  await Promise.resolve();
  expect(order).toEqual(["a", "b"]);
  first?.();
  first?.(); // a second release gives nothing
  const third = await rest[0];
  expect(order).toEqual(["a", "b", "c"]);
  third?.();
  await rest[1];
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("who gives up waiting leaves the queue and takes no slot with it", async () => {
  const slots = createSlots(1);
  const release = await slots.acquire(never);
  const stop = new AbortController();
  const given = slots.acquire(stop.signal);
  const next = slots.acquire(never);
  stop.abort(new Error("stop"));
  await expect(given).rejects.toThrow("stop");
  await expect(slots.acquire(AbortSignal.abort(new Error("already")))).rejects.toThrow("already");
  release();
  (await next)();
  (await slots.acquire(never))();
});

const invocation = (kind: ToolKind, signal: AbortSignal = never): Invocation => ({
  call: { id: "1", name: "t", arguments: "{}" },
  tool: defineTool(
    { name: "t", description: "", schema: z.object({}), kind, permission: "low", execute: async () => "" },
    zh.registry,
  ) as Tool,
  args: {},
  context: {
    call: { id: "1", name: "t", arguments: "{}" },
    signal,
    emit: () => undefined,
    session: { id: "s", workDir: "/", model: "m" },
  },
});

test("only so many commands run at once, other tools are not held", async () => {
  const limit = limitProcesses(createSlots(3), zh.registry);
  let running = 0;
  let most = 0;
  const next = async (kind: ToolKind) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return { toolCallId: "1", name: "t", output: kind, isError: false };
  };
  const all = (kind: ToolKind) =>
    Promise.all(Array.from({ length: 10 }, () => limit(invocation(kind), () => next(kind))));
  expect((await all("execute")).map(({ output }) => output)).toEqual(Array(10).fill("execute"));
  expect(most).toBe(3);
  most = 0;
  await all("read");
  expect(most).toBe(10);
});

test("a command that throws gives its slot back", async () => {
  const limit = limitProcesses(createSlots(1), zh.registry);
  await expect(limit(invocation("execute"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const result = { toolCallId: "1", name: "t", output: "ok", isError: false };
  expect(await limit(invocation("execute"), async () => result)).toEqual(result);
});

test("a call that is cancelled while it waits is answered without running", async () => {
  const limit = limitProcesses(createSlots(1), zh.registry);
  const held = limit(invocation("execute"), () => new Promise(() => undefined));
  const stop = new AbortController();
  const waiting = limit(invocation("execute", stop.signal), () => Promise.reject(new Error("ran")));
  stop.abort();
  expect(await waiting).toEqual({ toolCallId: "1", name: "t", output: zh.registry.cancelled("t"), isError: true });
  void held;
});
