import type { EngineEvent } from "../schema/event.ts";
import type { ChatInfo, ChatSettings } from "../session/chat.ts";
import type { Player } from "../session/replay-player.ts";
import type { Strings } from "../text/strings.ts";
import { glyphsFor } from "./glyphs.ts";
import { createEditor } from "./input/editor-buffer.ts";
import type { Line } from "./line.ts";
import { createLazyMarkdown } from "./markdown/lazy-markdown.ts";
import { type QuestionLinesOptions, questionBody } from "./question/question-lines.ts";
import { questionOptions } from "./question/question-options.ts";
import { createSessionNote, type ReplayTitle, replayHeader, replayInfo, replayRow } from "./replay-info.ts";
import type { KeyInput } from "./terminal/keys.ts";
import type { Screen } from "./terminal/screen.ts";
import { openTerminal, type TerminalOptions } from "./terminal/terminal.ts";
import { colorLevel } from "./theme.ts";
import { createPaper } from "./transcript/paper.ts";
import { sessionUsage } from "./transcript/transcript.ts";
import { createAppearance } from "./view/appearance.ts";
import { createView, showPlainly, type View } from "./view/chat-view.ts";
import type { Layout } from "./view/layout.ts";
import { lastStepLines, lastThoughtLines } from "./view/own-lines.ts";
import { createShower } from "./view/replay.ts";
import { createScribe } from "./view/scribe.ts";
import { createStore, emptyState, type OpenQuestion } from "./view/view-state.ts";

export type StartReplayOptions = Pick<TerminalOptions, "input" | "output" | "suspend"> & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: ChatSettings;
  readonly strings: Strings;
  readonly title: ReplayTitle;
  readonly player: Player;
  /** What to tell of the recording; asked when it has been played. */
  readonly problem: () => string | undefined;
  /** Aborts when the process is to end. */
  readonly signal: AbortSignal;
  /** Hears Ctrl+C that the terminal has made a signal. */
  readonly onInterrupt: (handler: () => boolean) => void;
};

/** A replay that has the terminal. */
export type RunningReplay = {
  /** Resolves when it is over. Rejects with what it could not be read for. */
  readonly ended: Promise<"played" | "left">;
  /** Gives the terminal back as it was, now. */
  readonly release: () => void;
};

/** Shows recorded events in a terminal as the chat has shown them when they happened. */
export const startReplay = (options: StartReplayOptions): RunningReplay => {
  const { env, settings, strings, player, signal } = options;
  const glyphs = glyphsFor({ env, setting: settings.glyphs });
  const appearance = createAppearance(settings.theme, { env, level: colorLevel({ env, isTTY: true }) });
  const store = createStore(emptyState(player.now()));
  const terminal = openTerminal({
    ...options,
    onKey: (input) => onKey(input),
    onResize: () => store.set({}),
    onLost: player.stop,
  });
  const { screen } = terminal;
  const markdown = createLazyMarkdown(glyphs);
  const width = (): number => Math.max(1, screen.columns - 1);
  const lineOptions = () => ({ width: width(), glyphs, strings });
  const view = withRow(
    createView({
      store,
      screen,
      theme: () => appearance.theme,
      glyphs,
      strings: { ...strings, ui: { ...strings.ui, keysHint: "", commandsHint: "" } },
      chipLabel: () => "",
      keyHelp: () => [],
    }),
    screen,
    () => replayRow(player, glyphs, strings.replay),
  );
  const paper = createPaper({
    width,
    glyphs,
    strings,
    createMarkdown: markdown.create,
    showsThinking: () => settings.showThinking,
  });
  const print = (lines: readonly Line[]): void => screen.print(lines.map(appearance.theme.paint));
  const scribe = createScribe({ store, paper, print, now: player.now });

  let wasLeft = false;
  const leave = (): void => {
    wasLeft = true;
    player.stop();
  };

  const chords: Readonly<Record<string, () => void>> = {
    escape: leave,
    "ctrl+c": leave,
    "ctrl+d": leave,
    "ctrl+l": screen.redraw,
    "ctrl+z": () => void terminal.suspend(),
    "ctrl+o": () => scribe.say(lastStepLines(store.get().transcript, lineOptions())),
    "ctrl+t": () => scribe.say(lastThoughtLines(store.get().transcript, lineOptions())),
  };
  const letters: Readonly<Record<string, () => void>> = {
    " ": player.pauseOrGoOn,
    "+": player.faster,
    "=": player.faster,
    "-": player.slower,
    q: leave,
  };
  const onKey = (input: KeyInput): void => {
    if (input.type === "reply" && input.reply.kind === "background") appearance.background(input.reply);
    if (input.type === "key") chords[input.chord]?.();
    if (input.type === "text") for (const letter of input.text) letters[letter]?.();
    store.set({});
  };

  const play = async (): Promise<"played" | "left"> => {
    await Promise.all([markdown.load(), markdown.loadHighlighter()]);
    const show = createShower(scribe);
    const sessionNote = createSessionNote(strings.replay);
    let info: ChatInfo | null = null;
    for await (const event of player.events) {
      const begins = sessionNote(event);
      if (begins !== undefined) note(begins);
      info = replayInfo(info, event, strings);
      // Before its first turn the status line would offer keys that nothing listens to.
      if (info !== store.get().info && (store.get().info !== null || event.type === "turn.started"))
        store.set({ info });
      show(event);
      const question = openQuestion(store.get().question, event, lineOptions());
      if (question !== store.get().question) store.set({ question });
      if (options.output.writableNeedDrain) await new Promise<void>((resolve) => options.output.once("drain", resolve));
    }
    // Of a run that was left, nothing goes on.
    store.set({ question: null });
    scribe.settle(sessionUsage(store.get().transcript));
    const problem = options.problem();
    if (problem !== undefined) scribe.add({ type: "notice", level: "warning", text: problem });
    note(wasLeft ? strings.replay.left : strings.replay.over);
    return wasLeft ? "left" : "played";
  };
  const note = (text: string): void => scribe.add({ type: "notice", level: "info", text });

  let unmount = (): void => undefined;
  const release = (): void => {
    unmount();
    terminal.release();
  };
  const loadInk = async (): Promise<void> => {
    const { runUi } = await import("./run-ui.tsx");
    endPlain();
    unmount = runUi(view);
  };

  signal.addEventListener("abort", leave, { once: true });
  options.onInterrupt(() => {
    leave();
    return true;
  });
  const endPlain = store.subscribe(() => showPlainly(view));
  scribe.say(replayHeader(options.title, { width: width(), glyphs, strings: strings.replay }));
  showPlainly(view);
  screen.flush();
  if (appearance.isAutomatic) terminal.askBackground();
  const ended = loadInk().then(play).finally(release);
  return { ended, release };
};

/** What was asked, until it was answered. No key answers it now. */
const openQuestion = (
  before: OpenQuestion | null,
  event: EngineEvent,
  options: QuestionLinesOptions & { readonly strings: Strings },
): OpenQuestion | null => {
  switch (event.type) {
    case "permission.requested":
      return {
        question: event.question,
        options: questionOptions(event.question, options.strings.question),
        body: questionBody(event.question, options),
        stage: "choose",
        selected: 0,
        filter: "",
        text: createEditor(),
        isArmed: false,
        // So that it names no key.
        isInterrupting: true,
        settle: () => undefined,
      };
    case "permission.resolved":
    case "run.completed":
      return null;
    default:
      return before;
  }
};

/** The view with a row of our own in place of the input. */
const withRow = (view: View, screen: Screen, row: () => Line): View => {
  let made: { readonly base: Layout; readonly layout: Layout } | undefined;
  const layout = (): Layout => {
    const base = view.layout();
    if (made?.base !== base)
      made = { base, layout: { ...base, prompt: [...base.prompt.slice(0, -1), row()], cursor: null } };
    return made.layout;
  };
  return {
    subscribe: view.subscribe,
    layout,
    get paint() {
      return view.paint;
    },
    size: view.size,
    show: (rows) => screen.draw({ rows, cursor: null }),
  };
};
