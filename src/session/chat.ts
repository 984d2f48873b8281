import type { RuleScope } from "../schema/ask.ts";
import type { EngineEvent, PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { Prices } from "../schema/model.ts";
import type { ToolDefinition } from "../schema/tool.ts";
import type { Totals } from "./journal-totals.ts";
import type { ChatMemory } from "./memory.ts";
import type { ChatPrompt } from "./prompt-parts.ts";
import type { ChatRewind } from "./rewind.ts";
import type { Session } from "./session.ts";
import type { ChatSkills } from "./skills.ts";
import type { ChatBudget } from "./usage-budget.ts";

/** What the chat shows of the machine below it. Names and paths in it are others' texts: clean them before drawing. */
export type ChatInfo = {
  readonly version: string;
  readonly workDir: string;
  /** For `~` in paths. */
  readonly homeDir: string;
  /** `offline` for the demonstration. */
  readonly provider: string;
  /** As people read it: `anthropic/claude-…`, or that there is none. */
  readonly model: string;
  readonly isOffline: boolean;
  /** Variables that would connect a model. */
  readonly keyVariables: readonly string[];
  readonly contextWindow: number | null;
  readonly prices: Prices | null;
  readonly mode: PermissionMode;
  /** What Shift+Tab goes round: ask, auto-edit, plan, and what was chosen beside them. */
  readonly modes: readonly PermissionMode[];
  readonly thinking: ThinkingMode;
  readonly logFile: string | null;
  readonly sessionId: string;
  /** Whether the session can be taken up again later. */
  readonly isKept: boolean;
  /** What is good to know. */
  readonly notes: readonly string[];
  /** What is not as the person may expect. */
  readonly warnings: readonly string[];
};

/** The settings that the chat itself follows. */
export type ChatSettings = {
  readonly theme: "auto" | "dark" | "light" | "high-contrast" | "none";
  readonly glyphs: "auto" | "unicode" | "ascii";
  readonly screenReader: boolean;
  readonly showThinking: boolean;
};

export type ListedModel = {
  /** As its provider has it; `useModel` takes `provider/id`. */
  readonly id: string;
  readonly provider: string;
  readonly contextWindow: number | null;
  readonly prices: Prices | null;
  readonly isCurrent: boolean;
};

export type LoginProvider = { readonly name: string; readonly keyVariable: string; readonly hasKey: boolean };

export type ListedRule = {
  readonly list: "allow" | "ask" | "deny";
  readonly rule: string;
  /** `flag`, `env NAME`, `path:line` or `session`. */
  readonly origin: string;
  /** For what this program has saved it, or may have: such a rule can be taken back. */
  readonly saved?: RuleScope;
};

/** What stands behind a session that was taken up again. */
export type ChatPast = {
  readonly id: string;
  /** The end of the conversation. */
  readonly events: readonly EngineEvent[];
  /** How many turns came before these. */
  readonly turnsBefore: number;
  readonly totals: Totals;
};

/** A session that can be taken up again. Its prompt is others' text. */
export type PastSession = Pick<Totals, "prompt" | "usage" | "costUsd"> & {
  readonly id: string;
  /** Since something has happened in it, in milliseconds. */
  readonly ageMs: number;
};

/**
 * All that the command line gives to the chat. What fails because of what a person asked for throws a UserError and
 * leaves everything as it was.
 */
export type Chat = ChatBudget &
  ChatPrompt & {
    /** Another one after `clear`. */
    readonly session: () => Session;
    readonly info: () => ChatInfo;
    /** From the next call on, also within a run. Confirm yolo before. */
    readonly setMode: (mode: PermissionMode) => void;
    /** From the next run on. */
    readonly setThinking: (mode: ThinkingMode) => Promise<void>;
    /** From the next run on: `provider/model`, a model, or a provider alone for its own choice. */
    readonly useModel: (name: string) => Promise<void>;
    /** What the present endpoint lists, then the default of every other provider with a key. */
    readonly listModels: (signal: AbortSignal) => Promise<readonly ListedModel[]>;
    readonly loginProviders: () => readonly LoginProvider[];
    /** Stores a key and goes on with its provider. Returns what the person should know, as where it is. */
    readonly login: (provider: string, key: string) => Promise<string>;
    /** Sets a setting in the person's own file, which it returns. */
    readonly saveSetting: (key: string, value: unknown) => Promise<string>;
    /** `!command`: runs it unasked. The events are those of a tool call; the model learns of it with the next input. */
    readonly runShell: (command: string, signal: AbortSignal, onEvent: (event: EngineEvent) => void) => Promise<void>;
    /** A new session. What the old one has left running ends. Only between runs. */
    readonly clear: () => Promise<void>;
    /** Null in a session that is new. */
    readonly past: () => ChatPast | null;
    /** Back to an earlier turn, and forth; what turns have changed. */
    readonly rewind: ChatRewind;
    /** The sessions of this folder that nobody works in, the newest first. */
    readonly listSessions: () => Promise<readonly PastSession[]>;
    /** Goes on with another session of this folder, with its model and mode. What the present one has left running ends. Only between runs. Returns what is not as before. */
    readonly resume: (id: string) => Promise<readonly string[]>;
    /** Files, and folders with a final slash, relative to the work directory. Never throws. */
    readonly listFiles: (signal: AbortSignal) => Promise<readonly string[]>;
    /** What the person has sent, in all sessions, the oldest first. A `problem` says why a file cannot be used. */
    readonly history: {
      readonly load: () => Promise<{ readonly entries: readonly string[]; readonly problem?: string }>;
      readonly append: (text: string) => Promise<string | undefined>;
    };
    /** Those of the settings and those that were answered with in this session, the strictest list first. */
    readonly rules: () => readonly ListedRule[];
    /** Takes a saved rule out of its file; it counts no more from the next call on. */
    readonly takeBackRule: (rule: ListedRule) => Promise<void>;
    /** What would become of a command in the present mode, by line. Runs nothing. */
    readonly explainCommand: (command: string) => Promise<readonly string[]>;
    /** Whether what the folder's own files say counts; null where they say nothing that needs trust. */
    readonly isTrusted: () => boolean | null;
    readonly tools: () => readonly ToolDefinition[];
    readonly memory: ChatMemory;
    readonly skills: ChatSkills;
    /** Writes the conversation as Markdown and returns the file's path. No file is written over. */
    readonly exportMarkdown: (path?: string) => Promise<string>;
    /** What `harness9 doctor` prints, by line. */
    readonly doctor: () => Promise<readonly string[]>;
    /**
     * Lets the person's editor change a text; the signal ends it. The caller has let go of the terminal, and takes it back
     * after. `name`: it is a file of that name, whose line endings stay; else a message.
     */
    readonly editText: (
      text: string,
      signal: AbortSignal,
      name?: string,
    ) => Promise<string | { readonly problem: string }>;
    /** For what no terminal should show, as the stack of a bug. */
    readonly writeLog: (text: string) => void;
    /** Ends what still runs and closes the files. Returns how many commands it ended. */
    readonly close: () => Promise<number>;
    /** The last resort: no waiting. */
    readonly kill: () => void;
  };
