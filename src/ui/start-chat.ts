import type { Ask } from "../schema/ask.ts";
import type { Chat, ChatSettings } from "../session/chat.ts";
import type { Strings } from "../text/strings.ts";
import { type CommandContext, runCommand } from "./commands/run-command.ts";
import { parseSkill } from "./commands/skills.ts";
import { parseCommand } from "./commands/slash-commands.ts";
import { deferred } from "./deferred.ts";
import { glyphsFor } from "./glyphs.ts";
import { createCompleter } from "./input/completer.ts";
import { isEmpty, submitText } from "./input/editor-buffer.ts";
import type { ChipLabel } from "./input/editor-chips.ts";
import { KEY_HELP } from "./input/keymap.ts";
import { type Line, span } from "./line.ts";
import { createLazyMarkdown } from "./markdown/lazy-markdown.ts";
import { createPersonEditor } from "./person-editor.ts";
import { hunkRows } from "./question/hunk-choice.ts";
import { questionBody } from "./question/question-lines.ts";
import { type RunningChat, runningChat } from "./running-chat.ts";
import { createSentMessages } from "./sent-messages.ts";
import { createSubmissions } from "./submissions.ts";
import type { KeyInput } from "./terminal/keys.ts";
import { openTerminal, type TerminalOptions } from "./terminal/terminal.ts";
import { colorLevel } from "./theme.ts";
import { keyLines } from "./transcript/help-lines.ts";
import { createPaper } from "./transcript/paper.ts";
import { createAppearance } from "./view/appearance.ts";
import { createView, showPlainly } from "./view/chat-view.ts";
import { headerLines } from "./view/header-lines.ts";
import { createKeyHandler } from "./view/key-handler.ts";
import { editView } from "./view/layout.ts";
import { goodbyeTexts, lastStepLines, lastThoughtLines } from "./view/own-lines.ts";
import { createPlanQuestion, isForMessage } from "./view/plan-question.ts";
import { createQuestions } from "./view/questions.ts";
import { replay } from "./view/replay.ts";
import { createRuns } from "./view/runs.ts";
import { createScribe } from "./view/scribe.ts";
import { createStore, emptyState } from "./view/view-state.ts";
import { createWindowTitle } from "./view/window-title.ts";
import { wrapSpans } from "./wrap.ts";

type Env = Readonly<Record<string, string | undefined>>;

export type StartChatOptions = Pick<TerminalOptions, "input" | "output" | "suspend"> & {
  readonly env: Env;
  readonly settings: ChatSettings;
  readonly strings: Strings;
  /** The first message; empty = none. */
  readonly prompt: string;
  /** Asks first which session is to go on. */
  readonly picksSession: boolean;
  /** Starts the machine below; the prompt does not wait for it. `tell` hears of what goes wrong beside a run. */
  readonly openChat: (ask: Ask, tell: (text: string) => void) => Promise<Chat>;
  /** Aborts when the process is to end. */
  readonly stop: {
    readonly signal: AbortSignal;
    /** The handler says whether it has dealt with a Ctrl+C that the terminal has made a signal. */
    readonly onInterrupt: (handler: () => boolean) => void;
  };
  readonly now: () => number;
};

/** What stands below and above what is asked: the answers, the input and the status line. */
const ROWS_BESIDE_QUESTION = 14;
/** As the shell counts SIGHUP: the terminal has gone. */
const HANGUP = 129;

/** Opens the chat in a terminal: a prompt at once, the rest as it comes. */
export const startChat = (options: StartChatOptions): RunningChat => {
  const { env, settings, strings, stop, now } = options;
  const glyphs = glyphsFor({ env, setting: settings.glyphs });
  const chipLabel: ChipLabel = ({ number, lines }) => strings.ui.pasted(number, lines);
  const keyRows = KEY_HELP.map(({ keys, help }) => ({ keys: keys.join("  "), description: strings.keys[help] }));
  const appearance = createAppearance(settings.theme, { env, level: colorLevel({ env, isTTY: true }) });
  const closing = new AbortController();
  const over = deferred<number | undefined>();
  let { showThinking } = settings;
  let chat: Chat | null = null;

  const store = createStore(emptyState(now()));
  const terminal = openTerminal({
    ...options,
    onKey: (input) => onKey(input),
    onResize: () => {
      questions.resized();
      store.set({});
    },
    // Its input and output tell of it, each in more than one way.
    onLost: () => {
      isLost = true;
      if (!isLeaving) leave(HANGUP);
    },
  });
  const { screen } = terminal;
  const title = createWindowTitle(terminal, store);
  const markdown = createLazyMarkdown(glyphs);
  const width = (): number => Math.max(1, screen.columns - 1);
  const lineOptions = () => ({ width: width(), glyphs, strings });
  const view = createView({
    store,
    screen,
    theme: () => appearance.theme,
    glyphs,
    strings,
    chipLabel,
    keyHelp: (columns) => keyLines(keyRows, columns),
  });
  const paper = createPaper({
    width,
    glyphs,
    strings,
    createMarkdown: markdown.create,
    showsThinking: () => showThinking,
  });
  const print = (lines: readonly Line[]): void => screen.print(lines.map(appearance.theme.paint));
  const scribe = createScribe({ store, paper, print, now });
  const warn = (text: string): void => scribe.add({ type: "notice", level: "warning", text });
  const questions = createQuestions({
    store,
    strings: strings.question,
    now,
    body: (question) => questionBody(question, lineOptions()),
    hunks: (diff) => hunkRows(diff, lineOptions()),
    edit: (draft) => editor.edit(draft),
    room: () => screen.rows - ROWS_BESIDE_QUESTION,
    hunkRoom: view.hunkRoom,
    print: scribe.say,
    onChange: title.update,
  });
  const runs = createRuns({
    chat: () => chat,
    store,
    scribe,
    restore: (text) => keys.restore(text),
    onEnd: (end) => plan.offer(end),
  });
  const plan = createPlanQuestion({
    chat: () => chat,
    ask: questions.ask,
    edit: (text) => editor.change(text),
    scribe,
    submit: runs.submit,
    refresh: () => showInfo(),
    strings: strings.plan,
  });
  const completer = createCompleter({
    chat: () => chat,
    strings: strings.commands,
    show: (menu) => store.set({ menu }),
    signal: closing.signal,
  });
  const keys = createKeyHandler({
    store,
    questions,
    completer,
    view: () => editView({ columns: screen.columns, glyphs, chipLabel }),
    now,
    strings: { ...strings.ui, rewindHint: strings.rewind.escapeHint },
    actions: {
      submit: (text) => submissions.submit(text),
      interrupt: runs.interrupt,
      rewind: () => submissions.command({ name: "rewind", argument: "" }),
      takeBack: () => (chat ? runs.takeBack() : undefined),
      leave: () => leave(undefined),
      cycleMode: () => cycleMode(),
      showLastStep: () => scribe.say(lastStepLines(store.get().transcript, lineOptions())),
      showLastThought: () => scribe.say(lastThoughtLines(store.get().transcript, lineOptions())),
      redraw: screen.redraw,
      suspend: () => void terminal.suspend().then(questions.shownAgain),
      openEditor: () => void openEditor(),
    },
  });

  const onKey = (input: KeyInput): void => {
    if (input.type === "reply") {
      if (input.reply.kind !== "background") return;
      appearance.background(input.reply);
      store.set({});
      return;
    }
    if (plan.isAsked(store.get().question?.question) && isForMessage(input, store.get())) plan.close();
    keys.key(input);
  };

  const submissions = createSubmissions({
    chat: () => chat,
    runs,
    onTaken: (text, opened) => {
      plan.close();
      title.begin(text);
      sent.keep(opened.history, text);
      void markdown.loadHighlighter();
      if (parseCommand(text) ?? parseSkill(text, opened)) scribe.add({ type: "person", text });
    },
    carryOut: (command, opened) => runCommand(command, commandContext(opened)),
    send: runs.submit,
    onEmptyShell: () => warn(strings.ui.shellEmpty),
  });

  const sent = createSentMessages((problem) => warn(strings.ui.historyProblem(problem)));

  const commandContext = (opened: Chat): CommandContext => ({
    chat: opened,
    transcript: () => store.get().transcript,
    isBusy: () => runs.isBusy,
    width,
    glyphs,
    strings,
    keyRows,
    say: scribe.say,
    choose: questions.choose,
    copy: terminal.copy,
    submit: (text) => runs.submit(text, null),
    edit: (draft) => editor.edit(draft),
    settle: scribe.settle,
    putBack: (text) => {
      if (isEmpty(store.get().editor)) keys.replace(text);
    },
    restart: () => {
      scribe.restart();
      title.reset();
    },
    showPast: () => showPast(),
    setTheme: (name) => {
      appearance.choose(name);
      if (appearance.isAutomatic) terminal.askBackground();
      store.set({});
    },
    showThinking: {
      get: () => showThinking,
      set: (shown) => {
        showThinking = shown;
      },
    },
    refresh: () => showInfo(),
    work: runs.work,
    take: scribe.take,
    changeText: editor.change,
    leave: () => leave(undefined),
    signal: closing.signal,
  });

  const showPast = (): void => {
    const past = chat?.past();
    const contextTokens = chat?.session().context?.state().tokens;
    if (past) replay(past, { scribe, width: width(), glyphs, strings: strings.sessions, contextTokens });
  };

  const showInfo = (): void => store.set({ info: chat?.info() ?? null });

  /** How often the mode was changed before there was one. */
  let earlyCycles = 0;
  const cycleMode = (): void => {
    if (!chat) {
      earlyCycles += 1;
      return;
    }
    const { mode, modes } = chat.info();
    chat.setMode(modes[(modes.indexOf(mode) + 1) % modes.length] ?? mode);
    showInfo();
  };

  const editor = createPersonEditor({
    chat: () => chat,
    signal: closing.signal,
    release: () => {
      const { isOurs } = terminal;
      if (isOurs) terminal.release();
      return isOurs;
    },
    acquire: () => {
      terminal.acquire();
      questions.shownAgain();
    },
    warn: (problem) => warn(strings.ui.editorProblem(problem)),
  });

  const openEditor = async (): Promise<void> => {
    const edited = await editor.change(submitText(store.get().editor));
    if (edited !== undefined) keys.replace(edited);
  };

  let isLeaving = false;
  let isLost = false;
  const leave = (exitCode: number | undefined): void => {
    if (isLeaving) {
      // Whoever insists does not wait for what still ends.
      chat?.kill();
      release();
      over.resolve(exitCode);
      return;
    }
    isLeaving = true;
    closing.abort();
    plan.close();
    // It can be called up again in the next chat.
    for (const text of submissions.end()) if (chat) sent.keep(chat.history, text);
    runs.interrupt();
    void end().then(() => over.resolve(exitCode), over.reject);
  };

  const end = async (): Promise<void> => {
    if (chat) await Promise.all([runs.settled(), sent.settled(), editor.settled()]);
    scribe.flush();
    if (chat) {
      const texts = goodbyeTexts(store.get().transcript, chat.info(), {
        ended: await chat.close(),
        strings: strings.ui,
      });
      const indent = [span("  ")];
      const lines = texts.flatMap((text) =>
        wrapSpans([span(text, "dim")], { width: width(), first: indent, rest: indent }),
      );
      if (lines.length > 0) print([[], ...lines]);
    }
    release();
  };

  let unmount = (): void => undefined;
  const release = (): void => {
    unmount();
    terminal.setTitle("");
    terminal.release();
  };

  const open = async (): Promise<void> => {
    const [opened] = await Promise.all([options.openChat(questions.ask, warn), markdown.load()]);
    if (isLeaving) return void (await opened.close());
    chat = opened;
    showInfo();
    scribe.say(headerLines(opened.info(), { width: width(), glyphs, strings: strings.ui }));
    showPast();
    void sent.load(opened.history).then(keys.addHistory);
    for (; earlyCycles > 0; earlyCycles -= 1) cycleMode();
    const { text, cursor } = store.get().editor;
    completer.update(text, cursor);
    // Ink draws the question while it is open.
    void begin(opened);
  };

  const begin = async (opened: Chat): Promise<void> => {
    if (options.picksSession) await runCommand({ name: "resume", argument: "" }, commandContext(opened));
    if (options.prompt.trim() !== "") submissions.submit(options.prompt);
    submissions.sendHeld();
  };

  // All of what a person decides about must be seen, also when the input or what stands below it has grown.
  store.subscribe(() => {
    if (store.get().question && view.layout().isQuestionTooHigh) questions.printAbove();
  });
  // The prompt stands before anything heavy is loaded; then Ink draws what has grown since.
  const endPlain = store.subscribe(() => showPlainly(view));
  showPlainly(view);
  screen.flush();
  if (appearance.isAutomatic) terminal.askBackground();
  const onStop = (): void => {
    if (!isLost) leave(undefined);
  };
  stop.signal.addEventListener("abort", onStop, { once: true });
  // With another program in the terminal, its Ctrl+C reaches us too.
  stop.onInterrupt(() => editor.isOpen);
  const loadInk = async (): Promise<void> => {
    const { runUi } = await import("./run-ui.tsx");
    if (isLeaving) return;
    endPlain();
    unmount = runUi(view);
  };
  // One after the other: both keep the processor busy, and a person wants to read before much moves.
  void open()
    .then(loadInk)
    .catch((error: unknown) => {
      release();
      over.reject(error);
    });

  return runningChat({ ended: over.promise, release, chat: () => chat });
};
