import type { EngineEvent } from "../schema/event.ts";
import { type Compaction, type Compactions, cutTo, NO_COMPACTIONS, withCompaction, withoutLast } from "./compaction.ts";
import type { JournalEntry } from "./journal.ts";

/** Follows a session's compactions by its entries and events, as it goes on or from its journal. */
export interface CompactionFold {
  /** To be told after the history has what the entry tells of: a `rewind` has cut it by then. */
  add(entry: JournalEntry | EngineEvent): void;
  /** The one that is the view now. */
  current(): Compaction | undefined;
  state(): CompactionState;
}

/** All that a session must know to go on. */
export type CompactionState = {
  readonly compactions: Compactions;
  /** For each way back that can be taken back, what held before it. */
  readonly beforeRewinds: readonly Compactions[];
  /** The files with whole outputs, by tool call id. */
  readonly outputs: ReadonlyMap<string, string>;
};

export const NOTHING_COMPACTED: CompactionState = {
  compactions: NO_COMPACTIONS,
  beforeRewinds: [],
  outputs: new Map(),
};

/** `length`: of the history, the system prompt included. */
export const createCompactions = (length: () => number, past: CompactionState = NOTHING_COMPACTED): CompactionFold => {
  let { compactions } = past;
  const beforeRewinds = [...past.beforeRewinds];
  const outputs = new Map(past.outputs);
  return {
    add: (entry) => {
      switch (entry.type) {
        case "compaction": {
          const { type: _, time: __, ...compaction } = entry;
          // One of a damaged journal, in which messages are missing, stands for nothing.
          if (isWithin(compaction, length())) compactions = withCompaction(compactions, compaction);
          break;
        }
        case "compaction.undone":
          compactions = withoutLast(compactions);
          break;
        case "rewind":
          beforeRewinds.push(compactions);
          compactions = cutTo(compactions, length());
          break;
        case "redo":
          compactions = beforeRewinds.pop() ?? compactions;
          break;
        case "tool.completed": {
          const { data } = entry.result;
          if (data?.type === "command" && data.outputPath !== undefined) outputs.set(entry.toolCallId, data.outputPath);
          break;
        }
        default:
        // What else happens changes no view.
      }
    },
    current: () => compactions.list.at(-1),
    state: () => ({ compactions, beforeRewinds: [...beforeRewinds], outputs }),
  };
};

const isWithin = ({ covers, items }: Compaction, length: number): boolean =>
  covers <= length &&
  items.every((item) => item.type === "summary" || (item.type === "history" ? item.to : item.at + 1) <= covers);
