import { isObservation, type Message } from "../schema/message.ts";

/** A piece of a view. Positions are those of the history, where 0 is the system prompt, which always stays. */
export type ViewItem =
  /** The messages from `from` up to, not including, `to`, as they are. */
  | { readonly type: "history"; readonly from: number; readonly to: number }
  /** A message with another text. */
  | { readonly type: "changed"; readonly at: number; readonly content: string }
  | { readonly type: "summary" };

export type ContextSize = { readonly tokens: number; readonly messages: number };

/** What stands for the beginning of a history in each request from here on. */
export type Compaction = {
  /** Up to which position of the history; what comes later follows as it is. */
  readonly covers: number;
  readonly items: readonly ViewItem[];
  /** What the model has written of what was left out. Absent where outputs were left out only. */
  readonly summary?: string;
  /** False = a person asked for it. */
  readonly automatic: boolean;
  /** What the person wanted the summary to be about. */
  readonly focus?: string;
  readonly before: ContextSize;
  readonly after: ContextSize;
  /** The most that the window can hold, where a refusal by the server has shown that. */
  readonly window?: number;
};

/** The compactions that hold, the oldest first; the last one is the view. A value: who rewinds keeps the one before. */
export type Compactions = {
  readonly list: readonly Compaction[];
  /** A person has undone the newest: the next waits until the window is full. */
  readonly isHeld: boolean;
};

export const NO_COMPACTIONS: Compactions = { list: [], isHeld: false };

/** One that differs in its summary only takes the place of the newest: who takes it back wants none of either. */
export const withCompaction = ({ list }: Compactions, compaction: Compaction): Compactions => {
  const last = list.at(-1);
  const isRewritten = last !== undefined && placesOf(last) === placesOf(compaction);
  return { list: [...(isRewritten ? list.slice(0, -1) : list), compaction], isHeld: false };
};

const placesOf = ({ covers, items }: Compaction): string => JSON.stringify([covers, items]);

export const withoutLast = ({ list }: Compactions): Compactions => ({ list: list.slice(0, -1), isHeld: true });

/** What still holds of them when the history is cut to `length` messages, the system prompt among them. */
export const cutTo = (compactions: Compactions, length: number): Compactions => ({
  ...compactions,
  list: compactions.list.filter(({ covers }) => covers <= length),
});

/** A message of a view, and where it is from; null for the summary. */
export type Part = { readonly at: number | null; readonly message: Message; readonly isChanged: boolean };

// For the model, and so in English like the system prompt: the view must be the same bytes when the session goes on.
const SUMMARY_HEAD = `[harness9 has compacted this conversation to free context. The person's messages above are kept; the steps between them are left out. This is the summary of them. Files may have changed since: read them again before you change them.]`;

export const summaryMessage = (summary: string): Message => ({
  role: "user",
  content: `${SUMMARY_HEAD}\n\n${summary}`,
});

/** The messages that are sent of a history. Pure: the same two give the same bytes. */
export const viewOf = (history: readonly Message[], compaction: Compaction | undefined): readonly Message[] =>
  compaction ? partsOf(history, compaction).map(({ message }) => message) : history;

/** The view with the place of each message. */
export const partsOf = (history: readonly Message[], compaction: Compaction | undefined): readonly Part[] => {
  if (!compaction) return range(history, 0, history.length);
  return [
    ...range(history, 0, 1),
    ...compaction.items.flatMap((item): readonly Part[] => {
      switch (item.type) {
        case "history":
          return range(history, item.from, item.to);
        case "changed":
          return range(history, item.at, item.at + 1).map(({ at, message }) => ({
            at,
            message: withContent(message, item.content),
            isChanged: true,
          }));
        case "summary":
          return [{ at: null, message: summaryMessage(compaction.summary ?? ""), isChanged: true }];
        default:
          return item satisfies never;
      }
    }),
    ...range(history, compaction.covers, history.length),
  ];
};

const range = (history: readonly Message[], from: number, to: number): readonly Part[] =>
  history.slice(from, to).map((message, index) => ({ at: from + index, message, isChanged: false }));

/** The message with another text. What was attached to it goes with the text that it stood beside. */
export const withContent = (message: Message, content: string): Message => {
  if (message.role !== "user") return { ...message, content };
  const { attachments: _, ...rest } = message;
  return isObservation(rest) ? { ...rest, content } : { role: "user", content };
};

/** The parts as they are written down, without the system prompt; neighbours that are as they were become one item. */
export const itemsOf = (parts: readonly Part[]): readonly ViewItem[] => {
  const items: ViewItem[] = [];
  for (const { at, message, isChanged } of parts) {
    if (at === 0) continue;
    const last = items.at(-1);
    if (at === null) items.push({ type: "summary" });
    else if (isChanged) items.push({ type: "changed", at, content: message.content });
    else if (last?.type === "history" && last.to === at) items[items.length - 1] = { ...last, to: at + 1 };
    else items.push({ type: "history", from: at, to: at + 1 });
  }
  return items;
};
