import type { EngineEvent } from "../schema/event.ts";
import { contextTokens } from "../schema/model.ts";
import { createHistory } from "../session/journal-history.ts";
import { type JournalItem, readJournal } from "../session/journal-read.ts";
import type { Rewind } from "../session/turns.ts";
import { printableText } from "../text/printable-text.ts";
import type { Strings } from "../text/strings.ts";
import { formatCost, formatTokens } from "../ui/figures.ts";
import { firstWords } from "../ui/transcript/rewind-texts.ts";
import { conversationMarkdown } from "./chat-export.ts";
import { auditLine, auditRow, createAudit } from "./sessions-audit.ts";
import { tableRows } from "./sessions-list.ts";
import { journalPieces } from "./sessions-summary.ts";
import { localMinute } from "./sessions-time.ts";

export type Shown = {
  readonly id: string;
  readonly journal: string;
  readonly strings: Strings;
  readonly write: (text: string) => void;
};

/** Reads a journal to its end; returns how many lines were skipped. */
const readAll = async (
  path: string,
  onItem: (item: Exclude<JournalItem, { type: "skipped" }>) => void,
): Promise<number> => {
  let skipped = 0;
  for await (const item of readJournal(journalPieces(path)))
    if (item.type === "skipped") skipped += 1;
    else onItem(item);
  return skipped;
};

/** The conversation as Markdown, and how its last run ended. */
export const showConversation = async ({ id, journal, strings, write }: Shown): Promise<number> => {
  const history = createHistory({ interrupted: () => strings.sessions.interrupted });
  let workDir = "";
  let model = "";
  let end: EngineEvent<"run.completed"> | undefined;
  const skipped = await readAll(journal, (item) => {
    if (item.type !== "entry") return;
    const { entry } = item;
    history.add(entry);
    if (entry.type === "session") ({ workDir } = entry);
    if (entry.type === "run.started") model = `${entry.provider}/${entry.model}`;
    if (entry.type === "run.completed") end = entry;
  });
  write(conversationMarkdown(history.messages(), { sessionId: id, workDir, model }, strings.chat));
  if (end) write(`\n---\n${endLine(end, strings.sessions)}\n`);
  for (const rewind of history.turns.rewinds()) write(`\n${rewindLine(rewind, strings.rewind)}\n`);
  return skipped;
};

const rewindLine = ({ time, restores, text }: Rewind, strings: Strings["rewind"]): string =>
  printableText(strings.rewound(localMinute(time), restores, firstWords(text)));

const endLine = (end: EngineEvent<"run.completed">, strings: Strings["sessions"]): string => {
  const cost = end.costUsd === null ? "-" : formatCost(end.costUsd);
  const figures = strings.ended(end.reason, end.turns, formatTokens(contextTokens(end.usage)), cost);
  return printableText(end.error ? `${figures}: ${end.error.message}` : figures);
};

/** The journal's lines, each valid JSON that a terminal can be shown. */
export const showLines = ({ journal, write }: Shown): Promise<number> =>
  readAll(journal, ({ line }) => write(`${withoutControls(line)}\n`));

// JSON leaves these as they are, and what is no journal of ours may have them.
const withoutControls = (json: string): string =>
  json.replace(/[\x7f-\x9f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`).replace(/[\r\t]/g, " ");

/** Each decision on a line. */
export const showAudit = async ({ journal, strings, write }: Shown, json: boolean): Promise<number> => {
  const audit = createAudit();
  const rows: (readonly string[])[] = [];
  const skipped = await readAll(journal, (item) => {
    const decision = item.type === "entry" ? audit.add(item.entry) : undefined;
    if (decision === undefined) return;
    if (json) write(`${auditLine(decision)}\n`);
    else rows.push(auditRow(decision, strings.sessions));
  });
  if (!json) write(`${(rows.length === 0 ? [strings.sessions.noDecisions] : tableRows(rows)).join("\n")}\n`);
  return skipped;
};
