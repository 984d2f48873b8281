import type { Answer, Question } from "../../src/schema/ask.ts";
import type { Chat } from "../../src/session/chat.ts";
import { en } from "../../src/text/en.ts";
import type { CommandContext } from "../../src/ui/commands/command-context.ts";
import { UNICODE_GLYPHS } from "../../src/ui/glyphs.ts";
import { type Line, plainText } from "../../src/ui/line.ts";
import type { EditedText } from "../../src/ui/person-editor.ts";

export type CommandOptions = {
  readonly chat: Partial<Chat>;
  readonly answers?: readonly Answer[];
  readonly edited?: (text: string) => EditedText;
};

/** What a command of the chat gets, and what it does with it. Only what such commands need is there. */
export const commandContext = ({ chat, answers = [], edited = (text) => text }: CommandOptions) => {
  const lines: Line[] = [];
  const sent: string[] = [];
  const opened: unknown[] = [];
  const questions: Question[] = [];
  const waiting = [...answers];
  const context = {
    chat,
    width: () => 100,
    glyphs: UNICODE_GLYPHS,
    strings: en,
    say: (said: readonly Line[]) => lines.push(...said),
    choose: async (question: Question) => {
      questions.push(question);
      return waiting.shift() ?? { dismissed: true };
    },
    submit: (text: string) => sent.push(text),
    edit: async (draft: { readonly text: string; readonly name?: string }) => {
      opened.push(draft);
      return edited(draft.text);
    },
    signal: new AbortController().signal,
  } as unknown as CommandContext;
  const said = (): readonly string[] => lines.map((line) => plainText(line).trim()).filter((line) => line !== "");
  return { context, said, sent, opened, questions };
};
