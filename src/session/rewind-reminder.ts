import type { Restores } from "./journal.ts";

// For the model, and so in English like the system prompt.
const FILES = `Reminder from harness9: the user has taken files of the working directory back to an earlier state. What was changed in them since may be gone, as you may see in this conversation or not: look at a file again before you build on it or change it.`;
const CONVERSATION = `Reminder from harness9: the user has gone back to this point of the conversation and has removed what came after it. The files were not taken back: they are as they are now, with what was changed since. Look at a file again before you build on it or change it.`;

/** What the model has to be told with the next input of what was restored; nothing where it cannot notice. */
export const rewindReminder = (untold: readonly Restores[]): string | undefined => {
  if (untold.includes("files")) return FILES;
  return untold.includes("conversation") ? CONVERSATION : undefined;
};

/** Whether it is one of these reminders. The chat has said it itself. */
export const isRewindReminder = (content: string): boolean => content === FILES || content === CONVERSATION;
