import type { Answer, Ask, ChoiceQuestion, Question } from "../../schema/ask.ts";
import type { EngineEventBody, PermissionMode } from "../../schema/event.ts";
import type { Chat } from "../../session/chat.ts";
import type { Strings } from "../../text/strings.ts";
import { submitText } from "../input/editor-buffer.ts";
import type { KeyInput } from "../terminal/keys.ts";
import type { Scribe } from "./scribe.ts";
import type { ViewState } from "./view-state.ts";

export type PlanQuestionOptions = {
  readonly chat: () => Chat | null;
  readonly ask: Ask;
  /** Lets the person's editor change a text; undefined where it could not. */
  readonly edit: (text: string) => Promise<string | undefined>;
  readonly scribe: Scribe;
  /** Sends a message of the person's; `shown` is what the transcript has of it. */
  readonly submit: (text: string, shown: string) => void;
  /** The mode has changed. */
  readonly refresh: () => void;
  readonly strings: Strings["plan"];
};

/** What becomes of a plan: the person carries it out, changes it first, or goes on planning. */
export interface PlanQuestion {
  /** Asks about the answer of a run that was to plan only. */
  offer(end: EngineEventBody<"run.completed">): void;
  /** Whether this is the one that stands. */
  isAsked(question: Question | undefined): boolean;
  /** Whether the question stands and this line would not answer it. */
  isMessage(line: string): boolean;
  /** Takes the question away; the chat stays in plan mode. */
  close(): void;
}

/** What the plan may be carried out in: never in yolo, and in auto only where the person has it already. */
const CARRYING_OUT: readonly PermissionMode[] = ["ask", "auto-edit", "auto"];

export const createPlanQuestion = (options: PlanQuestionOptions): PlanQuestion => {
  const { chat, ask, scribe, strings } = options;
  let open: { readonly controller: AbortController; question?: ChoiceQuestion } | null = null;

  const close = (): void => {
    open?.controller.abort();
    open = null;
  };

  const settle = async (plan: string, opened: NonNullable<typeof open>): Promise<void> => {
    let edited: string | undefined;
    for (;;) {
      const question = planQuestion(chat()?.info().modes ?? [], strings);
      opened.question = question;
      const answer = await ask(question, opened.controller.signal);
      if (opened.controller.signal.aborted) return;
      const mode = CARRYING_OUT.find((one) => one === choiceOf(answer));
      if (mode !== undefined) return accept(mode, edited);
      if (choiceOf(answer) === KEEP) keepPlanning();
      if (choiceOf(answer) !== EDIT) return close();
      const before = edited ?? plan;
      const changed = (await options.edit(before)) ?? before;
      // An empty text is no plan: as if nothing had been changed.
      if (changed === before || changed.trim() === "") continue;
      edited = changed;
      scribe.add({ type: "notice", level: "info", text: strings.edited });
      scribe.add({ type: "text", delta: edited });
      scribe.add({ type: "text.end", isDiscarded: false });
    }
  };

  /** Also where the mode was changed while the question stood there. */
  const keepPlanning = (): void => {
    if (chat()?.info().mode === "plan") return;
    chat()?.setMode("plan");
    options.refresh();
  };

  const accept = (mode: PermissionMode, edited: string | undefined): void => {
    close();
    chat()?.setMode(mode);
    options.refresh();
    options.submit(edited === undefined ? strings.accepted : strings.acceptedEdited(edited), strings.accepted);
  };

  return {
    offer: ({ reason, text }) => {
      const hasPlan = reason === "completed" && text.trim() !== "";
      if (!hasPlan || chat()?.session().isPlanning !== true) return;
      close();
      open = { controller: new AbortController() };
      // It ends with an answer or by `close`.
      void settle(text, open);
    },
    isAsked: (question) => question !== undefined && open?.question === question,
    isMessage: (line) => open?.question !== undefined && !answersByLine(line, open.question),
    close,
  };
};

const EDIT = "edit";
const KEEP = "keep";

const planQuestion = (modes: readonly PermissionMode[], strings: Strings["plan"]): ChoiceQuestion => ({
  kind: "choice",
  title: strings.title,
  options: [
    { id: "ask", label: strings.ask },
    { id: "auto-edit", label: strings.autoEdit },
    ...(modes.includes("auto") ? [{ id: "auto", label: strings.auto }] : []),
    { id: EDIT, label: strings.edit },
    { id: KEEP, label: strings.keep },
  ],
});

/** By number or name, as lines answer questions; an empty one cancels. */
const answersByLine = (line: string, { options }: ChoiceQuestion): boolean => {
  const said = line.trim().toLowerCase();
  if (said === "" || /^\d+$/.test(said)) return true;
  return options.some(({ label }) => {
    const name = label.toLowerCase();
    return name === said || (name.startsWith(said) && /^[,，]/.test(name.slice(said.length)));
  });
};

const choiceOf = (answer: Answer): string | undefined => ("choice" in answer ? answer.choice : undefined);

/**
 * Whether a key belongs to a message and not to the question of the plan, which then goes: whoever begins to type has
 * chosen to go on planning. Enter sends the message that stands in the input, unless another answer was selected.
 */
export const isForMessage = (key: KeyInput, { question, editor }: ViewState): boolean => {
  if (!question?.isArmed) return false;
  switch (key.type) {
    case "text":
      return !question.options.some((option) => option.key === key.text);
    case "paste":
      return true;
    case "key":
      return key.chord === "enter" && question.selected === 0 && submitText(editor).trim() !== "";
    case "reply":
      return false;
    default:
      return key satisfies never;
  }
};
