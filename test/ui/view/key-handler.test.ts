import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Chat } from "../../../src/session/chat.ts";
import { en } from "../../../src/text/en.ts";
import { createCompleter } from "../../../src/ui/input/completer.ts";
import { submitText } from "../../../src/ui/input/editor-buffer.ts";
import type { KeyInput } from "../../../src/ui/terminal/keys.ts";
import { createKeyHandler } from "../../../src/ui/view/key-handler.ts";
import { createQuestions } from "../../../src/ui/view/questions.ts";
import { createStore, emptyState } from "../../../src/ui/view/view-state.ts";
import { permission } from "../../helpers/live-region.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const FILES = ["README.md", "src/", "src/date.ts", "src/a b.ts"];

/** Of a machine only what completion asks it for. */
const machine = {
  info: () => ({ provider: "openai" }),
  listFiles: async () => FILES,
  listModels: async () => [
    { provider: "openai", id: "gpt", contextWindow: null, prices: null, isCurrent: true },
    { provider: "ollama", id: "llama", contextWindow: null, prices: null, isCurrent: false },
  ],
  loginProviders: () => [{ name: "openai", keyVariable: "OPENAI_API_KEY", hasKey: false }],
  skills: { list: () => [] },
} as unknown as Chat;

const open = ({
  isRunning = false,
  queued = [],
}: {
  readonly isRunning?: boolean;
  readonly queued?: string[];
} = {}) => {
  const store = createStore(emptyState(0));
  const done: string[] = [];
  const signal = new AbortController().signal;
  const questions = createQuestions({
    store,
    strings: en.question,
    now: () => Date.now(),
    body: () => [],
    hunks: () => [],
    edit: async ({ text }) => text,
    room: () => 10,
    hunkRoom: () => 10,
    print: () => undefined,
    onChange: () => undefined,
  });
  const completer = createCompleter({
    chat: () => machine,
    strings: en.commands,
    show: (menu) => store.set({ menu }),
    signal,
  });
  let running = isRunning;
  const keys = createKeyHandler({
    store,
    questions,
    completer,
    view: () => ({ columns: 40, chipLabel: () => "[paste]" }),
    now: () => Date.now(),
    strings: { ...en.ui, rewindHint: en.rewind.escapeHint },
    actions: {
      submit: (text) => done.push(`submit ${text}`),
      interrupt: () => {
        if (!running) return false;
        running = false;
        done.push("interrupt");
        return true;
      },
      rewind: () => done.push("rewind"),
      takeBack: () => queued.pop(),
      leave: () => done.push("leave"),
      cycleMode: () => done.push("cycleMode"),
      showLastStep: () => done.push("showLastStep"),
      showLastThought: () => done.push("showLastThought"),
      redraw: () => done.push("redraw"),
      suspend: () => done.push("suspend"),
      openEditor: () => done.push("openEditor"),
    },
  });
  const press = (...pressed: readonly string[]): void => {
    for (const one of pressed) keys.key(keyOf(one));
  };
  const editor = () => store.get().editor;
  /** The text of the input, the cursor as |. */
  const shown = (): string => `${editor().text.slice(0, editor().cursor)}|${editor().text.slice(editor().cursor)}`;
  const labels = (): readonly string[] | undefined => store.get().menu?.items.map(({ label }) => label);
  /** Until what is loaded has come. */
  const loaded = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { store, done, questions, keys, press, shown, editor, labels, loaded, signal };
};

/** `<chord>` or text. */
const keyOf = (written: string): KeyInput => {
  const [, chord] = /^<(.+)>$/.exec(written) ?? [];
  return chord === undefined ? { type: "text", text: written } : ({ type: "key", chord } as KeyInput);
};

describe("Enter", () => {
  test.each<readonly [string, readonly string[], string, readonly string[]]>([
    ["sends", ["hello", "<enter>"], "|", ["submit hello"]],
    ["sends no blanks", ["  ", "<enter>"], "  |", []],
    ["sends nothing of nothing", ["<enter>"], "|", []],
    ["behind a backslash is a new line", ["one\\", "<enter>", "two"], "one\ntwo|", []],
    ["behind two backslashes sends them", ["one\\\\", "<enter>"], "|", ["submit one\\\\"]],
    ["behind a backslash in the middle is a new line there", ["a\\b", "<left>", "<enter>"], "a\n|b", []],
    ["with Shift, Alt or as Ctrl+J is a new line", ["a", "<shift+enter>", "<alt+enter>", "<ctrl+j>"], "a\n\n\n|", []],
  ])("%s", (_name, pressed, shown, done) => {
    const chat = open();
    chat.press(...pressed);
    expect(chat.shown()).toBe(shown);
    expect(chat.done).toEqual(done);
  });

  test("sends a paste in full", () => {
    const chat = open();
    const paste = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n");
    chat.keys.key({ type: "paste", text: paste });
    expect(chat.editor().text).not.toContain("line");
    chat.press("<enter>");
    expect(chat.done).toEqual([`submit ${paste}`]);
  });
});

describe("keys that act", () => {
  test.each([
    ["<shift+tab>", "cycleMode"],
    ["<ctrl+o>", "showLastStep"],
    ["<ctrl+t>", "showLastThought"],
    ["<ctrl+l>", "redraw"],
    ["<ctrl+z>", "suspend"],
    ["<ctrl+g>", "openEditor"],
    ["<ctrl+d>", "leave"],
  ])("%s does %s and leaves the input", (key, done) => {
    const chat = open();
    chat.press(key);
    expect(chat.done).toEqual([done]);
    expect(chat.shown()).toBe("|");
  });

  test("Ctrl+D in a text erases to the right", () => {
    const chat = open();
    chat.press("ab", "<left>", "<ctrl+d>", "<ctrl+d>");
    expect(chat.shown()).toBe("a|");
    expect(chat.done).toEqual([]);
  });

  test("? shows the keys in an empty input, hides them again, and is text in any other", () => {
    const chat = open();
    chat.press("?");
    expect(chat.store.get().showsKeys).toBe(true);
    chat.press("?");
    expect(chat.store.get().showsKeys).toBe(false);
    chat.press("?", "<escape>");
    expect(chat.store.get().showsKeys).toBe(false);
    chat.press("?", "w");
    expect(chat.store.get().showsKeys).toBe(false);
    chat.press("hy?");
    chat.press("?");
    expect(chat.shown()).toBe("why??|");
  });

  test("an answer of the terminal is no key", () => {
    const chat = open();
    chat.keys.key({ type: "reply", reply: { kind: "background", red: 0, green: 0, blue: 0 } } as KeyInput);
    expect(chat.shown()).toBe("|");
  });
});

describe("Esc and Ctrl+C", () => {
  test("Esc stops what runs and keeps the text", () => {
    const chat = open({ isRunning: true });
    chat.press("draft", "<escape>");
    expect(chat.done).toEqual(["interrupt"]);
    expect(chat.shown()).toBe("draft|");
    expect(chat.store.get().hint).toBeNull();
  });

  test("Esc twice clears the text, which Up and undo bring back", () => {
    const chat = open();
    chat.press("draft", "<escape>");
    expect(chat.store.get().hint).toBe(en.ui.clearHint);
    chat.press("<escape>");
    expect(chat.shown()).toBe("|");
    expect(chat.store.get().hint).toBe(en.ui.inputKept);
    chat.press("<up>");
    expect(chat.shown()).toBe("draft|");
  });

  test("Esc twice on an empty input goes back; what it has just emptied does not count", () => {
    const chat = open({ isRunning: true });
    chat.press("draft", "<escape>", "<escape>", "<escape>");
    expect([chat.done, chat.shown()]).toEqual([["interrupt"], "|"]);
    chat.press("<escape>");
    expect(chat.store.get().hint).toBe(en.rewind.escapeHint);
    vi.advanceTimersByTime(1600);
    chat.press("<escape>");
    expect(chat.done).toEqual(["interrupt"]);
    chat.press("<escape>");
    expect([chat.done, chat.store.get().hint]).toEqual([["interrupt", "rewind"], null]);
  });

  test("Esc twice with a key between, or with a pause, clears nothing", () => {
    const chat = open();
    chat.press("draft", "<escape>", "s", "<escape>");
    expect(chat.shown()).toBe("drafts|");
    vi.advanceTimersByTime(1600);
    expect(chat.store.get().hint).toBeNull();
    chat.press("<escape>");
    expect(chat.shown()).toBe("drafts|");
  });

  test("Ctrl+C stops what runs, then clears the text, then leaves", () => {
    const chat = open({ isRunning: true });
    chat.press("draft", "<ctrl+c>");
    expect(chat.done).toEqual(["interrupt"]);
    expect(chat.shown()).toBe("draft|");
    vi.advanceTimersByTime(2000);
    chat.press("<ctrl+c>");
    expect(chat.shown()).toBe("|");
    expect(chat.done).toEqual(["interrupt"]);
    vi.advanceTimersByTime(2000);
    chat.press("<ctrl+c>");
    expect(chat.store.get().hint).toBe(en.ui.leaveHint);
    vi.advanceTimersByTime(2000);
    expect(chat.store.get().hint).toBeNull();
    chat.press("<ctrl+c>", "x", "<backspace>", "<ctrl+c>");
    expect(chat.done).toEqual(["interrupt"]);
    chat.press("<ctrl+c>");
    expect(chat.done).toEqual(["interrupt", "leave"]);
  });

  test("Ctrl+C refuses the question that stands and stops the run", async () => {
    const chat = open({ isRunning: true });
    const answer = chat.questions.ask(permission(), chat.signal);
    await chat.loaded();
    chat.press("<ctrl+c>");
    expect(await answer).toEqual({ dismissed: true });
    expect(chat.done).toEqual(["interrupt"]);
    expect(chat.store.get().hint).toBe(en.ui.leaveHint);
  });

  test("keys go to the input until the question has been seen, and to the question from then on", async () => {
    const chat = open();
    const answer = chat.questions.ask(permission(), chat.signal);
    chat.press("<ctrl+a>");
    await chat.loaded();
    chat.press("y");
    expect(await answer).toEqual({ decision: "allow", scope: "once" });
    chat.press("y");
    expect(chat.shown()).toBe("y|");
  });
});

describe("what was sent before", () => {
  test("comes back with Up, edited or not, and the draft with Down", () => {
    const chat = open();
    chat.keys.addHistory(["old"]);
    chat.press("one", "<enter>", "two", "<enter>", "draft");
    chat.press("<up>");
    expect(chat.shown()).toBe("two|");
    chat.press("!", "<up>");
    expect(chat.shown()).toBe("one|");
    chat.press("<up>");
    expect(chat.shown()).toBe("old|");
    chat.press("<up>");
    expect(chat.shown()).toBe("|old");
    chat.press("<down>", "<down>");
    expect(chat.shown()).toBe("two!|");
    chat.press("<ctrl+n>");
    expect(chat.shown()).toBe("draft|");
    chat.press("<home>", "<down>");
    expect(chat.shown()).toBe("draft|");
  });

  test("is reached from the first row of a text only", () => {
    const chat = open();
    chat.press("sent", "<enter>", "one", "<ctrl+j>", "two", "<up>");
    expect(chat.shown()).toBe("one|\ntwo");
    chat.press("<up>");
    expect(chat.shown()).toBe("sent|");
  });

  test("still waits in the queue: Up takes the newest of that back into an empty input first", () => {
    const chat = open({ queued: ["first", "second"] });
    chat.press("sent", "<enter>", "<up>");
    expect(chat.shown()).toBe("second|");
    chat.press("<up>");
    expect(chat.shown()).toBe("sent|");
    chat.press("<ctrl+u>", "<up>");
    expect(chat.shown()).toBe("first|");
  });

  test("opens no menu while one goes through it", async () => {
    const chat = open();
    chat.press("/help", "<enter>", "<up>");
    await chat.loaded();
    expect(chat.shown()).toBe("/help|");
    expect(chat.labels()).toBeUndefined();
  });
});

describe("Ctrl+R", () => {
  const searching = () => {
    const chat = open();
    chat.keys.addHistory(["fix the test", "explain", "run the test again"]);
    chat.press("draft", "<ctrl+r>");
    return chat;
  };

  test.each<readonly [string, readonly string[], string, boolean]>([
    ["finds the newest, which Enter takes but does not send", ["test", "<enter>"], "run the test again|", false],
    ["Ctrl+R again finds an older one", ["test", "<ctrl+r>", "<tab>"], "fix the test|", false],
    ["Down goes back to a newer one", ["test", "<up>", "<down>", "<enter>"], "run the test again|", false],
    ["Esc keeps the draft", ["test", "<escape>"], "draft|", false],
    ["Ctrl+C keeps the draft and does not leave", ["test", "<ctrl+c>"], "draft|", false],
    ["another key takes it and does what it does", ["test", "<ctrl+a>"], "|run the test again", false],
    ["without a match Enter keeps the draft", ["nonsense", "<enter>"], "draft|", false],
    ["Backspace shortens the query", ["testx", "<backspace>", "<enter>"], "run the test again|", false],
    ["goes on while one types", ["te"], "draft|", true],
  ])("%s", (_name, pressed, shown, isOpen) => {
    const chat = searching();
    chat.press(...pressed);
    expect(chat.shown()).toBe(shown);
    expect(chat.store.get().search !== null).toBe(isOpen);
    expect(chat.done).toEqual([]);
  });

  test("the draft is still there behind what was found", () => {
    const chat = searching();
    chat.press("explain", "<enter>", "<down>", "<down>");
    expect(chat.shown()).toBe("draft|");
  });

  test("a pasted query is one row", () => {
    const chat = searching();
    chat.keys.key({ type: "paste", text: "the\ntest" });
    expect(chat.store.get().search?.query).toBe("the test");
  });
});

describe("the menu", () => {
  test("of commands follows what is typed, moves with the arrows and is taken with Tab", async () => {
    const chat = open();
    chat.press("/mo");
    await chat.loaded();
    expect(chat.labels()?.[0]).toBe("/model");
    chat.press("<down>", "<up>", "<up>", "<down>", "<tab>");
    expect(chat.shown()).toBe("/model |");
    expect(chat.done).toEqual([]);
  });

  test("a command that Enter takes is carried out at once", async () => {
    const chat = open();
    chat.press("/hel");
    await chat.loaded();
    chat.press("<enter>");
    expect(chat.done).toEqual(["submit /help"]);
    expect(chat.shown()).toBe("|");
    expect(chat.labels()).toBeUndefined();
  });

  test("a file that Enter takes is a word of a message that goes on", async () => {
    const chat = open();
    chat.press("see @dat");
    await chat.loaded();
    chat.press("<enter>");
    expect(chat.shown()).toBe("see @src/date.ts |");
    expect(chat.done).toEqual([]);
    chat.press("<enter>");
    expect(chat.done).toEqual(["submit see @src/date.ts "]);
  });

  test("a folder stays open, a name with a space is quoted", async () => {
    const chat = open();
    chat.press("@sr");
    await chat.loaded();
    const at = chat.labels()?.indexOf("src/") ?? -1;
    chat.press(...Array<string>(at).fill("<down>"), "<tab>");
    expect(chat.shown()).toBe("@src/|");
    await chat.loaded();
    expect(chat.labels()).toContain("src/a b.ts");
    chat.press("a b");
    chat.press("<backspace>", "<backspace>");
    await chat.loaded();
    const named = chat.labels()?.indexOf("src/a b.ts") ?? -1;
    chat.press(...Array<string>(named).fill("<down>"), "<tab>");
    expect(chat.shown()).toBe('@"src/a b.ts" |');
  });

  test("a file that is typed in full is sent with Enter", async () => {
    const chat = open();
    chat.press("@README.md");
    await chat.loaded();
    chat.press("<enter>");
    expect(chat.done).toEqual(["submit @README.md "]);
  });

  test.each([
    ["/thinking ", "/thinking off|"],
    ["/theme da", "/theme dark|"],
    ["/model lla", "/model ollama/llama|"],
    ["/login ", "/login openai|"],
    ["/permissions pl", "/permissions plan|"],
  ])("completes the argument of %s with Enter, and sends it with the next", async (typed, shown) => {
    const chat = open();
    chat.press(typed);
    await chat.loaded();
    chat.press("<enter>");
    expect(chat.shown()).toBe(shown);
    chat.press("<enter>");
    expect(chat.done).toEqual([`submit ${shown.slice(0, -1)}`]);
  });

  test("Esc closes it before it stops anything, until another word is begun", async () => {
    const chat = open({ isRunning: true });
    chat.press("/he");
    await chat.loaded();
    chat.press("<escape>");
    expect(chat.labels()).toBeUndefined();
    expect(chat.done).toEqual([]);
    chat.press("l");
    expect(chat.labels()).toBeUndefined();
    chat.press("<ctrl+u>", "/");
    expect(chat.labels()).toBeDefined();
    chat.press("<escape>", "<escape>");
    expect(chat.done).toEqual(["interrupt"]);
  });

  test("Tab opens again what Esc has closed", async () => {
    const chat = open();
    chat.press("/he");
    await chat.loaded();
    chat.press("<escape>", "<tab>");
    expect(chat.labels()?.[0]).toBe("/help");
  });

  test("goes round at its ends", async () => {
    const chat = open();
    chat.press("/");
    await chat.loaded();
    chat.press("<up>");
    const { menu } = chat.store.get();
    expect(menu?.selected).toBe((menu?.items.length ?? 0) - 1);
    chat.press("<down>");
    expect(chat.store.get().menu?.selected).toBe(0);
  });

  test("what does not begin a command, and a mail address, open none", async () => {
    const chat = open();
    chat.press("see a/b and ann@exam");
    await chat.loaded();
    expect(chat.labels()).toBeUndefined();
  });
});

describe("text from elsewhere", () => {
  test("that comes back stands before what is typed", () => {
    const chat = open();
    chat.press("new");
    chat.keys.restore("queued");
    expect(submitText(chat.editor())).toBe("queued\nnew");
    chat.press("<ctrl+a>", "<ctrl+u>");
    chat.keys.replace("other");
    expect(chat.shown()).toBe("other|");
  });

  test("that replaces the input can be undone", () => {
    const chat = open();
    chat.press("mine");
    chat.keys.replace("theirs");
    chat.press("<ctrl+_>");
    expect(chat.shown()).toBe("mine|");
  });
});
