import type { Ask, PermissionQuestion, Question, Reviser } from "../../schema/ask.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { type Line, span } from "../line.ts";
import type { HunkChoice } from "../question/hunk-choice.ts";
import { filterOptions, type QuestionOption, questionOptions } from "../question/question-options.ts";
import { type Asked, createQuestionQueue } from "../question/question-queue.ts";
import { type Changed, type EditDraft, editCall, keepOnly, revisedQuestion } from "../question/revise-question.ts";
import type { DiffData } from "../transcript/changed-lines.ts";
import { KEY_PAUSE_MS, TYPING_PAUSE_MS } from "../view/typing-pause.ts";

export type LineQuestionsOptions = {
  readonly strings: Pick<Strings, "question" | "linear">;
  /** What is asked, as lines. */
  readonly body: (question: Question) => readonly Line[];
  /** The rows of each hunk of what is asked about. */
  readonly hunks: (diff: DiffData) => HunkChoice["hunks"];
  /** Lets the person's editor have the terminal. */
  readonly edit: EditDraft;
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
  readonly asked: Asked;
  /** About what the person has made of the call. */
  readonly question: Question;
  readonly options: readonly QuestionOption[];
  isArmed: boolean;
  stage: "choose" | "write" | "hunks";
};

export const createLineQuestions = (options: LineQuestionsOptions): LineQuestions => {
  const { strings, print } = options;
  let open: Open | null = null;
  let strayLines = 0;
  let lastLine: NodeJS.Timeout | undefined;

  const put = createQuestionQueue({
    isTaken: () => open !== null,
    open: (asked) => begin(asked, asked.question),
    close: (settle) => {
      if (open?.asked.settle !== settle) return false;
      open = null;
      options.hideTyping(false);
      return true;
    },
    onChange: ({ hasClosed }) => {
      if (hasClosed) options.onChange();
    },
  });

  const begin = (asked: Asked, question: Question, note: readonly string[] = []): void => {
    const isChanged = argumentsOf(question) !== argumentsOf(asked.question);
    const begun: Open = {
      asked,
      question,
      options: questionOptions(question, strings.question, asked.reviser && { isChanged }),
      isArmed: false,
      stage: question.kind === "text" ? "write" : "choose",
    };
    open = begun;
    print([
      ...options.body(question),
      ...begun.options.map(({ label }, index): Line => [span(`${index + 1}. ${label}`)]),
      ...note.map((text): Line => [span(visibleControls(text.replaceAll("\n", " ")))]),
      [span(hintOf(question, strings.linear))],
    ]);
    options.hideTyping(question.kind === "text" && question.secret === true);
    strayLines = 0;
    if (asked.isCalled) arm(begun, 0);
    // A line has just been sent: a second press of Enter is no answer to what nobody has read.
    else if (lastLine) setTimeout(arm, KEY_PAUSE_MS, begun, 0);
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

  const answer = (text: string, begun: Open): boolean => {
    switch (begun.stage) {
      case "write":
        begun.asked.settle(
          begun.question.kind === "text"
            ? { text }
            : { decision: "reject", scope: "once", ...(text !== "" && { feedback: text }) },
        );
        return true;
      case "hunks":
        return answerHunks(text, begun);
      case "choose":
        return answerChoice(text, begun);
      default:
        return begun.stage satisfies never;
    }
  };

  const answerChoice = (text: string, begun: Open): boolean => {
    const { settle, isCalled } = begun.asked;
    if (text === "") {
      settle({ dismissed: true });
      return true;
    }
    const option = chosenOption(text, begun);
    if (option === undefined) {
      const isMeant = isCalled || isNumber(text);
      print([[span(isMeant ? strings.linear.noSuchAnswer(visibleControls(text)) : strings.linear.stillOpen)]]);
      options.onChange();
      return isMeant;
    }
    choose(option, begun);
    return true;
  };

  const choose = ({ answer }: QuestionOption, begun: Open): void => {
    switch (answer) {
      case "feedback":
        begun.stage = "write";
        print([[span(strings.linear.reason)]]);
        options.onChange();
        return;
      case "edit":
        revise(begun, (reviser, question) => editCall(reviser, question, options.edit));
        return;
      case "hunks":
        begun.stage = "hunks";
        print([...hunksOf(begun.question), [span(strings.linear.chooseHunks)]]);
        options.onChange();
        return;
      case "restore":
        begin(begun.asked, begun.asked.question);
        return;
      default:
        begun.asked.settle(answer);
    }
  };

  const hunksOf = (question: Question): readonly Line[] => {
    if (question.kind !== "permission" || question.preview?.type !== "diff") return [];
    const hunks = options.hunks(question.preview);
    return hunks.flatMap((lines, index) => [[span(strings.question.hunk(index + 1, hunks.length))], ...lines]);
  };

  const answerHunks = (text: string, begun: Open): boolean => {
    const { question } = begun;
    const count =
      question.kind === "permission" && question.preview?.type === "diff" ? question.preview.hunks.length : 0;
    if (text === "") {
      begin(begun.asked, question);
      return true;
    }
    const kept = keptHunks(text, count);
    if (kept) revise(begun, (reviser, asked) => keepOnly(reviser, asked, kept));
    else {
      print([[span(strings.linear.noSuchAnswer(visibleControls(text)))], [span(strings.linear.chooseHunks)]]);
      options.onChange();
    }
    return true;
  };

  /** Nothing is answered by a change: the question comes back with what it would do now. */
  const revise = (begun: Open, make: (reviser: Reviser, question: PermissionQuestion) => Promise<Changed>): void => {
    const { asked, question } = begun;
    const { reviser, settle } = asked;
    if (question.kind !== "permission" || !reviser) return;
    begun.isArmed = false;
    void revisedQuestion(make(reviser, question), question, strings.question).then((after) => {
      // It was dismissed meanwhile.
      if (open !== begun) return;
      if ("question" in after) begin(asked, after.question, [after.note]);
      else settle(after);
    });
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
      clearTimeout(lastLine);
      lastLine = setTimeout(() => {
        lastLine = undefined;
      }, KEY_PAUSE_MS).unref();
      if (open === null) return false;
      if (open.isArmed) return answer(text.trim(), open);
      strayLines += 1;
      return false;
    },
    dismiss: () => {
      const begun = open;
      begun?.asked.settle({ dismissed: true });
      return begun !== null;
    },
  };
};

/** By number, letter, or what the label begins with; of a list that was called up also by a part that only one has. */
const chosenOption = (text: string, { options, asked: { isCalled } }: Open): QuestionOption | undefined => {
  if (isNumber(text)) return options[Number(text) - 1];
  const said = text.toLowerCase();
  const exact = options.find(({ key, label }) => key === said || label.toLowerCase() === said);
  if (exact) return exact;
  if (!isCalled) return options.find(({ label }) => /^[,，]/.test(rest(label.toLowerCase(), said)));
  const [only, ...more] = filterOptions(options, text);
  return more.length === 0 ? only : undefined;
};

/** `1 3`, `all` or `none`; undefined for anything else. */
const keptHunks = (text: string, count: number): readonly boolean[] | undefined => {
  const words = text
    .toLowerCase()
    .split(/[\s,，、]+/)
    .filter(Boolean);
  const [only, ...more] = words;
  if (more.length === 0 && (only === "all" || only === "none")) return new Array<boolean>(count).fill(only === "all");
  const numbers = words.map((word) => (isNumber(word) ? Number(word) : 0));
  if (numbers.some((number) => number < 1 || number > count)) return undefined;
  return Array.from({ length: count }, (_, index) => numbers.includes(index + 1));
};

const argumentsOf = (question: Question): string | undefined =>
  question.kind === "permission" ? question.arguments : undefined;

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
