import type { EngineEvent } from "../schema/event.ts";
import type { Usage } from "../schema/model.ts";
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

/** What the context held when the history had so many messages, by a server's figure. */
export type ContextFigure = {
  readonly tokens: number;
  readonly length: number;
  readonly compaction: Compaction | undefined;
};

/** All that a session must know to go on. */
export type CompactionState = {
  readonly compactions: Compactions;
  /** For each way back that can be taken back, what held before it. */
  readonly beforeRewinds: readonly Compactions[];
  /** The files with whole outputs, by tool call id. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Provider and model of the newest run; undefined where there is none. */
  readonly model: string | undefined;
  /** What a refusal has shown of that model's window. */
  readonly learned: number | undefined;
  /** The newest of that model; undefined where there is none, or where the history does not reach so far any more. */
  readonly figure: ContextFigure | undefined;
};

export const NOTHING_COMPACTED: CompactionState = {
  compactions: NO_COMPACTIONS,
  beforeRewinds: [],
  outputs: new Map(),
  model: undefined,
  learned: undefined,
  figure: undefined,
};

/** `length`: of the history, the system prompt included. */
export const createCompactions = (length: () => number, past: CompactionState = NOTHING_COMPACTED): CompactionFold => {
  let { compactions, model, learned, figure } = past;
  const beforeRewinds = [...past.beforeRewinds];
  const outputs = new Map(past.outputs);
  return {
    add: (entry) => {
      switch (entry.type) {
        case "run.started": {
          const started = modelOf(entry);
          if (started !== model) {
            learned = undefined;
            figure = undefined;
          }
          model = started;
          break;
        }
        case "usage.updated":
          // Between runs the figure is that of a request beside the conversation.
          if (entry.turn !== undefined && hasInput(entry.usage))
            figure = { tokens: entry.contextTokens, length: length(), compaction: compactions.list.at(-1) };
          break;
        case "compaction": {
          const { type: _, time: __, ...compaction } = entry;
          learned = compaction.window;
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
          if (figure && figure.length > length()) figure = undefined;
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
    state: () => ({ compactions, beforeRewinds: [...beforeRewinds], outputs, model, learned, figure }),
  };
};

/** Another one counts in another way and has another window. */
export const modelOf = ({ provider, model }: EngineEvent<"run.started">): string => `${provider}/${model}`;

const isWithin = ({ covers, items }: Compaction, length: number): boolean =>
  covers <= length &&
  items.every((item) => item.type === "summary" || (item.type === "history" ? item.to : item.at + 1) <= covers);

const hasInput = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): boolean =>
  inputTokens + cacheReadTokens + cacheWriteTokens > 0;
