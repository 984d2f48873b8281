import { expect, test } from "vitest";
import * as z from "zod";
import type { ToolCall } from "../../src/schema/tool.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { intercept } from "../../src/tools/intercept.ts";
import { Registry } from "../../src/tools/registry.ts";
import { retryRecoverable } from "../../src/tools/retry.ts";
import { RecoverableError, type Tool, type ToolContext, ToolError, type ToolMiddleware } from "../../src/tools/tool.ts";
import { registryOf, tool, zh } from "../helpers/engine.ts";
import { call } from "../helpers/scripted-provider.ts";

const contextOf = (one: ToolCall): ToolContext => ({
  call: one,
  signal: new AbortController().signal,
  emit: () => undefined,
  session: { id: "s", workDir: "/work", model: "m" },
});

const execute = (registry: Registry, one: ToolCall) => registry.execute(one, contextOf(one));

test("a new registry is empty, and tools keep the order of their registration", () => {
  const registry = registryOf([]);
  expect(registry.getAvailableTools()).toEqual([]);
  for (const name of ["b", "a", "c"]) registry.register(tool(name, () => ""));
  expect(registry.getAvailableTools().map(({ name }) => name)).toEqual(["b", "a", "c"]);
});

test("a second tool of a name is an error and the first stays; replace and unregister are explicit", async () => {
  const registry = registryOf([tool("x", () => "first")]);
  expect(() => registry.register(tool("x", () => "second"))).toThrow('tool "x" already registered');
  expect((await execute(registry, call("x"))).output).toBe("first");
  registry.replace(tool("x", () => "third"));
  expect((await execute(registry, call("x"))).output).toBe("third");
  expect([registry.unregister("x"), registry.unregister("x")]).toEqual([true, false]);
  expect(registry.getAvailableTools()).toEqual([]);
});

test.each(["", "has space", "dot.ted", "x".repeat(65), "名字"])("the name %j is refused", (name) => {
  expect(() => registryOf([tool(name, () => "")])).toThrow(/tool name/);
});

test("a tool without execute is refused", () => {
  const { execute: _, ...rest } = tool("x", () => "");
  expect(() => registryOf([rest as Tool])).toThrow('tool "x" has no execute function');
});

const strict = defineTool(
  {
    name: "strict",
    description: "nested objects, arrays, enums, bounds and patterns",
    schema: z.object({
      mode: z.enum(["fast", "slow"]),
      count: z.int().min(1).max(9),
      id: z
        .string()
        .regex(/^[a-z]+$/)
        .optional(),
      items: z.array(z.object({ path: z.string(), tags: z.array(z.string()).max(2) })).optional(),
    }),
    kind: "other",
    permission: "low",
    execute: async (args) => JSON.stringify(args),
  },
  zh.registry,
) as Tool;

test("the JSON Schema comes from the zod schema", () => {
  expect(strict.definition.inputSchema).toEqual({
    type: "object",
    properties: {
      mode: { type: "string", enum: ["fast", "slow"] },
      count: { type: "integer", minimum: 1, maximum: 9 },
      id: { type: "string", pattern: "^[a-z]+$" },
      items: {
        type: "array",
        items: {
          type: "object",
          properties: { path: { type: "string" }, tags: { maxItems: 2, type: "array", items: { type: "string" } } },
          required: ["path", "tags"],
        },
      },
    },
    required: ["mode", "count"],
  });
});

test.each([
  ["null", "arguments"],
  ["[]", "arguments"],
  ['"text"', "arguments"],
  ["{}", "mode"],
  ['{"mode":"fast","count":"3"}', "count"],
  ['{"mode":"fast","count":10}', "count"],
  ['{"mode":"warp","count":1}', "mode"],
  ['{"mode":"fast","count":1,"id":"A1"}', "id"],
  ['{"mode":"fast","count":1,"items":[{"path":"a","tags":[]},{"path":2,"tags":[]}]}', "items.1.path"],
])("arguments %s miss the schema: the error names %s and what came", async (args, field) => {
  const result = await execute(registryOf([strict]), call("strict", args));
  expect(result).toMatchObject({ isError: true, name: "strict" });
  expect(result.output).toMatch(/^参数解析失败: /);
  expect(result.output).toContain(`${field}: `);
});

test("an error of the schema quotes the received value", async () => {
  const { output } = await execute(registryOf([strict]), call("strict", '{"mode":"warp","count":1}'));
  expect(output).toContain('"warp"');
});

test("fields that the schema does not know do not reach the tool", async () => {
  const { output } = await execute(
    registryOf([strict]),
    call("strict", '{"mode":"fast","count":1,"__proto__":{"x":1},"extra":true}'),
  );
  expect(JSON.parse(output)).toEqual({ mode: "fast", count: 1 });
});

test("broken JSON is quoted with the place of the mistake and never run", async () => {
  const { output, isError } = await execute(registryOf([strict]), call("strict", '{"mode":"fast","count":1,}'));
  expect(isError).toBe(true);
  expect(output).toContain('{"mode":"fast","count":1,}');
  expect(output).toMatch(/position 2[45]/);
});

test.each([
  [
    "a throw",
    () => {
      throw new Error("disk full");
    },
    "Error executing x: disk full",
  ],
  ["a rejection", () => Promise.reject(new Error("disk full")), "Error executing x: disk full"],
  [
    "a thrown text",
    () => {
      throw "odd";
    },
    "Error executing x: odd",
  ],
  [
    "a refusal of its own",
    () => {
      throw new ToolError("not that file");
    },
    "not that file",
  ],
  ["an error result of its own", () => ({ output: "cannot", isError: true }), "cannot"],
] as const)("%s becomes an error result with the call's id", async (_name, body, output) => {
  const one = call("x");
  expect(await execute(registryOf([tool("x", body)]), one)).toEqual({
    toolCallId: one.id,
    name: "x",
    output,
    isError: true,
  });
});

test("interceptors: before in order, after in reverse, and the first refusal stops the rest", async () => {
  const order: string[] = [];
  const noting = (name: string, refusal?: string) =>
    intercept(
      {
        before: () => {
          order.push(`before ${name}`);
          return refusal;
        },
        after: (_invocation, result) => {
          order.push(`after ${name}`);
          return { ...result, output: `${result.output}${name}` };
        },
      },
      zh.permission,
    );
  const passes = registryOf([tool("x", () => "")], [noting("a"), noting("b")]);
  expect((await execute(passes, call("x"))).output).toBe("ba");
  expect(order.splice(0)).toEqual(["before a", "before b", "after b", "after a"]);

  const refuses = registryOf([tool("x", () => "ran")], [noting("a"), noting("b", "no x on Sundays"), noting("c")]);
  expect(await execute(refuses, call("x"))).toMatchObject({
    output: "denied by policy: no x on Sundaysa",
    isError: true,
  });
  expect(order).toEqual(["before a", "before b", "after a"]);
});

test("only recoverable failures of tools that allow it are tried again, after 1 s, 2 s, 4 s", async () => {
  const waits: number[] = [];
  const retry = retryRecoverable({ wait: async (delayMs) => void waits.push(delayMs) });
  const failing = (Failure: new (message: string) => Error, retries: number) => {
    let runs = 0;
    const one = tool(
      "x",
      () => {
        runs += 1;
        throw new Failure("503");
      },
      { retries },
    );
    return { registry: registryOf([one], [retry]), runs: () => runs };
  };
  const flaky = failing(RecoverableError, 3);
  expect((await execute(flaky.registry, call("x"))).output).toBe("Error executing x: 503");
  expect([flaky.runs(), waits.splice(0)]).toEqual([4, [1000, 2000, 4000]]);

  const broken = failing(Error, 3);
  await execute(broken.registry, call("x"));
  const unsafe = failing(RecoverableError, 0);
  await execute(unsafe.registry, call("x"));
  expect([broken.runs(), unsafe.runs(), waits]).toEqual([1, 1, []]);
});

test("the display template is filled from the arguments, broken ones included", () => {
  const registry = registryOf([tool("show", () => "")]);
  expect(registry.display(call("show", { text: "a $& b" }))).toBe("show a $& b");
  expect(registry.display(call("show", '{"text":'))).toBe("show ");
  expect(registry.display(call("unknown"))).toBe("unknown");
});

test("mayAsk asks the middlewares and runs nothing; a call that will fail anyway asks nobody", async () => {
  let ran = false;
  const pass: ToolMiddleware = (invocation, next) => next(invocation);
  const asking: ToolMiddleware = Object.assign(pass, { asks: () => true });
  const one = tool("x", () => {
    ran = true;
    return "";
  });
  const registry = new Registry({
    strings: zh.registry,
    middlewares: [asking],
  });
  registry.register(one);
  const asks = (name: string, args: string) => {
    const asked = call(name, args);
    return registry.mayAsk(asked, contextOf(asked));
  };
  expect([await asks("x", "{}"), await asks("x", "{"), await asks("x", "[]"), await asks("y", "{}"), ran]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
