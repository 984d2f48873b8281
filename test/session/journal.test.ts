import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { isJournaled, journalLine, MAX_DATA_BYTES } from "../../src/session/journal.ts";
import { parseJournalLine } from "../../src/session/journal-schema.ts";
import { at, everyEvent } from "../helpers/journal.ts";

test("every event that is journaled is read as it was written; deltas and progress are not journaled", () => {
  const journaled = everyEvent.filter(isJournaled);
  expect(everyEvent.filter((event) => !isJournaled(event)).map(({ type }) => type)).toEqual([
    "thinking.delta",
    "text.delta",
    "tool.progress",
  ]);
  for (const event of journaled) {
    const line = journalLine(event);
    expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1, event.type).toBe(true);
    expect(parseJournalLine(line), event.type).toEqual({ type: "entry", entry: event });
  }
});

test("the entries that are no events are read as they were written", () => {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5 };
  const entries = [
    { type: "session", version: 1, id: "20260102-030405-abcd", workDir: "/w", createdAt: "now", harness9: "1.2.3" },
    { type: "system", content: "Be brief.\n中文" },
    { type: "mode", time: "now", mode: "auto-edit" },
    {
      type: "totals",
      time: "now",
      runs: 1,
      turns: 2,
      usage,
      costUsd: null,
      provider: "p",
      model: "m",
      prompt: "do it",
    },
  ] as const;
  for (const entry of entries) expect(parseJournalLine(journalLine(entry))).toEqual({ type: "entry", entry });
});

test("no line holds a control character, and lone surrogates survive", () => {
  const content = `\x1b[2J\x7f\x9b31m\r\n\u2028 \ud800`;
  const event = at({ type: "input.added", content, source: "person" });
  const line = journalLine(event as EngineEvent<"input.added">);
  expect(line.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  expect(parseJournalLine(line)).toEqual({ type: "entry", entry: event });
});

const big = (bytes: number) => ({ type: "json", value: "x".repeat(bytes) }) as const;

test("data that is only drawn is left out when it is big, and the line says so; what the model got stays whole", () => {
  const output = "y".repeat(2 * MAX_DATA_BYTES);
  const completed = (data: ReturnType<typeof big>) =>
    at({
      type: "tool.completed",
      toolCallId: "c",
      name: "t",
      result: { output, isError: false, data },
      durationMs: 1,
    }) as EngineEvent<"tool.completed">;
  const small = completed(big(10));
  expect(parseJournalLine(journalLine(small))).toEqual({ type: "entry", entry: small });

  // Few characters, but many bytes.
  const wide = { type: "json", value: "字".repeat(MAX_DATA_BYTES / 3) } as const;
  const short = { ...small, result: { output: "", isError: false, data: wide } };
  expect(parseJournalLine(journalLine(short))).toMatchObject({
    type: "entry",
    entry: { omitted: [{ bytes: 65_561 }] },
  });

  const large = completed(big(MAX_DATA_BYTES));
  expect(parseJournalLine(journalLine(large))).toEqual({
    type: "entry",
    entry: {
      ...large,
      result: { output, isError: false },
      omitted: [{ field: "result.data", bytes: MAX_DATA_BYTES + '{"type":"json","value":""}'.length }],
    },
  });
});

test("a big preview of a question is left out too", () => {
  const question = {
    kind: "permission",
    toolCallId: "c",
    name: "t",
    arguments: "{}",
    reason: "r",
    by: "mode",
    offers: [],
  } as const;
  const event = at({
    type: "permission.requested",
    toolCallId: "c",
    question: { ...question, preview: big(MAX_DATA_BYTES) },
  }) as EngineEvent<"permission.requested">;
  expect(parseJournalLine(journalLine(event))).toMatchObject({
    type: "entry",
    entry: { question, omitted: [{ field: "question.preview" }] },
  });
  expect(journalLine(event).length).toBeLessThan(1000);
});

test.each([
  ["nothing", "", "corrupt"],
  ["no JSON", "{", "corrupt"],
  ["a line that was written twice into itself", '{"type":"system",{"type":"system","content":""}', "corrupt"],
  ["a number", "7", "corrupt"],
  ["null", "null", "corrupt"],
  ["a list", '[{"type":"system","content":"x"}]', "corrupt"],
  ["no type", '{"content":"x"}', "corrupt"],
  ["a type that is no text", '{"type":{"toString":1}}', "corrupt"],
  ["a known kind without its fields", '{"type":"message.completed"}', "corrupt"],
  ["a field of another type", '{"type":"system","content":7}', "corrupt"],
  ["an event without its place", '{"type":"notice","level":"info","text":"x"}', "corrupt"],
  ["a kind of a later program", '{"type":"later","id":"abc"}', "unknown"],
  ["the name of something that every object has", '{"type":"toString"}', "unknown"],
  ["a prototype as a kind", '{"type":"__proto__"}', "unknown"],
] as const)("%s is %s", (_name, line, type) => {
  expect(parseJournalLine(line)).toEqual({ type });
});

test("a header of a later version is told from a damaged one", () => {
  expect(parseJournalLine('{"type":"session","version":2}')).toEqual({ type: "newer", version: 2 });
  expect(parseJournalLine('{"type":"session","version":"2"}')).toEqual({ type: "corrupt" });
});

test("a field named __proto__ changes no object", () => {
  const line =
    '{"type":"system","content":"x","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
  expect(parseJournalLine(line).type).toBe("entry");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});
