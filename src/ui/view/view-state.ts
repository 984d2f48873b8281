import type { Answer, Question, Reviser } from "../../schema/ask.ts";
import type { ChatInfo } from "../../session/chat.ts";
import type { CompletionMenu } from "../input/completion-lines.ts";
import { createEditor, type Editor } from "../input/editor-buffer.ts";
import type { HistorySearch } from "../input/prompt-history.ts";
import type { Line } from "../line.ts";
import type { HunkChoice } from "../question/hunk-choice.ts";
import type { QuestionOption } from "../question/question-options.ts";
import { NEW_TRANSCRIPT, type Transcript } from "../transcript/transcript.ts";

/** A question that stands before the person. */
export type OpenQuestion = {
  readonly question: Question;
  readonly options: readonly QuestionOption[];
  /** Empty where it had to be printed above, for want of room. */
  readonly body: readonly Line[];
  /** As it was asked; `question` may be about what the person has made of it. */
  readonly original?: Question | undefined;
  /** Absent where there is nothing to change. */
  readonly reviser?: Reviser | undefined;
  /** What came of a change. */
  readonly note?: { readonly text: string; readonly isProblem: boolean } | undefined;
  /** Which hunks are kept; of that stage only. */
  readonly hunks?: HunkChoice | undefined;
  /** Choosing an answer or hunks, or writing: the reason of a refusal, or the text that was asked for. */
  readonly stage: "choose" | "write" | "hunks";
  readonly selected: number;
  /** What was typed to narrow a long list. */
  readonly filter: string;
  readonly text: Editor;
  /** Whether keys answer it: not before it has been drawn, nor in the middle of what the person types. */
  readonly isArmed: boolean;
  /** It waits until the person pauses. */
  readonly isInterrupting: boolean;
  readonly settle: (answer: Answer) => void;
};

/** All that the live region shows. */
export type ViewState = {
  readonly editor: Editor;
  readonly menu: CompletionMenu | null;
  readonly search: HistorySearch | null;
  readonly question: OpenQuestion | null;
  readonly waitingQuestions: number;
  readonly transcript: Transcript;
  /** The unfinished text of the model. */
  readonly liveText: readonly Line[];
  /** Whether a blank line stands before the next step. */
  readonly isSpaced: boolean;
  readonly queued: readonly string[];
  /** Null until the machine has started. */
  readonly info: ChatInfo | null;
  readonly hint: string | null;
  readonly showsKeys: boolean;
  readonly isStopping: boolean;
  readonly nowMs: number;
  /** Counts up while something runs. */
  readonly tick: number;
};

export const emptyState = (nowMs: number): ViewState => ({
  editor: createEditor(),
  menu: null,
  search: null,
  question: null,
  waitingQuestions: 0,
  transcript: NEW_TRANSCRIPT,
  liveText: [],
  isSpaced: false,
  queued: [],
  info: null,
  hint: null,
  showsKeys: false,
  isStopping: false,
  nowMs,
  tick: 0,
});

export interface Store {
  get(): ViewState;
  set(change: Partial<ViewState>): void;
  /** Called after each change; returns the end of it. */
  subscribe(listener: () => void): () => void;
}

export const createStore = (initial: ViewState): Store => {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set: (change) => {
      state = { ...state, ...change };
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
