import type { Chat } from "../session/chat.ts";

/** The file of what the person has sent. */
export interface SentMessages {
  /** What earlier sessions have sent, the oldest first. */
  load(history: Chat["history"]): Promise<readonly string[]>;
  /** Keeps a message, in the order in which it was sent. */
  keep(history: Chat["history"], text: string): void;
  /** Resolves when all of it is written. */
  settled(): Promise<void>;
}

/** `tell` hears once why the file cannot be used; the chat goes on without it. */
export const createSentMessages = (tell: (problem: string) => void): SentMessages => {
  let writing: Promise<void> = Promise.resolve();
  let hasTold = false;
  const report = (problem: string | undefined): void => {
    if (problem === undefined || hasTold) return;
    hasTold = true;
    tell(problem);
  };
  return {
    load: async (history) => {
      const { entries, problem } = await history.load();
      report(problem);
      return entries;
    },
    keep: (history, text) => {
      writing = writing.then(async () => report(await history.append(text)));
    },
    settled: () => writing,
  };
};
