import type { Chat } from "../session/chat.ts";
import { errorStack } from "../text/error-message.ts";

/** A chat that has the terminal, as the command line sees it. */
export type RunningChat = {
  /** Resolves when the chat is over, with an exit code where it has one of its own. Rejects with what it could not start for. */
  readonly ended: Promise<number | undefined>;
  /** Gives the terminal back as it was, now. */
  readonly release: () => void;
  /** The last resort: no waiting. */
  readonly kill: () => void;
  /** The same after a bug, which goes to the log. */
  readonly crash: (error: unknown) => void;
  /** For the log, as what no terminal should show in the midst of a chat. */
  readonly note: (text: string) => void;
  readonly logFile: () => string | null;
};

/** `chat` gives the machine, once it has started. */
export const runningChat = ({
  ended,
  release,
  chat,
}: Pick<RunningChat, "ended" | "release"> & { readonly chat: () => Chat | null }): RunningChat => {
  const kill = (): void => {
    release();
    chat()?.kill();
  };
  return {
    ended,
    release,
    kill,
    crash: (error) => {
      release();
      chat()?.writeLog(errorStack(error));
      chat()?.kill();
    },
    note: (text) => chat()?.writeLog(text),
    logFile: () => chat()?.info().logFile ?? null,
  };
};
