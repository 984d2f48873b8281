import type { Ask, Question, Reviser } from "../../schema/ask.ts";
import type { Strings } from "../../text/strings.ts";
import { createEditor, type Editor, edit, submitText } from "../input/editor-buffer.ts";
import { EDIT_KEYS } from "../input/keymap.ts";
import type { Line } from "../line.ts";
import { filterOptions, isFiltered, type QuestionOption, questionOptions } from "../question/question-options.ts";
import { type Asked, createQuestionQueue } from "../question/question-queue.ts";
import type { KeyInput } from "../terminal/keys.ts";
import { graphemes } from "../width.ts";
import { type CallChangesOptions, createCallChanges, isForChat } from "./call-changes.ts";
import { createTypingPause } from "./typing-pause.ts";
import type { OpenQuestion, Store } from "./view-state.ts";

export type QuestionsOptions = Pick<CallChangesOptions, "edit" | "hunks" | "hunkRoom"> & {
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
  /** What is asked has no room any more: it is printed above. */
  printAbove(): void;
  /** The terminal is ours again: keys that were meant for another program are no answers. */
  shownAgain(): void;
  /** Whether the key was an answer. A key that was pressed before the question was seen is none. */
  key(key: KeyInput): boolean;
}

export const createQuestions = (options: QuestionsOptions): Questions => {
  const { store, strings, now } = options;
  const hasMessage = (): boolean => submitText(store.get().editor).trim() !== "";
  const pause = createTypingPause({ now, hasMessage });

  const put = createQuestionQueue({
    isTaken: () => store.get().question !== null,
    open: (asked) => open(asked),
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

  const open = ({ question, settle, isCalled, reviser }: Asked): void => {
    // It may have taken a while to come: what the person has begun to type since is no answer to it.
    const isArmed = isCalled && !hasMessage();
    const opened: OpenQuestion = {
      original: question,
      reviser,
      ...shownAs(question, question, reviser),
      filter: "",
      text: createEditor(),
      isArmed,
      isInterrupting: !isArmed && pause.leftMs() > 0,
      settle,
    };
    store.set({ question: opened });
    if (!opened.isArmed) armSoon(settle);
  };

  /** A question as it stands first, or again after a change. */
  const shownAs = (question: Question, original: Question, reviser: Reviser | undefined) => {
    const isChanged = question.kind === "permission" && question.arguments !== argumentsOf(original);
    const offered = questionOptions(question, strings, reviser && { isChanged });
    return {
      question,
      options: offered,
      body: bodyOf(question),
      stage: question.kind === "text" ? ("write" as const) : ("choose" as const),
      selected: firstSelected(question, offered),
    };
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

  const printAbove = (): void => {
    const { question: open } = store.get();
    if (!open || open.body.length === 0) return;
    // First: printing changes the state, and whoever looks at that calls again.
    change({ body: [] });
    options.print(open.body);
  };

  const arm = (settle: OpenQuestion["settle"]): void => {
    const { question } = store.get();
    if (question?.settle !== settle || question.isArmed || calls.isChanging(settle)) return;
    const restMs = pause.leftMs();
    const isInterrupting = restMs > 0;
    if (isInterrupting) setTimeout(() => arm(settle), restMs);
    change({ isArmed: !isInterrupting, isInterrupting });
  };

  const change = (part: Partial<OpenQuestion>): void => {
    const { question } = store.get();
    if (question) store.set({ question: { ...question, ...part } });
  };

  const choose = (option: QuestionOption | undefined, open: OpenQuestion): void => {
    const { answer } = option ?? {};
    switch (answer) {
      case undefined:
        return;
      case "feedback":
        change({ stage: "write" });
        return;
      case "edit":
        calls.edit(open);
        return;
      case "hunks":
        calls.chooseHunks(open);
        return;
      case "restore":
        calls.restore(open);
        return;
      default:
        open.settle(answer);
    }
  };

  const calls = createCallChanges({
    ...options,
    standing: () => store.get().question,
    change,
    showAgain: (question, part) => {
      const { question: open } = store.get();
      if (!open) return;
      const shown = shownAs(question, open.original ?? question, open.reviser);
      change({ ...shown, ...part, hunks: undefined, isArmed: false, isInterrupting: pause.leftMs() > 0 });
      armSoon(open.settle);
    },
  });

  const chooseKey = (key: KeyInput, open: OpenQuestion): boolean => {
    const shown = filterOptions(open.options, open.filter);
    const move = (by: number): void => change({ selected: clamp(open.selected + by, shown.length) });
    if (key.type === "text") {
      const byKey = open.options.find((option) => option.key === key.text.toLowerCase());
      const byNumber = /^[1-9]$/.test(key.text) ? open.options[Number(key.text) - 1] : undefined;
      if (isFiltered(open.options)) change({ filter: open.filter + key.text, selected: 0 });
      else if (byKey ?? byNumber) choose(byKey ?? byNumber, open);
      else return typed(open);
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
        // Whoever has a message in the input and has chosen nothing here means the message.
        if (isUntouched(open) && hasMessage()) return false;
        choose(shown[open.selected], open);
        return true;
      case "backspace":
        change({ filter: graphemes(open.filter).slice(0, -1).join(""), selected: 0 });
        return true;
      case "escape":
        open.settle({ dismissed: true });
        return true;
      default:
        return !isForChat(key);
    }
  };

  /** What is no answer belongs to a message, and so does what follows it, until the person pauses. */
  const typed = ({ settle }: OpenQuestion): false => {
    change({ isArmed: false, isInterrupting: true });
    armSoon(settle);
    return false;
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
    if (action === undefined || action === "newline") return !isForChat(key);
    change({ text: edited(text, action) });
    return true;
  };

  return {
    ask: put(false),
    choose: put(true),
    resized: () => {
      const { question: open } = store.get();
      if (!open) return;
      if (open.body.length > 0) {
        change({ body: options.body(open.question) });
        if ((store.get().question?.body.length ?? 0) > options.room()) printAbove();
      }
      calls.resized(open);
    },
    printAbove,
    shownAgain: () => {
      const { question } = store.get();
      if (!question) return;
      change({ isArmed: false, isInterrupting: false });
      armSoon(question.settle);
    },
    key: (key) => {
      const { question } = store.get();
      pause.pressed(key);
      if (!question?.isArmed) {
        // Nobody types an Escape into a message.
        if (!question?.isInterrupting || key.type !== "key" || key.chord !== "escape") return false;
        question.settle({ dismissed: true });
        return true;
      }
      switch (question.stage) {
        case "choose":
          return chooseKey(key, question);
        case "write":
          return writeKey(key, question);
        case "hunks":
          return calls.hunksKey(key, question);
        default:
          return question.stage satisfies never;
      }
    },
  };
};

/** The dialog's own text is one row. */
const edited = (editor: Editor, action: Parameters<typeof edit>[1]): Editor =>
  edit(editor, action, { columns: 1_000_000, chipLabel: () => "" });

/** Enter alone must not run what the guard warns of. */
const firstSelected = (question: Question, options: readonly QuestionOption[]): number =>
  question.kind === "permission" && question.by === "guard" ? options.length - 1 : 0;

/** Whether no answer has been chosen by the arrows or a filter. */
const isUntouched = ({ question, options, selected, filter }: OpenQuestion): boolean =>
  filter === "" && selected === firstSelected(question, options);

const argumentsOf = (question: Question): string | undefined =>
  question.kind === "permission" ? question.arguments : undefined;

const oneRow = (text: string): string => text.replace(/\s*\n\s*/g, " ");

const clamp = (value: number, length: number): number => Math.max(0, Math.min(length - 1, value));
