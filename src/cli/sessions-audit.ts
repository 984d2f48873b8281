import type { JournalEntry } from "../session/journal.ts";
import { printableJson } from "../text/printable-json.ts";
import type { Strings } from "../text/strings.ts";
import { localSecond } from "./sessions-time.ts";

/** One decision about a call. */
export type Decision = {
  readonly time: string;
  readonly sessionId: string;
  readonly turn: number | null;
  readonly toolCallId: string;
  readonly tool: string;
  readonly decision: "allow" | "reject";
  readonly by: string;
  /** The permission mode at that moment; null where the journal does not say. */
  readonly mode: string | null;
  readonly rule: string | null;
  readonly scope: string;
  /** What made the person be asked: mode, rule, guard, hook, secret or sandbox (run it once more, outside); null where nobody was. */
  readonly askedBy: string | null;
  /** Of the arguments' JSON text that was decided about: `sha256:` and 16 hex digits. */
  readonly argumentsDigest: string | null;
  readonly feedback: string | null;
};

export interface AuditFold {
  /** Returns the decision that the entry is. */
  add(entry: JournalEntry): Decision | undefined;
}

export const createAudit = (): AuditFold => {
  let mode: string | null = null;
  const asked = new Map<string, string>();
  return {
    add: (entry) => {
      switch (entry.type) {
        case "run.started":
          mode = entry.permissionMode;
          return undefined;
        case "mode":
          ({ mode } = entry);
          return undefined;
        case "permission.requested":
          asked.set(entry.toolCallId, entry.question.by);
          return undefined;
        case "tool.completed":
          asked.delete(entry.toolCallId);
          return undefined;
        case "permission.resolved":
          return {
            time: entry.time,
            sessionId: entry.sessionId,
            turn: entry.turn ?? null,
            toolCallId: entry.toolCallId,
            tool: entry.name,
            decision: entry.decision,
            by: entry.by,
            mode,
            rule: entry.rule ?? null,
            scope: entry.scope,
            askedBy: entry.by === "person" ? (asked.get(entry.toolCallId) ?? null) : null,
            argumentsDigest: entry.argumentsDigest ?? null,
            feedback: entry.feedback ?? null,
          };
        default:
          return undefined;
      }
    },
  };
};

/** A decision as the cells of a row. */
export const auditRow = (decision: Decision, strings: Strings["sessions"]): readonly string[] => [
  localSecond(decision.time),
  decision.tool,
  strings.decisions[decision.decision],
  whoDecided(decision),
  decision.scope,
  decision.argumentsDigest ?? "-",
  ...(decision.feedback === null ? [] : [decision.feedback]),
];

const whoDecided = ({ by, mode, rule, askedBy }: Decision): string => {
  if (askedBy !== null) return `${by} (${askedBy})`;
  if (by === "mode") return mode === null ? by : `${by} ${mode}`;
  return rule === null ? by : `${by} ${rule}`;
};

export const auditLine = (decision: Decision): string => printableJson(decision);
