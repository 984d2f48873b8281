import type { Answer, Ask, Question } from "../../schema/ask.ts";
import type { Strings } from "../../text/strings.ts";
import { createEditor, type Editor, edit, submitText } from "../input/editor-buffer.ts";
import { EDIT_KEYS } from "../input/keymap.ts";
import type { Line } from "../line.ts";
import { filterOptions, isFiltered, type QuestionOption, questionOptions } from "../question/question-options.ts";
import { createQuestionQueue } from "../question/question-queue.ts";
import type { KeyInput } from "../terminal/keys.ts";
import { graphemes } from "../width.ts";
import type { OpenQuestion, Store } from "./view-state.ts";

/** Who pauses that long has read what stands there. */
const TYPING_PAUSE_MS = 500;

export type QuestionsOptions = {
  readonly store: Store;
  readonly strings: Strings["question"];
  readonly now: () => number;
  /** What is asked, as lines. */
  readonly body: (question: Question) => readonly Line[];
  /** How many rows of it have room beside the answers. */
  readonly room: () => number;
  /** Prints what has no room. */
  readonly print: (lines: readonly Line[]) => void;
  readonly onChange: () => void;
};

/** The questions to the person: one stands, the others wait their turn. */
export interface Questions {
  readonly ask: Ask;
  /** A question that the person has called up: keys answer it at once. */
  readonly choose: Ask;
  /** The window has another size: what is asked is laid out again. */
  resized(): void;
  /** The terminal is ours again: keys that were meant for another program are no answers. */
  shownAgain(): void;
  /** Whether the key was an answer. A key that was pressed before the question was seen is none. */
  key(key: KeyInput): boolean;
}

export const createQuestions = (options: QuestionsOptions): Questions => {
  const { store, strings, now } = options;
  let lastTypedMs = Number.NEGATIVE_INFINITY;

  const put = createQuestionQueue({
    isTaken: () => store.get().question !== null,
    open: (question, settle, isCalled) => open(question, settle, isCalled),
    close: (settle) => {
      const isShown = store.get().question?.settle === settle;
      if (isShown) store.set({ question: null });
      return isShown;
    },
    onChange: ({ waiting }) => {
      store.set({ waitingQuestions: waiting });
      options.onChange();
    },
  });

  const open = (question: Question, settle: (answer: Answer) => void, isCalled: boolean): void => {
    const offered = questionOptions(question, strings);
    const opened: OpenQuestion = {
      question,
      options: offered,
      body: bodyOf(question),
      stage: question.kind === "text" ? "write" : "choose",
      // Enter alone must not run what the guard warns of.
      selected: question.kind === "permission" && question.by === "guard" ? offered.length - 1 : 0,
      filter: "",
      text: createEditor(),
      // It may have taken a while to come: what the person has begun to type since is no answer to it.
      isArmed: isCalled && submitText(store.get().editor) === "",
      isInterrupting: false,
      settle,
    };
    store.set({ question: opened });
    if (!opened.isArmed) armSoon(settle);
  };

  /** Two turns: then it is on the screen, and keys that had come before it have been read. */
  const armSoon = (settle: OpenQuestion["settle"]): void => {
    setImmediate(() => setImmediate(() => arm(settle)));
  };

  /** What is asked; nothing where it has no room beside the answers and was printed. */
  const bodyOf = (question: Question): readonly Line[] => {
    const body = options.body(question);
    if (body.length <= options.room()) return body;
    options.print(body);
    return [];
  };

  const arm = (settle: OpenQuestion["settle"]): void => {
    const { question, editor } = store.get();
    if (question?.settle !== settle) return;
    const isInterrupting = submitText(editor) !== "" && now() - lastTypedMs < TYPING_PAUSE_MS;
    if (isInterrupting) setTimeout(() => arm(settle), TYPING_PAUSE_MS);
    change({ isArmed: !isInterrupting, isInterrupting });
  };

  const change = (part: Partial<OpenQuestion>): void => {
    const { question } = store.get();
    if (question) store.set({ question: { ...question, ...part } });
  };

  const choose = (option: QuestionOption | undefined, { settle }: OpenQuestion): void => {
    if (option === undefined) return;
    if (option.answer === "feedback") change({ stage: "write" });
    else settle(option.answer);
  };

  const chooseKey = (key: KeyInput, open: OpenQuestion): boolean => {
    const shown = filterOptions(open.options, open.filter);
    const move = (by: number): void => change({ selected: clamp(open.selected + by, shown.length) });
    if (key.type === "text") {
      const byKey = open.options.find((option) => option.key === key.text.toLowerCase());
      if (isFiltered(open.options)) change({ filter: open.filter + key.text, selected: 0 });
      else if (byKey) choose(byKey, open);
      else if (/^[1-9]$/.test(key.text)) choose(open.options[Number(key.text) - 1], open);
      return true;
    }
    if (key.type === "paste") {
      // A text is no answer: it belongs to the input, if it is not to narrow the list.
      if (isFiltered(open.options)) change({ filter: open.filter + oneRow(key.text), selected: 0 });
      return isFiltered(open.options);
    }
    if (key.type !== "key") return true;
    switch (key.chord) {
      case "up":
      case "ctrl+p":
        move(-1);
        return true;
      case "down":
      case "ctrl+n":
        move(1);
        return true;
      case "pageup":
        move(-10);
        return true;
      case "pagedown":
        move(10);
        return true;
      case "enter":
        choose(shown[open.selected], open);
        return true;
      case "backspace":
        change({ filter: graphemes(open.filter).slice(0, -1).join(""), selected: 0 });
        return true;
      case "escape":
        open.settle({ dismissed: true });
        return true;
      default:
        // Ctrl+C, Ctrl+Z and their like are for the chat.
        return !/^(ctrl|alt|shift)\+/.test(key.chord);
    }
  };

  const writeKey = (key: KeyInput, open: OpenQuestion): boolean => {
    const { question, text, settle } = open;
    if (key.type === "text" || key.type === "paste") {
      change({ text: edited(text, { type: "insert", text: oneRow(key.text) }) });
      return true;
    }
    if (key.type !== "key") return true;
    if (key.chord === "enter") {
      const said = submitText(text).trim();
      settle(
        question.kind === "text"
          ? { text: said }
          : { decision: "reject", scope: "once", ...(said !== "" && { feedback: said }) },
      );
      return true;
    }
    if (key.chord === "escape") {
      if (question.kind === "text") settle({ dismissed: true });
      else change({ stage: "choose", text: createEditor() });
      return true;
    }
    const action = EDIT_KEYS[key.chord];
    if (action === undefined || action === "newline") return !/^(ctrl|alt|shift)\+/.test(key.chord);
    change({ text: edited(text, action) });
    return true;
  };

  return {
    ask: put(false),
    choose: put(true),
    resized: () => {
      const { question } = store.get();
      if (question && question.body.length > 0) change({ body: bodyOf(question.question) });
    },
    shownAgain: () => {
      const { question } = store.get();
      if (!question) return;
      change({ isArmed: false, isInterrupting: false });
      armSoon(question.settle);
    },
    key: (key) => {
      const { question } = store.get();
      if (!question?.isArmed) {
        if (key.type === "text" || key.type === "paste") lastTypedMs = now();
        // Nobody types an Escape into a message.
        if (!question?.isInterrupting || key.type !== "key" || key.chord !== "escape") return false;
        question.settle({ dismissed: true });
        return true;
      }
      return question.stage === "write" ? writeKey(key, question) : chooseKey(key, question);
    },
  };
};

/** The dialog's own text is one row. */
const edited = (editor: Editor, action: Parameters<typeof edit>[1]): Editor =>
  edit(editor, action, { columns: 1_000_000, chipLabel: () => "" });

const oneRow = (text: string): string => text.replace(/\s*\n\s*/g, " ");

const clamp = (value: number, length: number): number => Math.max(0, Math.min(length - 1, value));
