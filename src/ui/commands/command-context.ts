import type { Ask } from "../../schema/ask.ts";
import type { Chat, ChatSettings } from "../../session/chat.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import type { Line } from "../line.ts";
import type { KeyRow } from "../transcript/help-lines.ts";
import { marked } from "../transcript/paper.ts";
import type { Transcript } from "../transcript/transcript.ts";

/** What a command may see and do. */
export type CommandContext = {
  readonly chat: Chat;
  readonly transcript: () => Transcript;
  readonly isBusy: () => boolean;
  readonly width: () => number;
  readonly glyphs: Glyphs;
  readonly strings: Strings;
  readonly keyRows: readonly KeyRow[];
  readonly say: (lines: readonly Line[]) => void;
  readonly choose: Ask;
  readonly copy: (text: string) => void;
  /** Starts over on an empty transcript, with the first screen. */
  readonly restart: () => void;
  /** Shows the end of what the session has behind it. */
  readonly showPast: () => void;
  readonly setTheme: (name: ChatSettings["theme"]) => void;
  readonly showThinking: { get(): boolean; set(shown: boolean): void };
  /** The chat's figures and mode have changed. */
  readonly refresh: () => void;
  readonly leave: () => void;
  /** Ends what waits for a person or a server. */
  readonly signal: AbortSignal;
};

/** Lines of our own, behind the mark of a notice. Text of others in them is made visible. */
export const tell = (
  { say, width, glyphs }: CommandContext,
  text: string,
  role: "dim" | "warning" | "failure" = "dim",
): void =>
  say(
    marked(glyphs.notice, visibleControls(text, "\n"), {
      width: width(),
      role: role === "dim" ? "accent" : role,
      ...(role !== "dim" && { textRole: role }),
    }),
  );

/** Says which values there are. */
export const unknownChoice = (value: string, choices: readonly string[], context: CommandContext): void =>
  tell(context, context.strings.replies.unknownChoice(value, choices), "warning");

/** A question whose first answer is no. */
export const confirms = async (title: string, { choose, strings, signal }: CommandContext): Promise<boolean> => {
  const options = [
    { id: "no", label: strings.replies.no },
    { id: "yes", label: strings.replies.yes },
  ];
  const answer = await choose({ kind: "choice", title, options }, signal);
  return "choice" in answer && answer.choice === "yes";
};
