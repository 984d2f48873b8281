import type { Ask, PermissionQuestion, Question, Reviser } from "../../schema/ask.ts";
import { errorMessage } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";
import { createEditor, type Editor, edit, submitText } from "../input/editor-buffer.ts";
import { EDIT_KEYS } from "../input/keymap.ts";
import type { Line } from "../line.ts";
import { chooseHunks, type HunkChoice, hunkKey } from "../question/hunk-choice.ts";
import { filterOptions, isFiltered, type QuestionOption, questionOptions } from "../question/question-options.ts";
import { type Asked, createQuestionQueue } from "../question/question-queue.ts";
import { afterChange, type EditDraft, editCall, keepOnly } from "../question/revise-question.ts";
import type { KeyInput } from "../terminal/keys.ts";
import type { DiffData } from "../transcript/changed-lines.ts";
import { graphemes } from "../width.ts";
import type { OpenQuestion, Store } from "./view-state.ts";

/** Who pauses that long has read what stands there. */
const TYPING_PAUSE_MS = 500;
/** A second press of a key comes sooner than that; nobody has read a question in the time. */
const KEY_PAUSE_MS = 300;
const LEAST_HUNK_ROWS = 4;

export type QuestionsOptions = {
  readonly store: Store;
  readonly strings: Strings["question"];
  readonly now: () => number;
  /** What is asked, as lines. */
  readonly body: (question: Question) => readonly Line[];
  /** The rows of each hunk of what is asked about. */
  readonly hunks: (diff: DiffData) => HunkChoice["hunks"];
  /** Lets the person's editor have the terminal; `shownAgain` is called after it. */
  readonly edit: EditDraft;
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
  let lastKeyMs = Number.NEGATIVE_INFINITY;
  /** The question that is being changed: no key answers it meanwhile. */
  let changing: OpenQuestion["settle"] | null = null;

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
    const isArmed = isCalled && submitText(store.get().editor) === "";
    const opened: OpenQuestion = {
      original: question,
      reviser,
      ...shownAs(question, question, reviser),
      filter: "",
      text: createEditor(),
      isArmed,
      isInterrupting: !isArmed && pauseLeftMs() > 0,
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
      // Enter alone must not run what the guard warns of.
      selected: question.kind === "permission" && question.by === "guard" ? offered.length - 1 : 0,
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

  const arm = (settle: OpenQuestion["settle"]): void => {
    const { question } = store.get();
    if (question?.settle !== settle || question.isArmed || changing === settle) return;
    const restMs = pauseLeftMs();
    const isInterrupting = restMs > 0;
    if (isInterrupting) setTimeout(() => arm(settle), restMs);
    change({ isArmed: !isInterrupting, isInterrupting });
  };

  /** How much longer nobody may type, that a key can be an answer to what stands there since. */
  const pauseLeftMs = (): number => {
    const pauseMs = submitText(store.get().editor) === "" ? KEY_PAUSE_MS : TYPING_PAUSE_MS;
    return lastKeyMs + pauseMs - now();
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
        revise(open, (reviser, question) => editCall(reviser, question, options.edit));
        return;
      case "hunks": {
        const { question } = open;
        if (question.kind !== "permission" || question.preview?.type !== "diff") return;
        change({ stage: "hunks", hunks: chooseHunks(options.hunks(question.preview)) });
        return;
      }
      case "restore":
        if (open.original) showAgain(open, { ...shownAs(open.original, open.original, open.reviser), note: undefined });
        return;
      default:
        open.settle(answer);
    }
  };

  /** Nothing is answered by a change: the question comes back with what it would do now, and is seen before keys answer it. */
  const revise = (
    { question, original = question, reviser, settle }: OpenQuestion,
    make: (reviser: Reviser, question: PermissionQuestion) => ReturnType<typeof editCall>,
  ): void => {
    if (question.kind !== "permission" || !reviser) return;
    changing = settle;
    change({ isArmed: false });
    const stands = (): OpenQuestion | undefined => {
      const { question: open } = store.get();
      return open?.settle === settle ? open : undefined;
    };
    void make(reviser, question)
      .catch((error: unknown) => ({ type: "problem" as const, problem: errorMessage(error) }))
      .then((changed) => {
        changing = null;
        const open = stands();
        // It was dismissed meanwhile.
        if (!open) return;
        const after = afterChange(changed, question, strings);
        if (!("question" in after)) return settle(after);
        const note = { text: after.note, isProblem: after.isProblem };
        const isOriginal = after.question.arguments === question.arguments && question === original;
        showAgain(open, {
          ...shownAs(after.question, original, reviser),
          ...(isOriginal && { original: after.question }),
          note,
        });
      });
  };

  const showAgain = ({ settle }: OpenQuestion, part: Partial<OpenQuestion>): void => {
    change({ ...part, hunks: undefined, isArmed: false, isInterrupting: pauseLeftMs() > 0 });
    armSoon(settle);
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

  const hunksKey = (key: KeyInput, open: OpenQuestion): boolean => {
    const { hunks } = open;
    if (!hunks) return false;
    if (key.type === "key" && key.chord === "escape") {
      change({ stage: "choose", hunks: undefined });
      return true;
    }
    if (key.type === "key" && key.chord === "enter") {
      revise(open, (reviser, question) => keepOnly(reviser, question, hunks.kept));
      return true;
    }
    const next = hunkKey(hunks, key, Math.max(LEAST_HUNK_ROWS, options.room()));
    if (next) change({ hunks: next });
    return next !== undefined || key.type !== "key" || !/^(ctrl|alt|shift)\+/.test(key.chord);
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
      const { question: open } = store.get();
      if (open && open.body.length > 0) change({ body: bodyOf(open.question) });
      if (open?.hunks && open.question.kind === "permission" && open.question.preview?.type === "diff")
        change({ hunks: { ...open.hunks, hunks: options.hunks(open.question.preview), scroll: 0 } });
    },
    shownAgain: () => {
      const { question } = store.get();
      if (!question) return;
      change({ isArmed: false, isInterrupting: false });
      armSoon(question.settle);
    },
    key: (key) => {
      const { question } = store.get();
      if (isTyped(key)) lastKeyMs = now();
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
          return hunksKey(key, question);
        default:
          return question.stage satisfies never;
      }
    },
  };
};

/** The dialog's own text is one row. */
const edited = (editor: Editor, action: Parameters<typeof edit>[1]): Editor =>
  edit(editor, action, { columns: 1_000_000, chipLabel: () => "" });

/** What could have been an answer. */
const isTyped = (key: KeyInput): boolean =>
  key.type === "text" || key.type === "paste" || (key.type === "key" && key.chord === "enter");

const argumentsOf = (question: Question): string | undefined =>
  question.kind === "permission" ? question.arguments : undefined;

const oneRow = (text: string): string => text.replace(/\s*\n\s*/g, " ");

const clamp = (value: number, length: number): number => Math.max(0, Math.min(length - 1, value));
