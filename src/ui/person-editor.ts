import type { Chat } from "../session/chat.ts";
import { errorMessage } from "../text/error-message.ts";

/** The text as the person has left it, or why that could not be had. */
export type EditedText = string | { readonly problem: string };

export type PersonEditorOptions = {
  /** Null until the machine has started. */
  readonly chat: () => Chat | null;
  /** Ends the editor. */
  readonly signal: AbortSignal;
  /** Gives the terminal away; false where that cannot be now. */
  readonly release: () => boolean;
  /** Takes the terminal again. */
  readonly acquire: () => void;
  /** Tells the person why a text could not be edited. */
  readonly warn: (problem: string) => void;
};

/** The person's editor, which has the terminal while it is open. */
export interface PersonEditor {
  readonly isOpen: boolean;
  /** Lets the person change a text of a file of that name; it is as it was where the editor could not have the terminal. Never rejects. */
  edit(draft: { readonly text: string; readonly name?: string }): Promise<EditedText>;
  /** Lets the person change a text of their own; undefined where that could not be, which they are told. */
  change(text: string): Promise<string | undefined>;
  /** Resolves when it is closed. */
  settled(): Promise<void>;
}

export const createPersonEditor = (options: PersonEditorOptions): PersonEditor => {
  const { chat, signal, release, acquire } = options;
  let isOpen = false;
  let editing: Promise<unknown> = Promise.resolve();

  const lend = async (opened: Chat, text: string, name: string | undefined): Promise<EditedText> => {
    try {
      return await opened.editText(text, signal, name);
    } catch (error) {
      return { problem: errorMessage(error) };
    } finally {
      acquire();
      isOpen = false;
    }
  };

  const edit = async (text: string, name?: string): Promise<EditedText | undefined> => {
    const opened = chat();
    if (!opened || isOpen || !release()) return undefined;
    isOpen = true;
    const edited = lend(opened, text, name);
    editing = edited;
    return edited;
  };

  return {
    get isOpen() {
      return isOpen;
    },
    edit: async ({ text, name }) => (await edit(text, name)) ?? text,
    change: async (text) => {
      const edited = await edit(text);
      if (edited === undefined || typeof edited === "string") return edited;
      if (!signal.aborted) options.warn(edited.problem);
      return undefined;
    },
    settled: async () => {
      await editing;
    },
  };
};
