import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import type { JournalEntry } from "../../src/session/journal.ts";
import { type JournalItem, readJournal } from "../../src/session/journal-read.ts";
import { runStarted } from "./run-started.ts";

export const SESSION_ID = "20260102-030405-abcd";

let seq = 0;

/** A body at its place in a session; each has a later `seq`. */
export const at = (body: EngineEventBody): EngineEvent => {
  seq += 1;
  return { ...body, sessionId: SESSION_ID, seq, time: "2026-01-02T03:04:05.000Z" };
};

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, reasoningTokens: 0 };
const call = { id: "c1", name: "bash", arguments: '{"command":"ls"}' };

/** One event of every type, with all fields. */
export const everyEvent: readonly EngineEvent[] = [
  runStarted,
  {
    type: "input.added",
    content: "你好",
    source: "person",
    attachments: [{ kind: "image", mediaType: "image/png", path: "/w/a.png" }],
  },
  { type: "turn.started", turn: 1, contextMessages: 2 },
  { type: "phase.started", turn: 1, phase: "action", tools: 4 },
  { type: "thinking.delta", turn: 1, text: "hm" },
  { type: "text.delta", turn: 1, text: "I" },
  {
    type: "message.completed",
    turn: 1,
    message: {
      role: "assistant",
      content: "I look.",
      thinking: { kind: "native", text: "hm", blocks: [{ type: "thinking", thinking: "hm", signature: "s1gn==" }] },
      toolCalls: [call],
    },
    finishReason: "tool_calls",
    usage,
  },
  { type: "usage.updated", turn: 1, usage, total: usage, costUsd: 0.01, contextTokens: 10, contextWindow: null },
  { type: "tool.started", turn: 1, call, display: "bash ls" },
  {
    type: "permission.requested",
    turn: 1,
    toolCallId: "c1",
    question: {
      kind: "permission",
      toolCallId: "c1",
      name: "bash",
      arguments: call.arguments,
      reason: "a command",
      by: "mode",
      offers: [{ scope: "session", rule: "bash(ls)" }],
    },
  },
  {
    type: "permission.resolved",
    turn: 1,
    toolCallId: "c1",
    name: "bash",
    decision: "allow",
    scope: "session",
    by: "person",
    rule: "bash(ls)",
  } as EngineEventBody,
  { type: "tool.progress", turn: 1, toolCallId: "c1", text: "a" },
  {
    type: "tool.completed",
    turn: 1,
    toolCallId: "c1",
    name: "bash",
    result: { output: "a.txt", isError: false, data: { type: "command", command: "ls", exitCode: 0, outputBytes: 5 } },
    durationMs: 5,
  },
  {
    type: "observations.added",
    turn: 1,
    count: 1,
    contextMessages: 4,
    changed: [{ toolCallId: "c1", content: "a.txt\n\n(again)" }],
  },
  {
    type: "provider.retrying",
    turn: 2,
    attempt: 1,
    maxAttempts: 3,
    delayMs: 100,
    error: { kind: "server", status: 500, message: "oh" },
    discard: true,
  },
  {
    type: "context.compacted",
    before: { tokens: 10, messages: 4 },
    after: { tokens: 5, messages: 2 },
  },
  { type: "notice", level: "warning", text: "careful" },
  {
    type: "run.completed",
    reason: "error",
    text: "",
    turns: 1,
    contextMessages: 4,
    usage,
    costUsd: null,
    durationMs: 9,
    permissionDenials: [{ toolCallId: "c1", name: "bash", reason: "no" }],
    error: { kind: "server", message: "oh", hint: "wait" },
  },
].map((body) => at(body as EngineEventBody));

/** All that a journal holds. */
export const readAll = async (
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxLineBytes?: number,
): Promise<readonly JournalItem[]> => {
  const items: JournalItem[] = [];
  for await (const item of readJournal(pieces, maxLineBytes)) items.push(item);
  return items;
};

/** What counts of it. */
export const entriesOf = (items: readonly JournalItem[]): readonly JournalEntry[] =>
  items.flatMap((item) => (item.type === "entry" ? [item.entry] : []));
