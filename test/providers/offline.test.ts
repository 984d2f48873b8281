import { describe, expect, test } from "vitest";
import { createOffline } from "../../src/providers/offline.ts";
import { parseOrder } from "../../src/providers/offline-order.ts";
import { ProviderError, type StreamChunk } from "../../src/providers/provider.ts";
import type { Message } from "../../src/schema/message.ts";
import { en } from "../../src/text/en.ts";
import { zh } from "../../src/text/zh.ts";

const read = (path: string) => ({ kind: "read", path });
const write = (path: string, text: string) => ({ kind: "write", path, text });
const replace = (from: string, to: string, path: string) => ({ kind: "replace", from, to, path });
const run = (command: string) => ({ kind: "run", command });

describe("the grammar", () => {
  test.each([
    ["read README.md", [read("README.md")]],
    ["  Read README.md  ", [read("README.md")]],
    ['read "my notes.md"', [read("my notes.md")]],
    ["read 'my notes.md'", [read("my notes.md")]],
    ["read `src/a.ts`", [read("src/a.ts")]],
    ["write hello.txt: hi", [write("hello.txt", "hi")]],
    ["write hello.txt:hi: there", [write("hello.txt", "hi: there")]],
    ['write hello.txt: " hi "', [write("hello.txt", " hi ")]],
    ["write hello.txt:", [write("hello.txt", "")]],
    ["write a.txt: one\ntwo", [write("a.txt", "one\ntwo")]],
    ['write "a b.txt": hi', [write("a b.txt", "hi")]],
    ["write a.txt: don't stop", [write("a.txt", "don't stop")]],
    ['replace "A" with "B" in f.txt', [replace("A", "B", "f.txt")]],
    ["replace 'A' with '' in \"a b\"", [replace("A", "", "a b")]],
    ['replace "say \\"x\\"" with "\\d" in f', [replace('say "x"', "\\d", "f")]],
    ['replace "in a" with "with b" in c', [replace("in a", "with b", "c")]],
    ["run ls -la", [run("ls -la")]],
    ["run echo 'a' && echo \"b\"", [run("echo 'a' && echo \"b\"")]],
    ["write hello.txt: hi then run cat hello.txt", [write("hello.txt", "hi"), run("cat hello.txt")]],
    ["read a then read b THEN run c", [read("a"), read("b"), run("c")]],
    ["write a.txt: now and then it rains", [write("a.txt", "now and then it rains")]],
    ["write a.txt: first then walk", [write("a.txt", "first then walk")]],
    ['write a.txt: "x then run y" then run cat a.txt', [write("a.txt", "x then run y"), run("cat a.txt")]],
    ['run echo "a then run b"', [run('echo "a then run b"')]],
    ["run echo 'a then run b' then run c", [run("echo 'a then run b'"), run("c")]],
    ["write a: don't then run echo 'x'", [write("a", "don't"), run("echo 'x'")]],
    ['write a: 5" then run ls', [write("a", '5"'), run("ls")]],
    ["run if true; then echo x; fi", [run("if true; then echo x; fi")]],
    ["run if true; then read x; fi", [run("if true; then read x; fi")]],
    ["读取 README.md", [read("README.md")]],
    ["读取README.md", [read("README.md")]],
    ["写入 hello.txt：你好", [write("hello.txt", "你好")]],
    ["写入 hello.txt: 你好 然后 运行 cat hello.txt", [write("hello.txt", "你好"), run("cat hello.txt")]],
    ["写入 a.txt: 你好，然后运行 cat a.txt", [write("a.txt", "你好"), run("cat a.txt")]],
    ["写入 a.txt: 先这样然后那样", [write("a.txt", "先这样然后那样")]],
    ['替换 "甲" with "乙" in f.txt', [replace("甲", "乙", "f.txt")]],
    ["替换 “甲” 为 “乙” 于 f.txt", [replace("甲", "乙", "f.txt")]],
    ["运行 ls then 读取 a", [run("ls"), read("a")]],
  ])("%j", (order, expected) => {
    const steps = parseOrder(order);
    expect(steps?.map(({ source: _, ...step }) => step) ?? null).toEqual(expected);
  });

  test.each([
    "",
    "hello",
    "read",
    "read me a story",
    "write a poem",
    "write tests for x: all",
    "run",
    "run   ",
    "replace A with B in c",
    'replace "A" in c',
    "please read a",
    "ready steady",
    "runner",
    "read a then",
    "read a then sing",
    "read a and run b",
    "then run x",
  ])("%j is outside it", (order) => {
    expect(parseOrder(order)).toBeNull();
  });
});

const user = (content: string): Message => ({ role: "user", content });
const observation = (toolCallId: string, content = "ok", isError = false): Message => ({
  role: "user",
  toolCallId,
  content,
  isError,
});
const called = (id: string): Message => ({
  role: "assistant",
  content: "",
  toolCalls: [{ id, name: "bash", arguments: "{}" }],
});
const said = (content: string): Message => ({ role: "assistant", content, toolCalls: [] });

const TOOLS = [{ name: "bash", description: "", inputSchema: {} }];
const signal = new AbortController().signal;

const ask = async (messages: readonly Message[], chat = false, strings = en) =>
  createOffline({ chat, strings: strings.offline }).generate({ messages, tools: TOOLS }, signal);

describe("the demonstration", () => {
  test("makes one call a turn and says at the end what was done", async () => {
    const messages: Message[] = [
      user('write a.txt: hi then replace "hi" with "ho" in a.txt then run cat a.txt then read a.txt'),
    ];
    const calls: unknown[] = [];
    for (;;) {
      const { message, finishReason } = await ask(messages);
      const [call] = message.toolCalls;
      if (!call) {
        expect([message.content, finishReason]).toEqual([
          "Done: wrote a.txt; edited a.txt; ran cat a.txt; read a.txt.",
          "stop",
        ]);
        break;
      }
      expect([message.toolCalls.length, finishReason]).toEqual([1, "tool_calls"]);
      calls.push([call.id, call.name, JSON.parse(call.arguments)]);
      messages.push(message, observation(call.id));
    }
    expect(calls).toEqual([
      ["offline-1", "write_file", { path: "a.txt", content: "hi" }],
      ["offline-2", "edit_file", { path: "a.txt", source_text: "hi", target_text: "ho" }],
      ["offline-3", "bash", { command: "cat a.txt" }],
      ["offline-4", "read_file", { path: "a.txt" }],
    ]);
  });

  test("stops at a failed call and says so", async () => {
    const messages = [
      user("read a then read b then run c"),
      called("offline-1"),
      observation("offline-1"),
      called("offline-2"),
      observation("offline-2", "no", true),
    ];
    expect((await ask(messages)).message).toEqual(
      said("This step failed, and what follows it did not run: read b. Done before: read a."),
    );
    expect(
      (await ask(messages.slice(0, 1).concat(called("offline-1"), observation("offline-1", "no", true)), false, zh))
        .message,
    ).toEqual(said("这一步失败，后面的没有执行: read a。"));
  });

  test("gives every call of the history its own id", async () => {
    const messages = [user("run a"), called("offline-1"), observation("offline-1"), said("Done"), user("run b")];
    expect((await ask(messages)).message.toolCalls[0]?.id).toBe("offline-2");
    expect((await ask([called("toolu_9"), called("offline-41"), user("run b")])).message.toolCalls[0]?.id).toBe(
      "offline-42",
    );
  });

  test("takes a reminder that comes along with an order for none", async () => {
    const { message } = await ask([user("run a"), user("Reminder: plan mode is on.")]);
    expect(message.toolCalls[0]?.arguments).toBe('{"command":"a"}');
  });

  test("takes a reminder within a run for no order, and a new order for one", async () => {
    const under = [user("run a then run b"), called("offline-1"), observation("offline-1")];
    expect((await ask([...under, user("Reminder: something")])).message.toolCalls[0]?.arguments).toBe(
      '{"command":"b"}',
    );
    expect((await ask([...under, user("run c")])).message.toolCalls[0]?.arguments).toBe('{"command":"c"}');
  });

  test("an order outside the grammar ends a run with how to connect a model", async () => {
    for (const messages of [
      [user("fix the tests")],
      [user("run a"), called("offline-1"), observation("offline-1"), said("Done"), user("thanks")],
      [],
    ]) {
      const error = await ask(messages).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({
        kind: "auth",
        retryable: false,
        hint: expect.stringContaining("ANTHROPIC_API_KEY"),
      });
    }
  });

  test("in the chat it gets help", async () => {
    expect((await ask([user("fix the tests")], true)).message).toEqual(said(en.offline.help));
    expect((await ask([user("修一下测试")], true, zh)).message.content).toContain("读取 README.md");
  });

  test("every order of the help is in the grammar", () => {
    for (const { offline } of [zh, en]) {
      const orders = [...offline.help.matchAll(/`([^`]+)`/g)].map(([, order = ""]) => order);
      expect(orders).toHaveLength(5);
      expect(orders.map((order) => [order, parseOrder(order) !== null])).toEqual(orders.map((order) => [order, true]));
    }
  });

  test("a pass without tools calls none", async () => {
    const { message } = await createOffline({ chat: false, strings: en.offline }).generate(
      { messages: [user("run a")] },
      signal,
    );
    expect(message).toEqual(said("run a"));
  });

  test("streams its text in words that join to the message", async () => {
    const chunks: StreamChunk[] = [];
    const provider = createOffline({ chat: true, strings: zh.offline });
    for await (const chunk of provider.generateStream({ messages: [user("?")], tools: TOOLS }, signal))
      chunks.push(chunk);
    const words = chunks.flatMap((chunk) => (chunk.type === "text.delta" ? [chunk.text] : []));
    expect(words.length).toBeGreaterThan(20);
    expect(words.join("")).toBe(zh.offline.help);
    expect(chunks.at(-1)).toEqual({
      type: "completed",
      response: { message: said(zh.offline.help), finishReason: "stop", usage: null },
    });
  });

  test("ends at once when it is cancelled", async () => {
    const abort = new AbortController();
    const stream = createOffline({ chat: true, strings: en.offline }).generateStream(
      { messages: [user("?")] },
      abort.signal,
    );
    const error = await (async () => {
      for await (const _ of stream) abort.abort();
    })().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "cancelled" });
  });
});
