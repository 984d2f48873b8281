import type { EngineEvent } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import type { JournalEntry } from "../session/journal.ts";
import { createHistory } from "../session/journal-history.ts";
import { readJournal } from "../session/journal-read.ts";
import { createTotals } from "../session/journal-totals.ts";
import type { Mask } from "../text/mask.ts";
import { printableJson } from "../text/printable-json.ts";
import { printableText } from "../text/printable-text.ts";
import type { Strings } from "../text/strings.ts";
import { conversationMarkdown } from "./chat-export.ts";
import { journalPieces } from "./sessions-summary.ts";

export type ExportOptions = {
  readonly id: string;
  readonly journal: string;
  readonly format: "md" | "json";
  /** Hides the values of known keys; what is only shaped like one is hidden too. */
  readonly mask: Mask;
  readonly strings: Strings;
};

/** A session for other people and programs, and how many lines of its journal were skipped. @throws as reading does */
export const exportText = async (
  options: ExportOptions,
): Promise<{ readonly text: string; readonly skipped: number }> => {
  const { id, journal, format, mask, strings } = options;
  const session = createExport(id, strings.sessions.interrupted);
  let skipped = 0;
  for await (const item of readJournal(journalPieces(journal))) {
    if (item.type === "skipped") skipped += 1;
    if (item.type === "entry") session.add(item.entry);
  }
  const exported = session.exported();
  const { workDir, messages, totals } = exported;
  const title = { sessionId: id, workDir, model: `${totals.provider}/${totals.model}` };
  const text =
    format === "md"
      ? mask(conversationMarkdown(messages, title, strings.chat))
      : `${printableJson(exported, { mask: (one) => mask(printableText(one)), indent: 2 })}\n`;
  return { text, skipped };
};

/** One run as the export tells of it; the figures are null where it has no end. */
type ExportedRun = Pick<EngineEvent<"run.started">, "provider" | "model" | "permissionMode"> & {
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly end: Pick<EngineEvent<"run.completed">, "reason" | "turns" | "usage" | "costUsd" | "durationMs"> | null;
};

const EXPORT_VERSION = 1;

const createExport = (id: string, interrupted: string) => {
  const history = createHistory({ interrupted: () => interrupted });
  const sums = createTotals();
  const runs: ExportedRun[] = [];
  let head = { workDir: "", createdAt: "", forkOf: null as string | null };
  return {
    add: (entry: JournalEntry): void => {
      history.add(entry);
      if (entry.type === "session")
        head = { workDir: entry.workDir, createdAt: entry.createdAt, forkOf: entry.forkOf ?? null };
      if (!("seq" in entry) || entry.parentToolCallId !== undefined) return;
      sums.add(entry);
      if (entry.type === "run.started") runs.push(runOf(entry));
      if (entry.type !== "run.completed") return;
      const run = runs.pop();
      if (run) runs.push(endedRun(run, entry));
    },
    exported: () => {
      const { runs: _count, ...totals } = sums.totals();
      return { version: EXPORT_VERSION, id, ...head, totals, runs, messages: history.messages().map(withoutOpaque) };
    },
  };
};

const runOf = ({ time, provider, model, permissionMode }: EngineEvent<"run.started">): ExportedRun => ({
  startedAt: time,
  endedAt: null,
  provider,
  model,
  permissionMode,
  end: null,
});

const endedRun = (run: ExportedRun, event: EngineEvent<"run.completed">): ExportedRun => {
  const { time, reason, turns, usage, costUsd, durationMs } = event;
  return { ...run, endedAt: time, end: { reason, turns, usage, costUsd, durationMs } };
};

/** A provider's own records mean nothing to others, and no mask can look into them. */
const withoutOpaque = (message: Message): Message => {
  if (message.role !== "assistant" || !message.thinking) return message;
  const { kind, text } = message.thinking;
  return { ...message, thinking: { kind, text } };
};
