import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Question } from "../../../src/schema/ask.ts";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { describeCommands } from "../../../src/ui/commands/slash-commands.ts";
import { ASCII_GLYPHS, type Glyphs, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { createEditor, edit } from "../../../src/ui/input/editor-buffer.ts";
import { type Line, lineWidth, plainText, span } from "../../../src/ui/line.ts";
import { chooseHunks, type HunkChoice, hunkKey, hunkRows } from "../../../src/ui/question/hunk-choice.ts";
import { questionOptions } from "../../../src/ui/question/question-options.ts";
import type { LiveStep } from "../../../src/ui/transcript/transcript.ts";
import { headerLines } from "../../../src/ui/view/header-lines.ts";
import { layOut, roomForHunks } from "../../../src/ui/view/layout.ts";
import type { ViewState } from "../../../src/ui/view/view-state.ts";
import {
  chatInfo,
  drawnRegion,
  type Look,
  layoutOptions,
  liveState,
  NOW_MS,
  openQuestion,
  permission,
  regionLines,
  running,
} from "../../helpers/live-region.ts";

type Frame = (look: Required<Look>) => ViewState | { readonly above: readonly Line[]; readonly state: ViewState };

const OFFLINE = chatInfo({
  isOffline: true,
  provider: "offline",
  model: "offline",
  notes: ["no key was found"],
  warnings: ["the file .harness9/config.json has an unknown setting: colour"],
});
const step = (index: number, change: Partial<LiveStep> = {}): LiveStep => ({
  id: `${index}`,
  name: "bash",
  arguments: JSON.stringify({ command: `npm test -- part${index}` }),
  startedMs: NOW_MS - 3200 - index * 1000,
  isAsked: false,
  ...change,
});
const activity = (type: "thinking" | "answering" | "waiting") => ({
  startedMs: NOW_MS - 9000,
  turn: 3,
  activity: { type, sinceMs: NOW_MS - 4100 } as const,
});
const typed = (text: string) => createEditor(text);
const MENU = {
  items: describeCommands(en.commands).map(({ name, description }) => ({
    value: name,
    label: `/${name}`,
    positions: name === "model" ? [1, 2] : [],
    description,
  })),
  total: 15,
  selected: 2,
};
const EDIT = permission({
  name: "edit_file",
  arguments: JSON.stringify({ path: "src/date.ts", source_text: "a", target_text: "b" }),
  offers: [{ scope: "session", rule: "edit_file(src/**)" }],
  preview: {
    type: "diff",
    path: "src/date.ts",
    added: 2,
    removed: 1,
    hunks: [
      {
        oldStart: 41,
        oldLines: 2,
        newStart: 41,
        newLines: 3,
        lines: [
          " const day = date.getUTCDay() || 7;",
          "-const year = date.getUTCFullYear();",
          "+const thursday = addDays(date, 4 - day);",
          "+const year = thursday.getUTCFullYear();",
        ],
      },
    ],
  },
});
const GUARDED: Question = permission({
  arguments: JSON.stringify({ command: "git push --force origin main" }),
  reason: "rewrites history on the remote. Asked in every mode.",
  by: "guard",
  offers: [],
});
const MULTI_LINE: Question = permission({
  arguments: JSON.stringify({
    command: "cd packages/calendar &&\n\tnpm test -- \\\n  --reporter=dot\u202e && echo done",
  }),
});
const HUNKS = permission({
  ...EDIT,
  preview: {
    type: "diff",
    path: "src/date.ts",
    added: 32,
    removed: 2,
    hunks: [
      { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: ["-import a", "+import { a }", " "] },
      {
        oldStart: 41,
        oldLines: 1,
        newStart: 41,
        newLines: 31,
        lines: [
          " const day = date.getUTCDay() || 7;",
          ...Array.from({ length: 30 }, (_, index) => `+const day${index} = addDays(date, ${index});`),
        ],
      },
      { oldStart: 90, oldLines: 1, newStart: 120, newLines: 1, lines: ["-export default a;", "+export { a };"] },
    ],
  },
});
const choosing =
  (change: Partial<HunkChoice>): Frame =>
  (look) => {
    const { columns, glyphs, strings } = look;
    const { preview } = HUNKS;
    const hunks =
      preview?.type === "diff" ? hunkRows(preview, { width: Math.max(1, columns - 1), glyphs, strings }) : [];
    return asking(
      HUNKS,
      { stage: "hunks", hunks: { ...chooseHunks(hunks), ...change } },
      { waitingQuestions: 1 },
    )(look);
  };
const changedOptions = (isChanged: boolean, question: Question = HUNKS) =>
  questionOptions(question, en.question, { isChanged });
const choice = (count: number): Question => ({
  kind: "choice",
  title: "Choose a model",
  options: Array.from({ length: count }, (_, index) => ({ id: `${index}`, label: `vendor/model-${index + 1}` })),
});

const asking =
  (question: Question, change: Parameters<typeof openQuestion>[2] = {}, state: Partial<ViewState> = {}): Frame =>
  (look) =>
    liveState({
      transcript: running({ steps: [step(1, { isAsked: true })] }),
      question: openQuestion(question, look, change),
      ...state,
    });

const FRAMES: Readonly<Record<string, Frame>> = {
  first: ({ columns, glyphs, strings }) => ({
    above: headerLines(chatInfo(), { width: columns - 1, glyphs, strings: strings.ui }),
    state: liveState(),
  }),
  "first-offline": ({ columns, glyphs, strings }) => ({
    above: headerLines(OFFLINE, { width: columns - 1, glyphs, strings: strings.ui }),
    state: liveState({ info: OFFLINE }),
  }),
  starting: () => liveState({ info: null, editor: typed("first words"), queued: ["sent before it was ready"] }),
  typing: () =>
    liveState({
      editor: edit(
        typed("one line\nand 你好, the second that is a good deal longer than forty columns are"),
        "word-left",
        { columns: 70, chipLabel: () => "" },
      ),
    }),
  menu: () => liveState({ editor: typed("/"), menu: MENU }),
  search: () =>
    liveState({
      search: { query: "test", failed: false, match: { entry: 1, text: "fix the failing\ntest", start: 16 } },
    }),
  "search-fails": () => liveState({ search: { query: "xyz", failed: true } }),
  waiting: () => liveState({ transcript: running() }),
  thinking: () =>
    liveState({
      transcript: running({
        run: activity("thinking"),
        thought: {
          text: `${"The week is counted in the calendar year. ".repeat(4)}ISO weeks need the year of their Thursday.`,
          sinceMs: NOW_MS - 4100,
        },
      }),
    }),
  answering: () =>
    liveState({
      transcript: running({ run: activity("answering"), isAnswering: true }),
      liveText: [
        [span("● "), span("The week is counted in the")],
        [span("  "), span("calendar year")],
      ],
      editor: typed("and add a test"),
    }),
  "one-step": () =>
    liveState({
      isSpaced: false,
      transcript: running({ steps: [step(0, { progress: "✓ parses ISO week\nTest Files  11 passed (12)\n" })] }),
    }),
  "two-steps": () => liveState({ transcript: running({ steps: [step(0, { progress: "a\nb" }), step(1)] }) }),
  "eight-steps": () =>
    liveState({
      transcript: running({ steps: Array.from({ length: 8 }, (_, index) => step(index, { progress: "x" })) }),
    }),
  "asks-command": asking(permission()),
  "asks-lines": asking(MULTI_LINE),
  "asks-edit": asking(EDIT, {}, { waitingQuestions: 1 }),
  "asks-guarded": asking(GUARDED, { selected: 1 }),
  "asks-while-typing": asking(permission(), { isArmed: false, isInterrupting: true }, { editor: typed("and then") }),
  "asks-printed-above": asking(permission(), { body: [] }),
  "asks-hunks": asking(HUNKS, { options: changedOptions(false), body: [] }),
  "chooses-hunks": choosing({}),
  "chooses-hunks-in-the-midst": choosing({ selected: 1, scroll: 5, kept: [true, false, true] }),
  "chooses-hunks-at-the-end": choosing({ selected: 2, kept: [false, true, true] }),
  "chooses-no-hunks": choosing({ selected: 2, kept: [false, false, false] }),
  "asks-changed": asking(permission({ arguments: '{"command":"npm test -- date"}', offers: [] }), {
    options: changedOptions(true, permission({ offers: [] })),
    note: { text: en.question.changed, isProblem: false },
  }),
  "asks-after-a-problem": asking(permission(), {
    options: changedOptions(false, permission()),
    note: { text: en.permission.fileChanged, isProblem: true },
  }),
  "says-why": asking(permission(), { stage: "write", text: typed("use vitest instead") }),
  "chooses-of-3": asking(choice(3), { selected: 1 }),
  "chooses-of-300": asking(choice(300), { selected: 150 }),
  "chooses-filtered": asking(choice(300), { filter: "29", selected: 2 }),
  "chooses-nothing": asking(choice(300), { filter: "nonsense" }),
  "types-secret": asking(
    { kind: "text", title: "Paste OPENAI_API_KEY (it is not shown; esc cancels)", secret: true },
    { text: edit(typed("sk-1234"), "left", { columns: 70, chipLabel: () => "" }) },
  ),
  "types-text": asking({ kind: "text", title: "Which branch?" }, { text: typed("main") }),
  retrying: () =>
    liveState({
      transcript: running({
        run: {
          startedMs: NOW_MS,
          turn: 3,
          activity: {
            type: "retrying",
            sinceMs: NOW_MS - 500,
            untilMs: NOW_MS + 7500,
            attempt: 2,
            maxAttempts: 5,
            reason: "anthropic is overloaded (529): try again later, the servers are busy with other requests",
          },
        },
      }),
    }),
  stopping: () => liveState({ isStopping: true, transcript: running({ run: activity("answering") }) }),
  "stopping-step": () => liveState({ isStopping: true, transcript: running({ steps: [step(0)] }) }),
  queued: () =>
    liveState({
      transcript: running(),
      queued: ["and add a test for 2020-12-31", "then\nrun the linter and tell me what it says about the new file"],
    }),
  "queued-many": () =>
    liveState({ transcript: running(), queued: Array.from({ length: 9 }, (_, index) => `message ${index + 1}`) }),
  keys: () => liveState({ showsKeys: true }),
  hint: () => liveState({ hint: en.ui.leaveHint, editor: typed("x") }),
  "idle-after-runs": () => liveState({ transcript: running({ run: null }) }),
  "idle-unknown-cost": () => {
    const transcript = running({ run: null });
    return liveState({
      info: chatInfo({ contextWindow: null, mode: "yolo" }),
      transcript: { ...transcript, current: { ...transcript.current, costUsd: null } },
    });
  },
};

const drawn = (frame: Frame, look: Required<Look>): string => {
  const made = frame(look);
  const { above, state } = "above" in made ? made : { above: [], state: made };
  return [...above.map((line) => plainText(line).trimEnd()), drawnRegion(state, look)].join("\n");
};

const all = (look: Required<Look>): string =>
  Object.entries(FRAMES)
    .map(([name, frame]) => `[${name}]\n${drawn(frame, look)}`)
    .join("\n");

describe("the live region", () => {
  const look = (columns: number, rows = 24, glyphs: Glyphs = UNICODE_GLYPHS, strings = en): Required<Look> => ({
    columns,
    rows,
    glyphs,
    strings,
  });

  test.each([
    ["40", look(40)],
    ["80", look(80)],
    ["120", look(120)],
    ["20", look(20)],
    ["80-ascii", look(80, 24, ASCII_GLYPHS)],
    ["80-zh", look(80, 24, UNICODE_GLYPHS, zh)],
    ["80-low", look(80, 10)],
    ["1-by-5", look(1, 5)],
    ["30-by-4", look(30, 4)],
  ] as const)("looks at %s as in its file", async (name, size) => {
    await expect(all(size)).toMatchFileSnapshot(`../frames/live/${name}.txt`);
  });

  test.each(Object.entries(FRAMES))("%s fits every screen, and the cursor is in it", (_name, frame) => {
    for (const columns of [1, 2, 3, 4, 5, 7, 12, 20, 39, 80, 300])
      for (const rows of [1, 2, 3, 4, 5, 7, 8, 10, 15, 24, 100]) {
        const size = look(columns, rows);
        const made = frame(size);
        expectFits("above" in made ? made.state : made, size);
      }
  });

  test("what is asked stands there whole with all answers, or is too high", () => {
    const texts = fc.array(fc.constantFrom("npm test", "echo 你好 ".repeat(20), "\t", ""), {
      minLength: 2,
      maxLength: 20,
    });
    const message = fc.constantFrom("", "one", "one\n".repeat(9));
    fc.assert(
      fc.property(
        texts,
        message,
        fc.integer({ min: 60, max: 120 }),
        fc.integer({ min: 3, max: 60 }),
        (rows, text, columns, height) => {
          const size = look(columns, height);
          const question = permission({ arguments: JSON.stringify({ command: rows.join("\n") }) });
          const open = openQuestion(question, size);
          const layout = layOut(liveState({ question: open, editor: typed(text) }), layoutOptions(size));
          const shown = layout.question.map(plainText);
          const wanted = [...open.body.map(plainText), en.question.noWithReason];
          const isWhole = wanted.every((row) => shown.some((one) => one.includes(row)));
          expect(isWhole || layout.isQuestionTooHigh).toBe(true);
          const above = layOut(liveState({ question: { ...open, body: [] } }), layoutOptions(size));
          expect(above.isQuestionTooHigh).toBe(false);
        },
      ),
    );
  });

  test("a hunk that can be seen whole is not scrolled through", () => {
    const size = look(80, 24);
    const lines = Array.from({ length: 14 }, (_, index) => [span(`${index}`)]);
    const hunks = chooseHunks([lines, lines]);
    const state = liveState({ question: openQuestion(permission(), size, { stage: "hunks", hunks }) });
    const room = roomForHunks(state, layoutOptions(size));
    const shown = layOut(state, layoutOptions(size)).question.map(plainText);
    expect(shown.slice(2, 16)).toEqual(lines.map((line) => plainText(line)));
    expect(room).toBe(shown.length - 2);
    expect(hunkKey(hunks, { type: "key", chord: "down" }, room)).toMatchObject({ selected: 1, scroll: 0 });
    expect(roomForHunks(liveState(), layoutOptions(size))).toBe(0);
  });

  const expectFits = (state: ViewState, size: Look & { readonly columns: number; readonly rows: number }): void => {
    const layout = layOut(state, layoutOptions(size));
    const lines = regionLines(layout);
    const where = `${size.columns} x ${size.rows}\n${lines.map(plainText).join("\n")}`;
    const width = Math.max(1, size.columns - 1);
    expect(Math.max(...lines.map(lineWidth)), where).toBeLessThanOrEqual(width);
    expect(lines.length, where).toBeLessThanOrEqual(Math.max(1, size.rows - 1));
    expect(lines.map(plainText).join(""), where).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    const { cursor } = layout;
    if (cursor === null) return;
    expect(cursor.row, where).toBeLessThan(lines.length);
    expect(cursor.column, where).toBeLessThanOrEqual(width);
    const first = lines.length - layout.prompt.length - layout.footer.length;
    expect(cursor.row, where).toBeGreaterThanOrEqual(first);
  };

  test("whatever the state and the size, it fits", () => {
    const text = fc
      .array(
        fc.constantFrom("word ", "你好", "🎉", "\n", "\t", "\x1b[2J", "\u202e", "x".repeat(40), "e\u0301", "👩‍👩‍👧"),
        { maxLength: 30 },
      )
      .map((parts) => parts.join(""));
    const question: fc.Arbitrary<Question> = fc.oneof(
      fc.record({ command: text, reason: text, rule: text }).map(({ command, reason, rule }) =>
        permission({
          name: rule,
          arguments: JSON.stringify({ command }),
          reason,
          offers: [{ scope: "session", rule }],
        }),
      ),
      fc.record({ title: text, text, labels: fc.array(text, { maxLength: 20 }) }).map(
        ({ title, text: below, labels }): Question => ({
          kind: "choice",
          title,
          text: below,
          options: labels.map((label, index) => ({ id: `${index}`, label })),
        }),
      ),
      text.map((title): Question => ({ kind: "text", title })),
      fc.constant(EDIT),
    );
    fc.assert(
      fc.property(
        fc.record({
          columns: fc.integer({ min: 1, max: 300 }),
          rows: fc.integer({ min: 1, max: 100 }),
          glyphs: fc.constantFrom(UNICODE_GLYPHS, ASCII_GLYPHS),
        }),
        fc.record({
          words: text,
          queued: fc.array(text, { maxLength: 5 }),
          live: fc.nat(60),
          steps: fc.array(fc.record({ command: text, progress: text, isAsked: fc.boolean() }), { maxLength: 9 }),
          question: fc.option(question),
          filter: text,
          selected: fc.nat(3),
          isStopping: fc.boolean(),
          isSpaced: fc.boolean(),
          what: fc.constantFrom("menu", "search", "keys", "hint", "nothing", "starting"),
          model: text,
          isArmed: fc.boolean(),
        }),
        (size, made) => {
          const state = liveState({
            editor: typed(made.words),
            queued: made.queued,
            liveText: Array.from({ length: made.live }, (_, index) => [span(`  row ${index}`)]),
            transcript: running({
              steps: made.steps.map(({ command, progress, isAsked }, index) =>
                step(index, { arguments: JSON.stringify({ command }), progress, isAsked }),
              ),
              thought: { text: made.words, sinceMs: 0 },
            }),
            isStopping: made.isStopping,
            isSpaced: made.isSpaced,
            info: made.what === "starting" ? null : chatInfo({ model: made.model }),
            menu: made.what === "menu" ? MENU : null,
            search:
              made.what === "search"
                ? { query: made.words, failed: false, match: { entry: 0, text: made.model, start: 0 } }
                : null,
            showsKeys: made.what === "keys",
            hint: made.what === "hint" ? en.ui.clearHint : null,
            question: made.question
              ? openQuestion(made.question, size, {
                  selected: made.selected,
                  filter: made.filter,
                  isArmed: made.isArmed,
                })
              : null,
          });
          expectFits(state, size);
        },
      ),
      { numRuns: 200 },
    );
  });
});
