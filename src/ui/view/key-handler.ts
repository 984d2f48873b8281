import { withoutKey } from "../commands/slash-commands.ts";
import type { Completer } from "../input/completer.ts";
import {
  createEditor,
  type Editor,
  type EditView,
  edit,
  emptied,
  endsWithBackslash,
  hasRow,
  isEmpty,
  replaceRange,
  setText,
  submitText,
} from "../input/editor-buffer.ts";
import { EDIT_KEYS } from "../input/keymap.ts";
import {
  acceptMatch,
  createHistory,
  type PromptHistory,
  recallNewer,
  recallOlder,
  remember,
  searchFor,
  searchNewer,
  searchOlder,
  startSearch,
} from "../input/prompt-history.ts";
import type { KeyInput } from "../terminal/keys.ts";
import { graphemes } from "../width.ts";
import type { Questions } from "./questions.ts";
import type { Store } from "./view-state.ts";

/** A second press within this time means it. */
const TWICE_MS = 1500;

export type KeyHandlerOptions = {
  readonly store: Store;
  readonly questions: Questions;
  readonly completer: Completer;
  /** How the input stands on the screen now. */
  readonly view: () => EditView;
  readonly now: () => number;
  readonly strings: {
    readonly leaveHint: string;
    readonly clearHint: string;
    readonly rewindHint: string;
    readonly inputKept: string;
  };
  readonly actions: {
    readonly submit: (text: string) => void;
    readonly interrupt: () => boolean;
    readonly rewind: () => void;
    readonly takeBack: () => string | undefined;
    readonly leave: () => void;
    readonly cycleMode: () => void;
    readonly showLastStep: () => void;
    readonly showLastThought: () => void;
    readonly redraw: () => void;
    readonly suspend: () => void;
    readonly openEditor: () => void;
  };
};

export interface KeyHandler {
  key(key: KeyInput): void;
  /** What earlier sessions have sent. */
  addHistory(entries: readonly string[]): void;
  /** Puts text before what stands in the input. */
  restore(text: string): void;
  /** Another text in the input; undo brings the old one back. */
  replace(text: string): void;
}

/** What each key does, wherever it is pressed. */
export const createKeyHandler = (options: KeyHandlerOptions): KeyHandler => {
  const { store, questions, completer, now, strings, actions } = options;
  let history: PromptHistory = createHistory([]);
  let pressed: { readonly chord: string; readonly atMs: number } = { chord: "", atMs: 0 };
  let hintTimer: NodeJS.Timeout | undefined;

  const isSecond = (chord: string): boolean => {
    const isTwice = pressed.chord === chord && now() - pressed.atMs < TWICE_MS;
    pressed = isTwice ? { chord: "", atMs: 0 } : { chord, atMs: now() };
    return isTwice;
  };

  const hint = (text: string): void => {
    clearTimeout(hintTimer);
    hintTimer = setTimeout(() => store.set({ hint: null }), TWICE_MS).unref();
    store.set({ hint: text });
  };

  const put = (editor: Editor): void => {
    store.set({ editor, hint: null, showsKeys: false });
    completer.update(editor.text, editor.cursor);
  };

  const apply = (action: Parameters<typeof edit>[1]): void => put(edit(store.get().editor, action, options.view()));

  const send = (): void => {
    const { editor } = store.get();
    const whole = submitText(editor);
    // The space that a completion leaves behind a command.
    const text = isBareCommand(editor) ? whole.trimEnd() : whole;
    if (text.trim() === "") return;
    history = remember(history, withoutKey(text));
    put(emptied(editor));
    actions.submit(text);
  };

  const enter = (): void => {
    const { editor } = store.get();
    if (completer.isOpen && acceptSelected()) {
      // A command is carried out at once; a file is a word of a message that goes on.
      if (isBareCommand(store.get().editor)) send();
    } else if (endsWithBackslash(editor)) put(replaceRange(editor, editor.cursor - 1, editor.cursor, "\n"));
    else send();
  };

  /** Whether something has changed by it. */
  const acceptSelected = (): boolean => {
    const { editor } = store.get();
    const kind = completer.kind;
    const made = completer.accept(editor.text);
    if (!made) return false;
    const isSame = editor.text.slice(made.start, made.end) === made.replacement.trimEnd();
    const before = replaceRange(editor, made.start, made.end, made.replacement);
    put({ ...before, cursor: Math.min(made.cursor, before.text.length) });
    if (kind === "file" && made.replacement.endsWith("/")) return true;
    if (kind !== "file" || isSame) completer.close();
    return kind !== "file" || !isSame;
  };

  const older = (): boolean => {
    const { editor } = store.get();
    const taken = isEmpty(editor) ? actions.takeBack() : undefined;
    if (taken !== undefined) {
      put(setText(editor, taken));
      return true;
    }
    return recalled(recallOlder(history, editor));
  };

  const recalled = (found: ReturnType<typeof recallOlder>): boolean => {
    if (!found) return false;
    history = found.history;
    store.set({ editor: found.editor, hint: null, showsKeys: false });
    completer.close();
    return true;
  };

  const row = (direction: "up" | "down"): void => {
    const { editor } = store.get();
    if (completer.isOpen) completer.move(direction === "up" ? -1 : 1);
    else if (hasRow(editor, direction, options.view())) apply(direction);
    else if (!(direction === "up" ? older() : recalled(recallNewer(history, editor))))
      // At the end of the history the cursor goes to the end of the text.
      apply(direction === "up" ? "text-start" : "text-end");
  };

  const interrupt = (): void => {
    if (completer.isOpen) completer.close();
    else if (store.get().showsKeys) store.set({ showsKeys: false });
    else if (actions.interrupt() || (store.get().isStopping && isEmpty(store.get().editor))) return;
    else if (!isSecond("escape")) hint(isEmpty(store.get().editor) ? strings.rewindHint : strings.clearHint);
    else if (isEmpty(store.get().editor)) goBack();
    else clearInput();
  };

  const goBack = (): void => {
    store.set({ hint: null });
    actions.rewind();
  };

  const clearInput = (): void => {
    const { editor } = store.get();
    history = remember(history, submitText(editor));
    put(emptied(editor));
    hint(strings.inputKept);
  };

  const cancel = (): void => {
    const { question, editor } = store.get();
    if (isSecond("ctrl+c")) {
      actions.leave();
      return;
    }
    question?.settle({ dismissed: true });
    if (!actions.interrupt() && question === null && !isEmpty(editor)) clearInput();
    else hint(strings.leaveHint);
  };

  const searchKey = (key: KeyInput): boolean => {
    const { search } = store.get();
    if (!search) return false;
    const show = (next: typeof search): void => store.set({ search: next });
    if (key.type === "text" || key.type === "paste")
      show(searchFor(history, search, search.query + key.text.replace(/\n/g, " ")));
    if (key.type !== "key") return true;
    switch (key.chord) {
      case "ctrl+r":
      case "up":
        show(searchOlder(history, search));
        return true;
      case "ctrl+s":
      case "down":
        show(searchNewer(history, search));
        return true;
      case "backspace":
        show(searchFor(history, search, graphemes(search.query).slice(0, -1).join("")));
        return true;
      case "escape":
      case "ctrl+g":
      case "ctrl+c":
        store.set({ search: null });
        return true;
      default: {
        // Any other key takes the match into the input, and does there what it does.
        const accepted = acceptMatch(history, search, store.get().editor);
        store.set({ search: null });
        recalled(accepted);
        return key.chord === "enter" || key.chord === "tab";
      }
    }
  };

  const chords: Readonly<Record<string, () => void>> = {
    enter,
    tab: () => {
      const { editor } = store.get();
      if (completer.isOpen) acceptSelected();
      else completer.open(editor.text, editor.cursor);
    },
    escape: interrupt,
    up: () => row("up"),
    "ctrl+p": () => row("up"),
    down: () => row("down"),
    "ctrl+n": () => row("down"),
    "ctrl+c": cancel,
    "ctrl+d": () => {
      if (isEmpty(store.get().editor)) actions.leave();
      else apply("erase-right");
    },
    "shift+tab": actions.cycleMode,
    "ctrl+o": actions.showLastStep,
    "ctrl+t": actions.showLastThought,
    "ctrl+l": actions.redraw,
    "ctrl+z": actions.suspend,
    "ctrl+g": actions.openEditor,
    "ctrl+r": () => {
      completer.close();
      store.set({ search: startSearch(), showsKeys: false, hint: null });
    },
  };

  const chordKey = (chord: string): void => {
    const action = EDIT_KEYS[chord];
    const act = chords[chord];
    if (act) act();
    else if (action !== undefined) apply(action);
  };

  const handle = (key: KeyInput): void => {
    if (key.type === "reply") return;
    const quick = key.type === "key" && store.get().question !== null ? /^alt\+(.)$/.exec(key.chord)?.[1] : undefined;
    if (quick !== undefined) {
      // A dialog has no use for Alt: it is an Escape that the next letter followed at once.
      handle({ type: "key", chord: "escape" });
      handle({ type: "text", text: quick });
      return;
    }
    if (key.type !== "key" || (key.chord !== "escape" && key.chord !== "ctrl+c")) pressed = { chord: "", atMs: 0 };
    if (questions.key(key) || searchKey(key)) return;
    if (key.type === "key") chordKey(key.chord);
    else if (key.type === "text" && key.text === "?" && isEmpty(store.get().editor))
      store.set({ showsKeys: !store.get().showsKeys });
    else apply({ type: key.type === "paste" ? "paste" : "insert", text: key.text });
  };

  return {
    key: handle,
    addHistory: (entries) => {
      const { editor } = store.get();
      history = createHistory([...entries, ...history.entries]);
      store.set({ editor });
    },
    restore: (text) => {
      const { editor } = store.get();
      const before = isEmpty(editor) ? text : `${text}\n${submitText(editor)}`;
      put(isEmpty(editor) ? setText(editor, before) : { ...createEditor(before), kills: editor.kills });
    },
    replace: (text) => put(setText(store.get().editor, text)),
  };
};

const isBareCommand = ({ text }: Editor): boolean => /^\/[\w:-]+\s*$/.test(text);
