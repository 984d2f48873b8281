import type { Answer, Ask, Question } from "../../schema/ask.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { type Line, span } from "../line.ts";
import { filterOptions, type QuestionOption, questionOptions } from "../question/question-options.ts";
import { createQuestionQueue } from "../question/question-queue.ts";

/** Who pauses that long has read what stands there. */
const TYPING_PAUSE_MS = 500;

export type LineQuestionsOptions = {
  readonly strings: Pick<Strings, "question" | "linear">;
  /** What is asked, as lines. */
  readonly body: (question: Question) => readonly Line[];
  readonly print: (lines: readonly Line[]) => void;
  readonly hideTyping: (isHidden: boolean) => void;
  /** It may be the person's turn now, or no longer. */
  readonly onChange: () => void;
};

/** The questions to the person, answered by whole lines: one stands, the others wait their turn. */
export interface LineQuestions {
  readonly ask: Ask;
  /** A question that the person has called up: the next line answers it. */
  readonly choose: Ask;
  readonly isOpen: boolean;
  /** Whether a line would be an answer. */
  readonly isWaiting: boolean;
  /** Whether what is typed is hidden. */
  readonly isSecret: boolean;
  /** Whether the line was for a question. One that was typed before the question stood there is not. */
  line(text: string): boolean;
  /** Ends the question that stands without an answer; whether there was one. */
  dismiss(): boolean;
}

type Open = {
  readonly question: Question;
  readonly options: readonly QuestionOption[];
  readonly isCalled: boolean;
  readonly settle: (answer: Answer) => void;
  isArmed: boolean;
  stage: "choose" | "write";
};

export const createLineQuestions = (options: LineQuestionsOptions): LineQuestions => {
  const { strings, print } = options;
  let open: Open | null = null;
  let strayLines = 0;

  const put = createQuestionQueue({
    isTaken: () => open !== null,
    open: (question, settle, isCalled) => begin(question, settle, isCalled),
    close: (settle) => {
      if (open?.settle !== settle) return false;
      open = null;
      options.hideTyping(false);
      return true;
    },
    onChange: ({ hasClosed }) => {
      if (hasClosed) options.onChange();
    },
  });

  const begin = (question: Question, settle: Open["settle"], isCalled: boolean): void => {
    const begun: Open = {
      question,
      options: questionOptions(question, strings.question),
      isCalled,
      settle,
      isArmed: false,
      stage: question.kind === "text" ? "write" : "choose",
    };
    open = begun;
    print([
      ...options.body(question),
      ...begun.options.map(({ label }, index): Line => [span(`${index + 1}. ${label}`)]),
      [span(hintOf(question, strings.linear))],
    ]);
    options.hideTyping(question.kind === "text" && question.secret === true);
    strayLines = 0;
    if (isCalled) arm(begun, 0);
    // Two turns: then lines that had come before it have been read.
    else setImmediate(() => setImmediate(() => arm(begun, 0)));
  };

  /** Who was in the middle of sending lines needs a moment to see the question. */
  const arm = (begun: Open, straysBefore: number): void => {
    if (open !== begun) return;
    if (strayLines !== straysBefore) {
      setTimeout(arm, TYPING_PAUSE_MS, begun, strayLines);
      return;
    }
    begun.isArmed = true;
    // What was said of those lines stands below the question.
    if (strayLines > 0) print([[span(hintOf(begun.question, strings.linear))]]);
    options.onChange();
  };

  const answer = (text: string, asked: Open): boolean => {
    const { question, settle, isCalled } = asked;
    if (asked.stage === "write") {
      settle(
        question.kind === "text"
          ? { text }
          : { decision: "reject", scope: "once", ...(text !== "" && { feedback: text }) },
      );
      return true;
    }
    if (text === "") {
      settle({ dismissed: true });
      return true;
    }
    const option = chosenOption(text, asked);
    if (option === undefined) {
      const isMeant = isCalled || isNumber(text);
      print([[span(isMeant ? strings.linear.noSuchAnswer(visibleControls(text)) : strings.linear.stillOpen)]]);
      options.onChange();
      return isMeant;
    }
    if (option.answer === "feedback") {
      asked.stage = "write";
      print([[span(strings.linear.reason)]]);
      options.onChange();
    } else settle(option.answer);
    return true;
  };

  return {
    ask: put(false),
    choose: put(true),
    get isOpen() {
      return open !== null;
    },
    get isSecret() {
      return open?.question.kind === "text" && open.question.secret === true;
    },
    get isWaiting() {
      return open?.isArmed === true;
    },
    line: (text) => {
      if (open === null) return false;
      if (open.isArmed) return answer(text.trim(), open);
      strayLines += 1;
      return false;
    },
    dismiss: () => {
      const asked = open;
      asked?.settle({ dismissed: true });
      return asked !== null;
    },
  };
};

/** By number, letter, or what the label begins with; of a list that was called up also by a part that only one has. */
const chosenOption = (text: string, { options, isCalled }: Open): QuestionOption | undefined => {
  if (isNumber(text)) return options[Number(text) - 1];
  const said = text.toLowerCase();
  const exact = options.find(({ key, label }) => key === said || label.toLowerCase() === said);
  if (exact) return exact;
  if (!isCalled) return options.find(({ label }) => /^[,，]/.test(rest(label.toLowerCase(), said)));
  const [only, ...more] = filterOptions(options, text);
  return more.length === 0 ? only : undefined;
};

const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** What comes after `start`; empty where the text does not begin with it. */
const rest = (text: string, start: string): string => (text.startsWith(start) ? text.slice(start.length) : "");

const hintOf = (question: Question, strings: Strings["linear"]): string => {
  switch (question.kind) {
    case "permission":
      return strings.answerPermission;
    case "choice":
      return strings.answerChoice;
    case "text":
      return question.secret === true ? strings.answerSecret : strings.answerText;
    default:
      return question satisfies never;
  }
};
