import type { Message } from "../schema/message.ts";
import { type Compaction, viewOf } from "./compaction.ts";

/** The view of a history: the history itself where nothing is compacted, else one list that grows with it. */
export const createViewMessages = (
  history: readonly Message[],
): ((compaction: Compaction | undefined) => readonly Message[]) => {
  let view: { compaction: Compaction; count: number; last: Message | undefined; messages: Message[] } | undefined;
  return (compaction) => {
    if (!compaction) return history;
    if (view?.compaction === compaction && view.count <= history.length && history[view.count - 1] === view.last)
      view.messages.push(...history.slice(view.count));
    else view = { compaction, count: 0, last: undefined, messages: [...viewOf(history, compaction)] };
    view.count = history.length;
    view.last = history.at(-1);
    return view.messages;
  };
};
