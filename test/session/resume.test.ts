import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import { isJournaled, journalLine } from "../../src/session/journal.ts";
import { linesAfterHeader } from "../../src/session/journal-copy.ts";
import { readJournal } from "../../src/session/journal-read.ts";
import { readPast } from "../../src/session/resume.ts";
import { at, SESSION_ID } from "../helpers/journal.ts";
import { runStarted } from "../helpers/run-started.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const OPTIONS = { interrupted: "interrupted", emptyOutput: "nothing" };

const read = (text: string) => readPast(readJournal([Buffer.from(text)]), OPTIONS);

const calls = [1, 2, 3].map((index) => ({ id: `c${index}`, name: "bash", arguments: "{}" }));

const completed = (id: string, output: string): EngineEventBody => ({
  type: "tool.completed",
  toolCallId: id,
  name: "bash",
  result: { output, isError: false },
  durationMs: 1,
});

const run: readonly EngineEvent[] = (
  [
    runStarted,
    { type: "input.added", content: "go", source: "person" },
    { type: "turn.started", turn: 1, contextMessages: 2 },
    {
      type: "message.completed",
      message: { role: "assistant", content: "I look.", toolCalls: calls },
      finishReason: "tool_calls",
      usage: NO_USAGE,
    },
    ...calls.map((call): EngineEventBody => ({ type: "tool.started", call, display: "bash" })),
    completed("c3", ""),
    completed("c1", "one"),
    completed("c2", "two"),
    {
      type: "observations.added",
      count: 3,
      contextMessages: 6,
      changed: [{ toolCallId: "c3", content: "nothing" }],
    },
    { type: "turn.started", turn: 2, contextMessages: 6 },
  ] satisfies readonly EngineEventBody[]
).map(at);

const line = (event: EngineEvent): string => (isJournaled(event) ? journalLine(event) : "");

const text = [
  journalLine({ type: "session", version: 1, id: SESSION_ID, workDir: "/w", createdAt: "t", harness9: "1" }),
  journalLine({ type: "system", content: "Be brief." }),
  ...run.map(line),
].join("");

test("wherever a journal ends, what closes it makes the history whole, once and for all", async () => {
  const bytes = Buffer.from(text);
  for (let end = 0; end <= bytes.length; end += 7) {
    const cut = `${bytes.subarray(0, end).toString()}\n`;
    const past = await read(cut);
    const closing = past.closing.map((body, index) =>
      line({ ...body, sessionId: SESSION_ID, seq: past.seq + index + 1, time: "t" }),
    );
    const again = await read(cut + closing.join(""));
    expect(again.messages).toEqual(past.messages);
    expect([again.closing, again.seq]).toEqual([[], past.seq + closing.length]);
  }
});

test("a call without a result is answered as interrupted, one with an empty result as the run would have", async () => {
  const lines = run.slice(0, 8).map(line).join("");
  const { messages, closing } = await read(lines);
  expect(messages.slice(2)).toEqual([
    { role: "user", toolCallId: "c1", content: "interrupted", isError: true },
    { role: "user", toolCallId: "c2", content: "interrupted", isError: true },
    { role: "user", toolCallId: "c3", content: "nothing", isError: false },
  ]);
  expect(closing).toMatchObject([
    { type: "tool.completed", toolCallId: "c1", result: { output: "interrupted", isError: true } },
    { type: "tool.completed", toolCallId: "c2" },
    { type: "observations.added", count: 3, changed: [{ toolCallId: "c3", content: "nothing" }] },
  ]);
});

test("the newest run says model, thinking and mode, and a change of mode since counts", async () => {
  expect((await read(text)).last).toMatchObject({ provider: "p", model: "m", mode: "ask" });
  const changed = text + journalLine({ type: "mode", time: "t", mode: "plan" });
  expect((await read(changed)).last?.mode).toBe("plan");
  expect((await read("")).last).toBeUndefined();
});

test("of a long conversation the newest turns are kept, each whole, and the others are counted", async () => {
  const turns = Array.from({ length: 30 }, (_, index): readonly EngineEventBody[] => [
    { type: "turn.started", turn: index + 1, contextMessages: 2 },
    { type: "notice", level: "info", text: `${index}` },
  ]).flat();
  const { recent } = await read([runStarted, ...turns].map((body) => line(at(body))).join(""));
  expect(recent.events[0]?.type).toBe("turn.started");
  expect(recent.turnsBefore + recent.events.length / 2).toBe(30);
});

test.each<[string, readonly string[], string]>([
  ["a header and lines", ['{"type":"session","id":"x"}\n', "a\n", "b\n"], "a\nb\n"],
  ["a header alone", ['{"type":"session","id":"x"}\n'], ""],
  ["a damaged header", ['{"type":"sess\n', "a\n"], '{"type":"sess\na\n'],
  ["nothing", [], ""],
  ["a long header", [`{"type":"session","id":"${"x".repeat(1_500_000)}"}\n`, "a\n"], "a\n"],
  ["many lines", ['{"type":"session","id":"x"}\n', "é\n".repeat(700_000)], "é\n".repeat(700_000)],
])("a copy of a journal with %s leaves the header out and nothing else", (_, lines, expected) => {
  const path = join(tempDir(), "a.jsonl");
  writeFileSync(path, lines.join(""));
  expect(Buffer.concat([...linesAfterHeader(path)]).toString() === expected).toBe(true);
});
