import type { Chat } from "../session/chat.ts";
import { parseSkill } from "./commands/skills.ts";
import { changesSession, type ParsedCommand, parseCommand, withoutKey } from "./commands/slash-commands.ts";
import type { Runs } from "./view/runs.ts";

export type SubmissionsOptions = {
  /** Null until the machine has started. */
  readonly chat: () => Chat | null;
  readonly runs: Runs;
  /** Called with each text when it is taken, before anything comes of it. A key is no longer in it. */
  readonly onTaken: (text: string, chat: Chat) => void;
  /** Carries out a `/command`; never throws. */
  readonly carryOut: (command: ParsedCommand, chat: Chat) => Promise<void>;
  readonly send: (text: string) => void;
  /** A `!` with no command behind it. */
  readonly onEmptyShell: () => void;
};

/** What the person sends: messages, `/commands` and `!commands`, in their order. */
export interface Submissions {
  submit(text: string): void;
  /** Carries out what a key stands for. Nothing while that cannot be. */
  command(command: ParsedCommand): void;
  /** Sends what was held, each as if it came now: one of them may hold up the rest again. */
  sendHeld(): void;
  /** The chat ends: returns what is still held, and nothing more is taken. */
  end(): readonly string[];
}

/** Nothing is taken before the machine has started, or while a command changes the session that it would be for: it is held. */
export const createSubmissions = (options: SubmissionsOptions): Submissions => {
  const { runs } = options;
  let isChanging = false;
  let isOver = false;

  const submit = (typed: string): void => {
    const text = withoutKey(typed);
    const chat = options.chat();
    if (!chat || isChanging) {
      runs.hold(text);
      return;
    }
    options.onTaken(text, chat);
    const command = parseCommand(text) ?? parseSkill(text, chat);
    if (command) void carryOut(command, chat);
    else if (!text.startsWith("!")) options.send(text);
    else if (text.slice(1).trim() === "") options.onEmptyShell();
    else runs.shell(text.slice(1).trim());
  };

  const carryOut = async (command: ParsedCommand, chat: Chat): Promise<void> => {
    const changes = changesSession(command);
    if (changes) isChanging = true;
    await options.carryOut(command, chat);
    if (!changes) return;
    isChanging = false;
    sendHeld();
  };

  const sendHeld = (): void => {
    if (!isOver) for (const text of runs.takeHeld()) submit(text);
  };

  return {
    submit,
    command: (command) => {
      const chat = options.chat();
      if (chat && !isChanging && !isOver) void carryOut(command, chat);
    },
    sendHeld,
    end: () => {
      isOver = true;
      return runs.takeHeld();
    },
  };
};
