import * as z from "zod";
import { PERMISSION_MODES } from "../schema/event.ts";
import { JOURNAL_VERSION, type JournalEntry } from "./journal.ts";

/** What one line of a journal is. */
export type ParsedLine =
  | { readonly type: "entry"; readonly entry: JournalEntry }
  /** Of a kind that this version does not know: to be skipped. */
  | { readonly type: "unknown" }
  | { readonly type: "corrupt" }
  /** A header of a version that this program cannot read. */
  | { readonly type: "newer"; readonly version: number };

/** Reads one line. Never throws. Fields that this version does not know stay in the entry. */
export const parseJournalLine = (line: string): ParsedLine => {
  const value = parseJson(line);
  const named = kind.safeParse(value);
  if (!named.success) return { type: "corrupt" };
  const { type, version } = named.data;
  if (type === "session" && typeof version === "number" && version > JOURNAL_VERSION) return { type: "newer", version };
  const schema = ENTRIES.get(type);
  if (schema === undefined) return { type: "unknown" };
  // The value itself, not a copy: an own `__proto__` in it stays a field like others. Words of unions that a
  // later program has added are taken as they are, since a message must not be lost over one.
  return schema.safeParse(value).success ? { type: "entry", entry: value as JournalEntry } : { type: "corrupt" };
};

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    // The caller tells of it.
    return undefined;
  }
};

const text = z.string();
const count = z.number().nonnegative();
const cost = z.number().nullable();
const kind = z.looseObject({ type: text, version: z.unknown().optional() });

const usage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
});
const call = z.looseObject({ id: text, name: text, arguments: text });
const attachment = z.looseObject({ kind: z.literal("image"), mediaType: text, path: text });
const thinking = z.looseObject({ kind: text, text, blocks: z.array(z.unknown()).optional() });
const error = z.looseObject({ kind: text, message: text, hint: text.optional() });
const tokens = z.looseObject({ tokens: count, messages: count });

const event = <T extends z.ZodRawShape>(fields: T) =>
  z.looseObject({
    sessionId: text,
    seq: count,
    time: text,
    turn: count.optional(),
    parentToolCallId: text.optional(),
    ...fields,
  });

const ENTRIES: ReadonlyMap<string, z.ZodType> = new Map<JournalEntry["type"], z.ZodType>([
  [
    "session",
    z.looseObject({
      version: count,
      id: text,
      workDir: text,
      createdAt: text,
      harness9: text,
      forkOf: text.optional(),
    }),
  ],
  ["system", z.looseObject({ content: text })],
  ["mode", z.looseObject({ time: text, mode: z.enum(PERMISSION_MODES) })],
  ["snapshot", z.looseObject({ time: text, at: z.enum(["before", "after"]), id: text, startedBy: count.optional() })],
  ["rewind", z.looseObject({ time: text, before: count, restores: z.enum(["both", "conversation", "files"]) })],
  ["redo", z.looseObject({ time: text })],
  [
    "compaction",
    z.looseObject({
      time: text,
      covers: count,
      items: z.array(
        z.discriminatedUnion("type", [
          z.looseObject({ type: z.literal("history"), from: count, to: count }),
          z.looseObject({ type: z.literal("changed"), at: count, content: text }),
          z.looseObject({ type: z.literal("summary") }),
        ]),
      ),
      summary: text.optional(),
      automatic: z.boolean(),
      focus: text.optional(),
      before: tokens,
      after: tokens,
      window: count.optional(),
    }),
  ],
  ["compaction.undone", z.looseObject({ time: text })],
  ["skipped", z.looseObject({ time: text, lines: count })],
  [
    "totals",
    z.looseObject({
      time: text,
      runs: count,
      turns: count,
      usage,
      costUsd: cost,
      provider: text,
      model: text,
      prompt: text,
    }),
  ],
  [
    "run.started",
    event({
      workDir: text,
      provider: text,
      model: text,
      thinking: text,
      maxTurns: count,
      toolTimeoutMs: count,
      maxConcurrentTools: count,
      permissionMode: text,
      sandbox: text,
      logFile: text.nullable(),
    }),
  ],
  ["input.added", event({ content: text, source: text, attachments: z.array(attachment).optional() })],
  ["turn.started", event({ contextMessages: count })],
  ["phase.started", event({ phase: text, tools: count })],
  [
    "message.completed",
    event({
      message: z.looseObject({
        role: z.literal("assistant"),
        content: text,
        thinking: thinking.optional(),
        toolCalls: z.array(call),
      }),
      finishReason: text,
      usage,
    }),
  ],
  ["tool.started", event({ call, display: text })],
  [
    "tool.completed",
    event({
      toolCallId: text,
      name: text,
      result: z.looseObject({ output: text, isError: z.boolean() }),
      durationMs: count,
    }),
  ],
  [
    "observations.added",
    event({
      count,
      contextMessages: count,
      changed: z.array(z.looseObject({ toolCallId: text, content: text })).optional(),
    }),
  ],
  [
    "permission.requested",
    event({
      toolCallId: text,
      question: z.looseObject({ kind: z.literal("permission"), name: text, arguments: text }),
    }),
  ],
  [
    "permission.resolved",
    event({
      toolCallId: text,
      name: text,
      decision: z.enum(["allow", "reject"]),
      scope: text,
      by: text,
      rule: text.optional(),
      feedback: text.optional(),
      argumentsDigest: text.optional(),
    }),
  ],
  [
    "usage.updated",
    event({ usage, total: usage, costUsd: cost, contextTokens: count, contextWindow: count.nullable() }),
  ],
  ["provider.retrying", event({ attempt: count, maxAttempts: count, delayMs: count, error, discard: z.boolean() })],
  ["context.compacted", event({ before: tokens, after: tokens })],
  ["notice", event({ level: text, text })],
  [
    "run.completed",
    event({
      reason: text,
      text,
      turns: count,
      contextMessages: count,
      usage,
      costUsd: cost,
      durationMs: count,
      permissionDenials: z.array(z.looseObject({ toolCallId: text, name: text, reason: text })),
      error: error.optional(),
    }),
  ],
]);
