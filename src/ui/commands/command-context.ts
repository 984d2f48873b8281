import type { Ask } from "../../schema/ask.ts";
import type { EngineEvent } from "../../schema/event.ts";
import type { Chat, ChatSettings } from "../../session/chat.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import type { Line } from "../line.ts";
import type { PersonEditor } from "../person-editor.ts";
import type { KeyRow } from "../transcript/help-lines.ts";
import { marked } from "../transcript/paper.ts";
import type { SessionUsage, Transcript } from "../transcript/transcript.ts";

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
  /** Sends a message, or queues it for the run that goes on. The transcript has the command. */
  readonly submit: (text: string) => void;
  /** Opens a text in the person's editor, as a file of that name. */
  readonly edit: PersonEditor["edit"];
  /** The figures of the session are these now. */
  readonly settle: (total: SessionUsage) => void;
  /** Puts what was sent back into the input, where that is empty. */
  readonly putBack: (text: string) => void;
  /** Starts over on an empty transcript, with the first screen. */
  readonly restart: () => void;
  /** Shows the end of what the session has behind it. */
  readonly showPast: () => void;
  readonly setTheme: (name: ChatSettings["theme"]) => void;
  readonly showThinking: { get(): boolean; set(shown: boolean): void };
  /** The chat's figures and mode have changed. */
  readonly refresh: () => void;
  /** Something that lasts: until it ends, the person can stop it as a run. */
  readonly work: <T>(task: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** An event beside the runs. */
  readonly take: (event: EngineEvent) => void;
  /** Lets the person change a text in their editor; undefined where that could not be, which they are told. */
  readonly changeText: (text: string) => Promise<string | undefined>;
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

/** A wait that is longer than this says so. */
const SLOW_MS = 400;

/** Waits, and says so where that takes a while. */
export const patiently = <T>(
  work: Promise<T>,
  context: CommandContext,
  text: string = context.strings.replies.working,
): Promise<T> => {
  const slow = setTimeout(() => tell(context, text), SLOW_MS);
  return work.finally(() => clearTimeout(slow));
};
