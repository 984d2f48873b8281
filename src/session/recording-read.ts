import * as z from "zod";
import { type EngineEvent, type ErrorKind, PERMISSION_MODES, type RunEndReason } from "../schema/event.ts";
import type { ToolData } from "../schema/tool.ts";
import { NewerJournalError, readJournal } from "./journal-read.ts";
import { RECORDING_VERSION } from "./recording.ts";

/** What a recording or a journal says of itself. */
export type ReplayHead = {
  readonly createdAt: string;
  readonly harness9: string;
  /** Of the tools; a journal does not say. */
  readonly tools: readonly string[];
};

export type ReplayItem =
  /** Always the first. */
  | { readonly type: "head"; readonly head: ReplayHead }
  | { readonly type: "event"; readonly event: EngineEvent }
  /** A line that cannot be understood; `isTorn`: the last one, which a killed program has not finished. */
  | { readonly type: "skipped"; readonly isTorn: boolean };

/** A file that is neither a recording nor a journal. */
export class NotReplayableError extends Error {}

/**
 * The events of a recording or a journal, whose bytes come in pieces. Holds one line. What is read is not trusted: each
 * event has the shape that those who draw and print it rely on.
 * @throws NotReplayableError, NewerJournalError
 */
export async function* readReplay(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<ReplayItem> {
  let hasHead = false;
  for await (const item of readJournal(pieces)) {
    const read =
      item.type === "entry" ? ofEntry(item.entry) : item.type === "unknown" ? ofLine(item.line) : skipped(item);
    // Of a kind that tells of nothing that can be shown, or a second head.
    if (read === null || (read.type === "head" && hasHead)) continue;
    if (read.type !== "head" && !hasHead) throw new NotReplayableError();
    hasHead = true;
    yield read;
  }
  if (!hasHead) throw new NotReplayableError();
}

const skipped = ({ reason }: { readonly reason: string }): ReplayItem => ({
  type: "skipped",
  isTorn: reason === "torn",
});

type Entry = { readonly type: string };

const ofEntry = (entry: Entry): ReplayItem | null => {
  if (entry.type === "session") {
    const { createdAt, harness9 } = entry as Entry & ReplayHead;
    return { type: "head", head: { createdAt, harness9, tools: [] } };
  }
  return "seq" in entry ? eventOf(entry as EngineEvent) : null;
};

/** What a journal leaves out. */
const ofLine = (line: string): ReplayItem | null => {
  const value = JSON.parse(line) as Entry;
  if (value.type === "recording") return headOf(value);
  const schema = UNJOURNALED[value.type];
  if (schema === undefined) return null;
  return schema.safeParse(value).success ? eventOf(value as EngineEvent) : { type: "skipped", isTorn: false };
};

const headOf = (value: Entry): ReplayItem => {
  const { version } = value as { readonly version?: unknown };
  if (typeof version === "number" && version > RECORDING_VERSION) throw new NewerJournalError(version);
  const parsed = recordingHead.safeParse(value);
  if (!parsed.success) throw new NotReplayableError();
  const { createdAt, harness9, tools } = parsed.data;
  return { type: "head", head: { createdAt, harness9, tools } };
};

/** The event, where its time is one and its words are those that are decided by. */
const eventOf = (event: EngineEvent): ReplayItem => {
  const isDated = !Number.isNaN(Date.parse(event.time));
  const words = WORDS[event.type];
  if (isDated && (words === undefined || words.safeParse(event).success)) return { type: "event", event };
  return { type: "skipped", isTorn: false };
};

const text = z.string();
const count = z.number().nonnegative();

const recordingHead = z.looseObject({
  version: count,
  createdAt: text,
  harness9: text,
  provider: text,
  model: text,
  tools: z.array(text),
});

const event = <T extends z.ZodRawShape>(fields: T) =>
  z.looseObject({ sessionId: text, seq: count, time: text, turn: count.optional(), ...fields });

const UNJOURNALED: Readonly<Record<string, z.ZodType>> = {
  "text.delta": event({ text }),
  "thinking.delta": event({ text }),
  "tool.progress": event({ toolCallId: text, text }),
};

const REASONS = [
  "completed",
  "max_turns",
  "budget",
  "cancelled",
  "blocked",
  "repeated_call",
  "error",
] as const satisfies readonly RunEndReason[];

const ERROR_KINDS = [
  "auth",
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "timeout",
  "bad_request",
  "context_overflow",
  "content_filter",
  "protocol",
  "empty_tool_calls",
  "cancelled",
  "config",
  "input",
  "internal",
] as const satisfies readonly ErrorKind[];

const error = z.looseObject({ kind: z.enum(ERROR_KINDS) });

const question = z.looseObject({
  reason: text,
  by: z.enum(["mode", "rule", "guard", "hook", "secret", "sandbox"]),
  rule: text.optional(),
  offers: z.array(z.looseObject({ scope: z.enum(["session", "project", "user"]), rule: text, place: text.optional() })),
});

/** A journal takes the words of later programs; whoever shows an event must know them. */
const WORDS: Readonly<Record<string, z.ZodType>> = {
  "run.started": z.looseObject({ permissionMode: z.enum(PERMISSION_MODES) }),
  "phase.started": z.looseObject({ phase: z.enum(["thinking", "action"]) }),
  "provider.retrying": z.looseObject({ error }),
  "permission.requested": z.looseObject({ question }),
  notice: z.looseObject({ level: z.enum(["info", "warning", "error"]) }),
  "run.completed": z.looseObject({ reason: z.enum(REASONS), error: error.optional() }),
};

/** The event without data of a tool that cannot be drawn. */
export const drawable = (event: EngineEvent): EngineEvent => {
  if (event.type === "permission.requested" && event.question.preview !== undefined) {
    const { preview, ...question } = event.question;
    return toolData.safeParse(preview).success ? event : { ...event, question };
  }
  if (event.type !== "tool.completed" || event.result.data === undefined) return event;
  const { data, ...result } = event.result;
  return toolData.safeParse(data).success ? event : { ...event, result };
};

const hunk = z.object({
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  lines: z.array(text),
});

const toolData: z.ZodType<unknown, ToolData> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("diff"), path: text, hunks: z.array(hunk), added: count, removed: count }),
  z.object({
    type: z.literal("file"),
    path: text,
    bytes: count,
    lines: count.exactOptional(),
    truncated: z.boolean().exactOptional(),
  }),
  z.object({
    type: z.literal("command"),
    command: text,
    exitCode: z.number().nullable(),
    signal: text.exactOptional(),
    timedOut: z.boolean().exactOptional(),
    outputBytes: count,
    outputPath: text.exactOptional(),
  }),
  z.object({ type: z.literal("json"), value: z.unknown() }),
]);
