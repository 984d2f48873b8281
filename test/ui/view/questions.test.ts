import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer, Draft, PermissionQuestion, Question, Reviser, Revision } from "../../../src/schema/ask.ts";
import { en } from "../../../src/text/en.ts";
import { createEditor, submitText } from "../../../src/ui/input/editor-buffer.ts";
import { span } from "../../../src/ui/line.ts";
import type { EditDraft } from "../../../src/ui/question/revise-question.ts";
import type { KeyInput } from "../../../src/ui/terminal/keys.ts";
import { createQuestions } from "../../../src/ui/view/questions.ts";
import { createStore, emptyState } from "../../../src/ui/view/view-state.ts";
import { permission } from "../../helpers/live-region.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const text = (typed: string): KeyInput => ({ type: "text", text: typed });
const press = (chord: string): KeyInput => ({ type: "key", chord }) as KeyInput;

type Edited = Awaited<ReturnType<EditDraft>>;
type OpenOptions = {
  readonly room?: number;
  readonly reviser?: Reviser;
  readonly edited?: (draft: Draft) => Edited | Promise<Edited>;
};

const open = ({ room = 10, reviser, edited = ({ text }) => text }: OpenOptions = {}) => {
  const store = createStore(emptyState(0));
  const printed: string[] = [];
  let changes = 0;
  let rows = 2;
  const questions = createQuestions({
    store,
    strings: en.question,
    now: () => Date.now(),
    body: () => Array.from({ length: rows }, (_, index) => [span(`body ${index + 1}`)]),
    hunks: (diff) => diff.hunks.map(({ lines }) => lines.map((line) => [span(line)])),
    edit: async (draft) => edited(draft),
    room: () => room,
    hunkRoom: () => Math.max(4, room - 1),
    print: (lines) => printed.push(...lines.map(([first]) => first?.text ?? "")),
    onChange: () => {
      changes += 1;
    },
  });
  const answers: Answer[] = [];
  const aborts = new AbortController();
  const ask = (question: Question = permission(), signal = aborts.signal): void =>
    void questions.ask(question, signal, reviser).then((answer) => answers.push(answer));
  const choose = (question: Question): void =>
    void questions.choose(question, aborts.signal).then((answer) => answers.push(answer));
  const seen = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1);
  /** Longer than a second press of a key takes. */
  const pause = (): Promise<unknown> => vi.advanceTimersByTimeAsync(400);
  const keys = async (...pressed: readonly KeyInput[]): Promise<readonly boolean[]> => {
    const taken = pressed.map((key) => questions.key(key));
    await seen();
    return taken;
  };
  return {
    store,
    questions,
    printed,
    answers,
    aborts,
    ask,
    choose,
    seen,
    pause,
    keys,
    changes: () => changes,
    setBodyRows: (count: number) => {
      rows = count;
    },
  };
};

const ONCE: Answer = { decision: "allow", scope: "once" };
const SESSION: Answer = { decision: "allow", scope: "session", rule: "bash(npm test:*)" };
const NO: Answer = { decision: "reject", scope: "once" };
const choiceOf = (count: number): Question => ({
  kind: "choice",
  title: "Which?",
  options: Array.from({ length: count }, (_, index) => ({ id: `id${index + 1}`, label: `Option ${index + 1} 好` })),
});

describe("a question about a call", () => {
  test.each<readonly [string, readonly KeyInput[], readonly Answer[]]>([
    ["y", [text("y")], [ONCE]],
    ["Y", [text("Y")], [ONCE]],
    ["1", [text("1")], [ONCE]],
    ["Enter on the first", [press("enter")], [ONCE]],
    ["a", [text("a")], [SESSION]],
    ["2", [text("2")], [SESSION]],
    ["down and Enter", [press("down"), press("enter")], [SESSION]],
    ["down beyond the end, up and Enter", [...Array(9).fill(press("down")), press("up"), press("enter")], [SESSION]],
    ["Ctrl+N, Ctrl+P and Enter", [press("ctrl+n"), press("ctrl+p"), press("enter")], [ONCE]],
    ["Esc", [press("escape")], [{ dismissed: true }]],
    ["n and Enter", [text("n"), press("enter")], [NO]],
    ["3 and a reason", [text("3"), text("use "), text("vitest"), press("enter")], [{ ...NO, feedback: "use vitest" }]],
    [
      "n and a pasted reason of two lines",
      [text("n"), { type: "paste", text: "one\n  two" }, press("enter")],
      [{ ...NO, feedback: "one two" }],
    ],
    [
      "n, a reason that is edited",
      [text("n"), text("no!"), press("backspace"), press("enter")],
      [{ ...NO, feedback: "no" }],
    ],
    ["n, Esc and y", [text("n"), text("because"), press("escape"), text("y")], [ONCE]],
    [
      "n, Esc, n and Enter: the first reason is gone",
      [text("n"), text("x"), press("escape"), text("n"), press("enter")],
      [NO],
    ],
    ["keys that mean nothing here", [press("tab"), press("f1")], []],
  ])("is answered by %s", async (_name, pressed, answers) => {
    const chat = open();
    chat.ask();
    await chat.seen();
    expect(await chat.keys(...pressed)).not.toContain(false);
    expect(chat.answers).toEqual(answers);
    expect(chat.store.get().question === null).toBe(answers.length > 0);
  });

  test.each(["ctrl+c", "ctrl+d", "ctrl+z", "ctrl+o", "shift+tab"])("leaves %s to the chat", async (chord) => {
    const chat = open();
    chat.ask();
    await chat.seen();
    expect(await chat.keys(press(chord))).toEqual([false]);
    expect(chat.answers).toEqual([]);
  });

  test("leaves a paste to the input", async () => {
    const chat = open();
    chat.ask();
    await chat.seen();
    expect(await chat.keys({ type: "paste", text: "y" })).toEqual([false]);
    expect(chat.answers).toEqual([]);
  });

  test("that the guard asks offers no rule", async () => {
    const chat = open();
    chat.ask(permission({ by: "guard", offers: [] }));
    await chat.seen();
    await chat.keys(text("a"));
    await chat.pause();
    expect(chat.answers).toEqual([]);
    // Enter alone refuses.
    await chat.keys(press("enter"), press("enter"));
    expect(chat.answers).toEqual([NO]);
  });

  test("offers the rule of the session only", async () => {
    const chat = open();
    chat.ask(
      permission({
        offers: [
          { scope: "project", rule: "p" },
          { scope: "user", rule: "u" },
        ],
      }),
    );
    await chat.seen();
    await chat.keys(text("a"));
    expect(chat.answers).toEqual([]);
  });
});

describe("what is typed when a question comes", () => {
  test("a key from before it was seen is none of its answers", async () => {
    const chat = open();
    chat.ask();
    expect(chat.questions.key(text("y"))).toBe(false);
    expect(chat.questions.key(press("enter"))).toBe(false);
    await chat.seen();
    expect(chat.answers).toEqual([]);
    await chat.pause();
    expect(await chat.keys(text("y"))).toEqual([true]);
    expect(chat.answers).toEqual([ONCE]);
  });

  test("goes into the message that is being typed, until that pauses", async () => {
    const chat = open();
    chat.questions.key(text("h"));
    chat.store.set({ editor: createEditor("h") });
    await vi.advanceTimersByTimeAsync(100);
    chat.ask();
    await chat.seen();
    expect(chat.store.get().question).toMatchObject({ isArmed: false, isInterrupting: true });
    await vi.advanceTimersByTimeAsync(300);
    expect(chat.questions.key(text("y"))).toBe(false);
    await vi.advanceTimersByTimeAsync(400);
    expect(chat.store.get().question?.isArmed).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(chat.store.get().question).toMatchObject({ isArmed: true, isInterrupting: false });
    expect(await chat.keys(text("y"))).toEqual([true]);
    expect(chat.answers).toEqual([ONCE]);
  });

  test("Esc refuses also in the midst of a message", async () => {
    const chat = open();
    chat.questions.key(text("h"));
    chat.store.set({ editor: createEditor("h") });
    chat.ask();
    await chat.seen();
    expect(await chat.keys(press("escape"))).toEqual([true]);
    expect(chat.answers).toEqual([{ dismissed: true }]);
  });

  test("a message that stands there since long is no typing", async () => {
    const chat = open();
    chat.questions.key(text("h"));
    chat.store.set({ editor: createEditor("h") });
    await vi.advanceTimersByTimeAsync(600);
    chat.ask();
    await chat.seen();
    expect(chat.store.get().question?.isArmed).toBe(true);
  });
});

describe("what is typed while a question stands", () => {
  test.each(["x", "9", "yy", "yes do it", "不", " "])(
    "%j is no answer, and goes into the input with what follows it",
    async (typed) => {
      const chat = open();
      chat.ask();
      await chat.seen();
      // Enter may have come in the same read.
      expect(await chat.keys(text(typed), press("enter"), text("y"))).toEqual([false, false, false]);
      expect(chat.store.get().question).toMatchObject({ isArmed: false, isInterrupting: true });
      expect(chat.answers).toEqual([]);
      await chat.pause();
      expect(await chat.keys(text("y"))).toEqual([true]);
      expect(chat.answers).toEqual([ONCE]);
    },
  );

  test.each<readonly [string, boolean, Partial<PermissionQuestion>, readonly KeyInput[], readonly Answer[]]>([
    ["Enter sends a message that stands there", true, {}, [press("enter")], []],
    ["Enter sends it, and does not refuse what the guard asks", true, { by: "guard" }, [press("enter")], []],
    ["Enter answers where an answer was chosen", true, {}, [press("down"), press("enter")], [SESSION]],
    ["Enter answers where no message stands there", false, {}, [press("enter")], [ONCE]],
    ["a key answers", true, {}, [text("y")], [ONCE]],
  ])("%s", async (_name, hasMessage, part, pressed, answers) => {
    const chat = open();
    if (hasMessage) chat.store.set({ editor: createEditor("and then") });
    chat.ask({ ...permission(), ...part });
    await chat.seen();
    expect((await chat.keys(...pressed)).at(-1)).toBe(answers.length > 0);
    expect(chat.answers).toEqual(answers);
  });
});

describe("several questions", () => {
  test("stand one after the other, each with its own answer", async () => {
    const chat = open();
    chat.ask(permission({ toolCallId: "a" }));
    chat.ask(permission({ toolCallId: "b" }));
    chat.ask(permission({ toolCallId: "c" }));
    await chat.seen();
    expect(chat.store.get()).toMatchObject({ question: { question: { toolCallId: "a" } }, waitingQuestions: 2 });
    // The next one has not been seen yet: the second key is not for it.
    expect(await chat.keys(text("y"), text("y"))).toEqual([true, false]);
    await chat.pause();
    expect(chat.answers).toEqual([ONCE]);
    expect(chat.store.get()).toMatchObject({ question: { question: { toolCallId: "b" } }, waitingQuestions: 1 });
    await chat.keys(press("escape"));
    await chat.pause();
    await chat.keys(text("a"));
    expect(chat.answers).toEqual([ONCE, { dismissed: true }, SESSION]);
    expect(chat.store.get()).toMatchObject({ question: null, waitingQuestions: 0 });
  });

  test.each([
    ["y", text("y")],
    ["Enter", press("enter")],
  ])(
    "a second press of %s, however soon the next question stands there, answers only the first",
    async (_name, key) => {
      const chat = open();
      chat.ask();
      chat.ask();
      await chat.seen();
      await chat.keys(key);
      // It has been drawn long since, but nobody reads that fast.
      await vi.advanceTimersByTimeAsync(200);
      expect(chat.store.get().question).toMatchObject({ isArmed: false, isInterrupting: true });
      await chat.keys(key);
      await vi.advanceTimersByTimeAsync(200);
      await chat.keys(key);
      expect(chat.answers).toEqual([ONCE]);
      await chat.pause();
      await chat.keys(key);
      expect(chat.answers).toEqual([ONCE, ONCE]);
    },
  );

  test("twenty are answered one after the other, each in less than half a second", async () => {
    const chat = open();
    for (let count = 0; count < 20; count += 1) chat.ask(permission(), new AbortController().signal);
    for (let count = 0; count < 20; count += 1) {
      await chat.pause();
      await chat.keys(text("y"));
    }
    expect(chat.answers).toEqual(Array(20).fill(ONCE));
  });

  test("are dismissed by their signal, shown or waiting", async () => {
    const chat = open();
    const own = new AbortController();
    chat.ask(permission({ toolCallId: "a" }));
    chat.ask(permission({ toolCallId: "b" }), own.signal);
    await chat.seen();
    own.abort();
    await chat.seen();
    expect(chat.answers).toEqual([{ dismissed: true }]);
    expect(chat.store.get()).toMatchObject({ question: { question: { toolCallId: "a" } }, waitingQuestions: 0 });
    chat.ask();
    chat.aborts.abort();
    await chat.seen();
    expect(chat.answers).toHaveLength(3);
    expect(chat.store.get()).toMatchObject({ question: null, waitingQuestions: 0 });
    chat.ask();
    await chat.seen();
    expect(chat.answers).toHaveLength(4);
    expect(chat.store.get().question).toBeNull();
  });

  test("tell of each change, for the window's title", async () => {
    const chat = open();
    chat.ask();
    await chat.seen();
    const before = chat.changes();
    expect(before).toBeGreaterThan(0);
    await chat.keys(text("y"));
    expect(chat.changes()).toBeGreaterThan(before);
  });
});

describe("a choice", () => {
  test.each<readonly [string, number, readonly KeyInput[], readonly Answer[]]>([
    ["a digit", 3, [text("2")], [{ choice: "id2" }]],
    ["a digit that none has", 3, [text("4")], []],
    ["arrows", 3, [press("down"), press("down"), press("enter")], [{ choice: "id3" }]],
    ["pages", 40, [press("pagedown"), press("pagedown"), press("pageup"), press("enter")], [{ choice: "id11" }]],
    ["a digit in a long list, which narrows it", 40, [text("40"), press("enter")], [{ choice: "id40" }]],
    ["a filter of two words", 40, [text("opt"), text(" 12"), press("enter")], [{ choice: "id12" }]],
    [
      "a filter that is taken back by characters",
      40,
      [text("12"), text("🎉"), press("backspace"), press("enter")],
      [{ choice: "id12" }],
    ],
    ["a pasted filter", 40, [{ type: "paste", text: "option\n17" }, press("enter")], [{ choice: "id17" }]],
    ["Enter where nothing fits", 40, [text("xyz"), press("enter")], []],
    ["the first again when the filter changes", 40, [press("down"), text("3"), press("enter")], [{ choice: "id3" }]],
    ["Esc", 3, [press("escape")], [{ dismissed: true }]],
  ])("is made by %s", async (_name, count, pressed, answers) => {
    const chat = open();
    chat.choose(choiceOf(count));
    await chat.keys(...pressed);
    expect(chat.answers).toEqual(answers);
  });

  test("that the person has called up takes keys at once", () => {
    const chat = open();
    chat.choose(choiceOf(3));
    expect(chat.questions.key(text("1"))).toBe(true);
  });
});

describe("a text", () => {
  const question: Question = { kind: "text", title: "Key?", secret: true };

  test.each<readonly [string, readonly KeyInput[], readonly Answer[]]>([
    ["typed", [text("sk-"), text("12"), press("enter")], [{ text: "sk-12" }]],
    [
      "pasted, with the newline that came with it",
      [{ type: "paste", text: "sk-12\n" }, press("enter")],
      [{ text: "sk-12" }],
    ],
    [
      "edited",
      [text("sk-13"), press("backspace"), text("2"), press("ctrl+a"), text("x"), press("enter")],
      [{ text: "xsk-12" }],
    ],
    ["empty", [press("enter")], [{ text: "" }]],
    ["dismissed", [text("sk"), press("escape")], [{ dismissed: true }]],
  ])("is %s", async (_name, pressed, answers) => {
    const chat = open();
    chat.choose(question);
    expect(await chat.keys(...pressed)).not.toContain(false);
    expect(chat.answers).toEqual(answers);
  });

  test("of any length is one row, and whole", async () => {
    const chat = open();
    chat.choose(question);
    const long = "k".repeat(5000);
    await chat.keys({ type: "paste", text: long });
    expect(submitText(chat.store.get().question?.text ?? createEditor())).toBe(long);
    await chat.keys(press("enter"));
    expect(chat.answers).toEqual([{ text: long }]);
  });
});

describe("what is asked", () => {
  test("is printed above where it has no room, and drawn where it has", () => {
    const chat = open({ room: 2 });
    chat.ask();
    expect(chat.printed).toEqual([]);
    expect(chat.store.get().question?.body).toHaveLength(2);
    chat.setBodyRows(3);
    chat.questions.key(press("escape"));
    const other = open({ room: 2 });
    other.setBodyRows(3);
    other.ask();
    expect(other.printed).toEqual(["body 1", "body 2", "body 3"]);
    expect(other.store.get().question?.body).toEqual([]);
  });

  test("is printed once when it has no room any more, though printing tells of a change itself", () => {
    const store = createStore(emptyState(0));
    const printed: number[] = [];
    const questions = createQuestions({
      store,
      strings: en.question,
      now: () => 0,
      body: () => [[], [], []],
      hunks: () => [],
      edit: async ({ text }) => text,
      room: () => 10,
      hunkRoom: () => 10,
      print: (lines) => {
        printed.push(lines.length);
        store.set({});
      },
      onChange: () => undefined,
    });
    void questions.ask(permission(), new AbortController().signal);
    store.subscribe(questions.printAbove);
    store.set({ editor: createEditor("a message that grows") });
    questions.resized();
    expect(printed).toEqual([3]);
    expect(store.get().question?.body).toEqual([]);
  });

  test("is laid out again for another size", () => {
    const chat = open();
    chat.ask();
    chat.setBodyRows(5);
    chat.questions.resized();
    expect(chat.store.get().question?.body).toHaveLength(5);
  });

  test("is printed when the window has become too small for it", () => {
    let room = 10;
    const store = createStore(emptyState(0));
    const printed: number[] = [];
    const questions = createQuestions({
      store,
      strings: en.question,
      now: () => 0,
      body: () => [[], [], []],
      hunks: () => [],
      edit: async ({ text }) => text,
      room: () => room,
      hunkRoom: () => room,
      print: (lines) => printed.push(lines.length),
      onChange: () => undefined,
    });
    void questions.ask(permission(), new AbortController().signal);
    room = 2;
    questions.resized();
    questions.resized();
    expect(printed).toEqual([3]);
    expect(store.get().question?.body).toEqual([]);
  });
});

test("after another program has had the terminal, a key answers only once the question stands there again", async () => {
  const chat = open();
  chat.ask();
  await chat.seen();
  chat.questions.shownAgain();
  expect(chat.questions.key(text("y"))).toBe(false);
  expect(chat.answers).toEqual([]);
  await chat.pause();
  await chat.keys(text("y"));
  expect(chat.answers).toEqual([ONCE]);
});

test("a question that was called up and comes late waits until the person pauses in typing", async () => {
  const chat = open();
  chat.store.set({ editor: createEditor("1") });
  chat.questions.key(text("1"));
  chat.choose(choiceOf(3));
  expect(chat.questions.key(text("1"))).toBe(false);
  await chat.seen();
  expect(chat.answers).toEqual([]);
  await vi.advanceTimersByTimeAsync(600);
  await chat.keys(text("2"));
  expect(chat.answers).toEqual([{ choice: "id2" }]);
});

describe("a call that the person changes", () => {
  const hunk = (line: string) => ({ oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: [line] });
  const edit = (...lines: readonly string[]): PermissionQuestion =>
    permission({
      name: "edit_file",
      arguments: JSON.stringify({ path: "a", lines }),
      preview: { type: "diff", path: "a", added: lines.length, removed: 0, hunks: lines.map(hunk) },
      offers: [{ scope: "session", rule: "edit_file(a)" }],
    });
  const asked = edit("+one", "+two", "+three");
  const fail = async (): Promise<Revision> => ({ type: "problem", problem: "the file has\nchanged" });
  /** The text is the lines of the hunks. */
  const lines: Reviser = {
    draft: async ({ preview }) => ({
      name: "a.ts",
      before: "",
      text: preview?.type === "diff" ? preview.hunks.flatMap((hunk) => hunk.lines).join("\n") : "",
    }),
    withText: async (_question, _draft, text) =>
      text === ""
        ? { type: "nothing" }
        : { type: "question", question: { ...edit(...text.split("\n")), offers: [] } satisfies PermissionQuestion },
    withHunks: async ({ preview }, kept) => {
      const all = preview?.type === "diff" ? preview.hunks.flatMap((hunk) => hunk.lines) : [];
      return { type: "question", question: { ...edit(...kept.map((index) => all[index] ?? "")), offers: [] } };
    },
  };
  const once = (...kept: readonly string[]): Answer => ({ ...ONCE, arguments: edit(...kept).arguments }) as Answer;

  const start = async (options: OpenOptions = {}) => {
    const chat = open({ reviser: lines, ...options });
    chat.ask(asked);
    await chat.seen();
    return chat;
  };

  test.each<readonly [string, readonly KeyInput[], readonly string[] | "all" | "no" | "open"]>([
    ["h, n on the first, y on the second, n on the third", [text("n"), text("y"), text("n")], ["+two"]],
    ["keys that were read together", [text("nyn")], ["+two"]],
    ["the space bar and arrows", [text(" "), press("down"), press("down"), text(" ")], ["+two"]],
    ["arrows beyond both ends", [press("up"), text(" "), ...Array(9).fill(press("down")), text(" ")], ["+two"]],
    ["pages", [press("pagedown"), text(" "), press("pageup"), text(" ")], ["+three"]],
    ["twice the space bar", [text("  "), text("n")], ["+two", "+three"]],
    ["a, after all were left out", [text("nnn"), text("a")], "all"],
    ["nothing but Enter", [], "all"],
    ["none", [text("nnn")], "no"],
  ])("hunks are chosen by %s", async (_name, pressed, kept) => {
    const chat = await start();
    await chat.keys(text("h"));
    expect(chat.store.get().question?.stage).toBe("hunks");
    expect(await chat.keys(...pressed, press("enter"))).not.toContain(false);
    if (kept === "no") {
      expect(chat.answers).toEqual([{ ...NO, feedback: en.question.nothingKept }]);
      return;
    }
    // Nothing has been answered by that.
    expect(chat.answers).toEqual([]);
    expect(chat.store.get().question).toMatchObject({ stage: "choose", isArmed: false, hunks: undefined });
    await chat.pause();
    await chat.keys(text("y"));
    expect(chat.answers).toEqual([kept === "all" ? ONCE : once(...kept)]);
  });

  test("Esc goes back from the hunks without a change, and then refuses", async () => {
    const chat = await start();
    await chat.keys(text("h"), text("nn"), press("escape"));
    expect(chat.store.get().question).toMatchObject({ stage: "choose", question: asked, isArmed: true });
    await chat.keys(press("escape"));
    expect(chat.answers).toEqual([{ dismissed: true }]);
  });

  test("a paste while hunks are chosen is for the input", async () => {
    const chat = await start();
    await chat.keys(text("h"));
    expect(await chat.keys({ type: "paste", text: "nnn" })).toEqual([false]);
    expect(chat.store.get().question?.hunks?.kept).toEqual([true, true, true]);
  });

  test("a hunk that is higher than the room is scrolled through before the next one is selected", async () => {
    const high = permission({
      preview: {
        type: "diff",
        path: "a",
        added: 40,
        removed: 0,
        hunks: [{ ...hunk(""), lines: Array.from({ length: 40 }, (_, index) => `+${index}`) }, hunk("+end")],
      },
    });
    const chat = open({ reviser: lines, room: 10 });
    chat.ask(high);
    await chat.seen();
    await chat.keys(text("h"));
    const seen: string[] = [];
    const look = (): void => {
      const { selected, scroll } = chat.store.get().question?.hunks ?? { selected: -1, scroll: -1 };
      seen.push(`${selected}:${scroll}`);
    };
    for (let count = 0; count < 7; count += 1) {
      look();
      await chat.keys(press("down"));
    }
    look();
    expect(seen).toEqual(["0:0", "0:7", "0:14", "0:21", "0:28", "0:35", "1:0", "1:0"]);
    await chat.keys(press("up"));
    look();
    expect(seen.at(-1)).toBe("0:0");
  });

  test("the editor's text is shown first, and runs by y, for this once", async () => {
    const chat = await start({ edited: ({ text, name }) => `${name} ${text.split("\n")[0]}` });
    await chat.keys(text("e"));
    expect(chat.answers).toEqual([]);
    expect(chat.store.get().question).toMatchObject({
      question: { arguments: edit("a.ts +one").arguments, offers: [] },
      note: { text: en.question.changed, isProblem: false },
    });
    // Neither a rule nor hunks any more.
    expect(chat.store.get().question?.options.map(({ key }) => key)).toEqual(["y", "e", "r", "n"]);
    await chat.pause();
    expect(await chat.keys(text("a"))).toEqual([false]);
    await chat.pause();
    expect(chat.answers).toEqual([]);
    await chat.keys(text("y"));
    expect(chat.answers).toEqual([once("a.ts +one")]);
  });

  test("r takes the changes back", async () => {
    const chat = await start({ edited: () => "+mine" });
    await chat.keys(text("e"));
    await chat.pause();
    await chat.keys(text("r"));
    expect(chat.store.get().question).toMatchObject({ question: asked, note: undefined });
    await chat.pause();
    await chat.keys(text("a"));
    expect(chat.answers).toEqual([{ decision: "allow", scope: "session", rule: "edit_file(a)" }]);
  });

  test.each<readonly [string, OpenOptions, string, boolean]>([
    ["an editor that fails", { edited: () => ({ problem: "vi: 1" }) }, "vi: 1", true],
    ["an editor that is only closed", {}, en.question.unchanged, false],
    [
      "a file that changed meanwhile",
      { edited: () => "x", reviser: { ...lines, withText: fail } },
      "the file has\nchanged",
      true,
    ],
    ["a call that cannot be done", { reviser: { ...lines, draft: async () => ({ problem: "gone" }) } }, "gone", true],
    [
      "a front end that breaks",
      {
        edited: () => {
          throw new Error("no terminal");
        },
      },
      "no terminal",
      true,
    ],
  ])("%s leaves the question open, with its rules, and says so", async (_name, options, note, isProblem) => {
    const chat = await start(options);
    await chat.keys(text("e"));
    expect(chat.answers).toEqual([]);
    expect(chat.store.get().question).toMatchObject({
      question: asked,
      stage: "choose",
      note: { text: note, isProblem },
    });
    await chat.pause();
    await chat.keys(text("a"));
    expect(chat.answers).toEqual([{ decision: "allow", scope: "session", rule: "edit_file(a)" }]);
  });

  test("a text that leaves nothing to do is a no", async () => {
    const chat = await start({ edited: () => "" });
    await chat.keys(text("e"));
    expect(chat.answers).toEqual([{ ...NO, feedback: en.question.nothingKept }]);
  });

  test("no key answers while the call is being changed, nor what the editor has left in the terminal", async () => {
    let close: (text: string) => void = () => undefined;
    const chat = await start({
      edited: () =>
        new Promise<string>((resolve) => {
          close = resolve;
        }),
    });
    await chat.keys(text("e"));
    chat.questions.shownAgain();
    await chat.pause();
    expect(await chat.keys(text("y"))).toEqual([false]);
    close("+mine");
    await chat.seen();
    expect(await chat.keys(text("y"))).toEqual([false]);
    await chat.pause();
    expect(chat.answers).toEqual([]);
    await chat.keys(text("y"));
    expect(chat.answers).toEqual([once("+mine")]);
  });

  test("a question that is dismissed meanwhile stays so", async () => {
    let close: (text: string) => void = () => undefined;
    const chat = await start({
      edited: () =>
        new Promise<string>((resolve) => {
          close = resolve;
        }),
    });
    await chat.keys(text("e"));
    chat.aborts.abort();
    await chat.seen();
    close("+mine");
    await chat.seen();
    expect(chat.answers).toEqual([{ dismissed: true }]);
    expect(chat.store.get().question).toBeNull();
  });

  test("what the guard says of the changed call stands there, and Enter alone does not run it", async () => {
    const guarded: PermissionQuestion = { ...edit("+x"), by: "guard", reason: "guard", offers: [] };
    const chat = await start({
      edited: () => "x",
      reviser: { ...lines, withText: async () => ({ type: "question", question: guarded }) },
    });
    await chat.keys(text("e"));
    await chat.pause();
    await chat.keys(press("enter"), press("enter"));
    expect(chat.answers).toEqual([NO]);
  });

  test("one hunk is not chosen among, and without a reviser nothing is changed", async () => {
    const one = open({ reviser: lines });
    one.ask(edit("+one"));
    await one.seen();
    expect(one.store.get().question?.options.map(({ key }) => key)).toEqual(["y", "a", "e", "n"]);
    const none = open();
    none.ask(asked);
    await none.seen();
    expect(none.store.get().question?.options.map(({ key }) => key)).toEqual(["y", "a", "n"]);
  });
});
