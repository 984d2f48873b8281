import type { Chat } from "../../session/chat.ts";
import { type CommandContext, runCommand } from "../commands/run-command.ts";
import { findCommand, type ParsedCommand } from "../commands/slash-commands.ts";
import { deferred } from "../deferred.ts";
import { type Line, plainText, span } from "../line.ts";
import { createPersonEditor } from "../person-editor.ts";
import { hunkRows } from "../question/hunk-choice.ts";
import { questionBody } from "../question/question-lines.ts";
import { type RunningChat, runningChat } from "../running-chat.ts";
import { createSentMessages } from "../sent-messages.ts";
import type { StartChatOptions } from "../start-chat.ts";
import { createSubmissions } from "../submissions.ts";
import { marked } from "../transcript/paper.ts";
import type { Block } from "../transcript/transcript.ts";
import { headerLines } from "../view/header-lines.ts";
import { goodbyeTexts } from "../view/own-lines.ts";
import { createPlanQuestion } from "../view/plan-question.ts";
import { replay } from "../view/replay.ts";
import { createRuns } from "../view/runs.ts";
import type { Scribe } from "../view/scribe.ts";
import { createStore, emptyState } from "../view/view-state.ts";
import { createLineInput } from "./line-input.ts";
import { createLineOutput } from "./line-output.ts";
import { createLineQuestions } from "./line-questions.ts";
import { linearKeys, linearStrings, NO_GLYPHS, wordGlyphs } from "./linear-words.ts";
import { createNarrator } from "./narrator.ts";

/** A second Ctrl+C within this time means it. */
const TWICE_MS = 1500;
/** As the shell counts SIGHUP: the terminal has gone. */
const HANGUP = 129;
/** Of ours on a wide terminal: a second column would be read aloud in the middle of the first. */
const MAX_COLUMNS = 79;
/** The kernel's limit of a line that it lets a person edit, its end included. */
const MAX_LINE_BYTES = 4095;

/** The chat for screen readers and terminals that can do nothing: plain lines in, plain lines out. */
export const startChat = (options: StartChatOptions): RunningChat => {
  const { stop, now } = options;
  const strings = linearStrings(options.strings);
  const { linear } = strings;
  const glyphs = wordGlyphs(linear);
  const closing = new AbortController();
  const over = deferred<number | undefined>();
  let { showThinking } = options.settings;
  let chat: Chat | null = null;
  let isLeaving = false;

  const store = createStore(emptyState(now()));
  const output = createLineOutput(options.output);
  const lineOptions = () => ({ width: output.width, glyphs, strings });
  const print = (lines: readonly Line[]): void => {
    output.print(lines);
    turnChanged();
  };
  const note = (text: string): void => print(marked(glyphs.notice, text, { width: output.width, role: "accent" }));
  const narrator = createNarrator({
    width: () => output.width,
    glyphs,
    strings,
    showsThinking: () => showThinking,
  });
  const scribe: Scribe = {
    take: (event) => {
      const lines = narrator.take(event);
      store.set({ transcript: narrator.transcript });
      print(lines);
    },
    // What the person has typed stands there already.
    add: (block) => print(block.type === "person" ? [] : narrator.tell(block)),
    say: print,
    restart: () => {
      narrator.restart();
      store.set({ transcript: narrator.transcript });
    },
    settle: (total) => {
      narrator.settle(total);
      store.set({ transcript: narrator.transcript });
    },
    flush: () => undefined,
  };
  const warn = (text: string): void => scribe.add({ type: "notice", level: "warning", text });
  const questions = createLineQuestions({
    strings,
    body: (question) => questionBody(question, lineOptions()),
    hunks: (diff) => hunkRows(diff, lineOptions()),
    edit: (draft) => editor.edit(draft),
    print,
    hideTyping: (isHidden) => input.hideTyping(isHidden),
    onChange: () => turnChanged(),
  });
  const runs = createRuns({
    chat: () => chat,
    store,
    scribe,
    restore: (text) => {
      unsent = text;
      note(linear.notSent(text));
    },
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
  const input = createLineInput({
    input: options.input,
    onLine: (text) => {
      if (questions.isSecret) output.endRow();
      output.rowEnded();
      onLine(text);
      turnChanged();
    },
    onCancel: () => void questions.dismiss(),
    onEnd: () => leave(undefined),
  });
  for (const event of ["error", "close"] as const) options.output.on(event, () => leave(HANGUP));

  let commands = 0;
  let isTurnLookedAt = false;
  /** Shows the prompt once all that happens now has been said, if it is the person's turn then. */
  const turnChanged = (): void => {
    if (isTurnLookedAt) return;
    isTurnLookedAt = true;
    setImmediate(() => {
      isTurnLookedAt = false;
      const isIdle = chat !== null && !runs.isBusy && commands === 0;
      if (!isLeaving && (questions.isOpen ? questions.isWaiting : isIdle)) output.prompt();
    });
  };
  store.subscribe(turnChanged);

  /** Lines that ended with a backslash. */
  let begun: string[] = [];
  /** What waited when the person stopped the work. */
  let unsent = "";
  const onLine = (line: string): void => {
    if (plan.isMessage(line)) plan.close();
    if (begun.length === 0 && questions.line(line)) return;
    if (Buffer.byteLength(line) >= MAX_LINE_BYTES) warn(linear.mayBeCut);
    if (line.endsWith("\\")) {
      begun.push(line.slice(0, -1));
      return;
    }
    const text = [...begun, line].join("\n");
    begun = [];
    if (text.trim() !== "") submissions.submit(text);
    else if (unsent !== "") send(unsent);
  };

  const submissions = createSubmissions({
    chat: () => chat,
    runs,
    onTaken: (text, opened) => {
      plan.close();
      sent.keep(opened.history, text);
    },
    carryOut: async (command, opened) => {
      commands += 1;
      await runLinearCommand(command, opened);
      commands -= 1;
      turnChanged();
    },
    send: (text) => send(text),
    onEmptyShell: () => warn(strings.ui.shellEmpty),
  });

  const send = (text: string): void => {
    unsent = "";
    const before = store.get().queued.length;
    runs.submit(text);
    const { queued } = store.get();
    if (queued.length > before) print([[span(linear.queued(queued.length))]]);
  };

  const sent = createSentMessages((problem) => warn(strings.ui.historyProblem(problem)));

  const runLinearCommand = async (command: ParsedCommand, opened: Chat): Promise<void> => {
    const context = commandContext(opened);
    const name = findCommand(command.name)?.name;
    // There is no other way to the person's clipboard than a control sequence.
    if (name === "copy") note(linear.noClipboard);
    else await runCommand(command, name === "context" ? { ...context, glyphs: NO_GLYPHS } : context);
  };

  const commandContext = (opened: Chat): CommandContext => ({
    chat: opened,
    transcript: () => store.get().transcript,
    isBusy: () => runs.isBusy,
    width: () => Math.min(MAX_COLUMNS, output.width),
    glyphs,
    strings,
    keyRows: linearKeys(linear),
    // The space that parts an answer from what stands above it says nothing.
    say: (lines) => print(lines.slice(lines.findIndex((line) => plainText(line).trim() !== ""))),
    choose: questions.choose,
    copy: () => undefined,
    submit: (text) => runs.submit(text, null),
    edit: (draft) => editor.edit(draft),
    settle: scribe.settle,
    putBack: (text) => {
      unsent = text;
      note(linear.notSent(text));
    },
    restart: scribe.restart,
    showPast: () => showPast(),
    setTheme: () => undefined,
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
    // What the person has typed does not stand there yet.
    const add = (block: Block): void => print(narrator.tell(block));
    if (!past) return;
    const contextTokens = chat?.session().context?.state().tokens;
    const into = { ...scribe, add };
    replay(past, { scribe: into, width: output.width, glyphs, strings: strings.sessions, contextTokens });
  };

  const showInfo = (): void => store.set({ info: chat?.info() ?? null });

  const editor = createPersonEditor({
    chat: () => chat,
    signal: closing.signal,
    release: () => {
      options.input.pause();
      return true;
    },
    acquire: () => {
      if (!isLeaving) options.input.resume();
    },
    warn: (problem) => warn(strings.ui.editorProblem(problem)),
  });

  let lastPressMs = Number.NEGATIVE_INFINITY;
  const interrupt = (): boolean => {
    // With an editor in the terminal, its Ctrl+C reaches us too.
    if (editor.isOpen) return true;
    if (isLeaving) return false;
    output.rowBegun();
    if (begun.length > 0) {
      begun = [];
      note(linear.dropped);
    } else if (runs.interrupt()) note(linear.stopping);
    else if (questions.dismiss()) turnChanged();
    else if (now() - lastPressMs < TWICE_MS) leave(undefined);
    else {
      lastPressMs = now();
      note(linear.leaveHint);
    }
    return true;
  };

  const leave = (exitCode: number | undefined): void => {
    if (isLeaving) return;
    isLeaving = true;
    closing.abort();
    plan.close();
    for (const text of submissions.end()) if (chat) sent.keep(chat.history, text);
    runs.interrupt();
    void end().then(() => over.resolve(exitCode), over.reject);
  };

  const end = async (): Promise<void> => {
    if (chat) {
      await Promise.all([runs.settled(), sent.settled(), editor.settled()]);
      const ended = await chat.close();
      const texts = goodbyeTexts(store.get().transcript, chat.info(), { ended, strings: strings.ui });
      output.print(texts.map((text) => [span(text)]));
    }
    release();
  };

  const release = (): void => {
    input.release();
    output.endRow();
  };

  const open = async (): Promise<void> => {
    note(linear.welcome);
    const opened = await options.openChat(questions.ask, warn);
    if (isLeaving) return void (await opened.close());
    chat = opened;
    showInfo();
    print(headerLines(opened.info(), { width: output.width, glyphs, strings: strings.ui }));
    showPast();
    if (options.picksSession) await runCommand({ name: "resume", argument: "" }, commandContext(opened));
    if (options.prompt.trim() !== "") {
      print(narrator.tell({ type: "person", text: options.prompt }));
      submissions.submit(options.prompt);
    }
    submissions.sendHeld();
  };

  stop.signal.addEventListener("abort", () => leave(undefined), { once: true });
  stop.onInterrupt(interrupt);
  void open().catch((error: unknown) => {
    release();
    over.reject(error);
  });

  return runningChat({ ended: over.promise, release, chat: () => chat });
};
