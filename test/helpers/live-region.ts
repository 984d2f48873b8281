import type { PermissionQuestion, Question } from "../../src/schema/ask.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import type { ChatInfo } from "../../src/session/chat.ts";
import { en } from "../../src/text/en.ts";
import type { Strings } from "../../src/text/strings.ts";
import { type Glyphs, UNICODE_GLYPHS } from "../../src/ui/glyphs.ts";
import { KEY_HELP } from "../../src/ui/input/keymap.ts";
import { type Line, plainText } from "../../src/ui/line.ts";
import { questionBody } from "../../src/ui/question/question-lines.ts";
import { questionOptions } from "../../src/ui/question/question-options.ts";
import { keyLines } from "../../src/ui/transcript/help-lines.ts";
import { NEW_TRANSCRIPT, type Transcript } from "../../src/ui/transcript/transcript.ts";
import { type Layout, type LayoutOptions, layOut } from "../../src/ui/view/layout.ts";
import { emptyState, type OpenQuestion, type ViewState } from "../../src/ui/view/view-state.ts";
import { cutToWidth, displayWidth } from "../../src/ui/width.ts";

export const NOW_MS = Date.parse("2026-01-01T00:00:00.000Z");

export const chatInfo = (change: Partial<ChatInfo> = {}): ChatInfo => ({
  version: "0.1.0",
  workDir: "/home/ann/code/shop",
  homeDir: "/home/ann",
  provider: "anthropic",
  model: "anthropic/claude-opus-4-8",
  isOffline: false,
  keyVariables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
  contextWindow: 200_000,
  prices: null,
  mode: "ask",
  modes: ["ask", "auto-edit", "plan"],
  thinking: "off",
  logFile: null,
  sessionId: "s",
  isKept: false,
  notes: [],
  warnings: [],
  ...change,
});

export const liveState = (change: Partial<ViewState> = {}): ViewState => ({
  ...emptyState(NOW_MS),
  info: chatInfo(),
  isSpaced: true,
  ...change,
});

/** A run in its third turn that has cost something. */
export const running = (change: Partial<Transcript> = {}): Transcript => ({
  ...NEW_TRANSCRIPT,
  run: { startedMs: NOW_MS - 9000, turn: 3, activity: { type: "waiting", sinceMs: NOW_MS - 4100 } },
  current: {
    usage: { ...NO_USAGE, inputTokens: 4400, cacheReadTokens: 9800, outputTokens: 1100 },
    costUsd: 0.061,
    runs: 1,
    turns: 3,
    contextTokens: 16_000,
  },
  ...change,
});

export const permission = (change: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  kind: "permission",
  toolCallId: "a",
  name: "bash",
  arguments: JSON.stringify({ command: "npm test" }),
  reason: "",
  by: "mode",
  offers: [{ scope: "session", rule: "bash(npm test:*)" }],
  ...change,
});

export type Look = {
  readonly columns?: number;
  readonly rows?: number;
  readonly glyphs?: Glyphs;
  readonly strings?: Strings;
};

/** A question that is armed, as `createQuestions` opens it. */
export const openQuestion = (
  question: Question,
  { columns = 80, glyphs = UNICODE_GLYPHS, strings = en }: Look = {},
  change: Partial<OpenQuestion> = {},
): OpenQuestion => ({
  question,
  options: questionOptions(question, strings.question),
  body: questionBody(question, { width: Math.max(1, columns - 1), glyphs, strings }),
  stage: question.kind === "text" ? "write" : "choose",
  selected: 0,
  filter: "",
  text: emptyState(0).editor,
  isArmed: true,
  isInterrupting: false,
  settle: () => undefined,
  ...change,
});

export const layoutOptions = ({
  columns = 80,
  rows = 24,
  glyphs = UNICODE_GLYPHS,
  strings = en,
}: Look = {}): LayoutOptions => ({
  columns,
  rows,
  glyphs,
  strings,
  chipLabel: ({ number, lines }) => strings.ui.pasted(number, lines),
  keyHelp: (width) =>
    keyLines(
      KEY_HELP.map(({ keys, help }) => ({ keys: keys.join("  "), description: strings.keys[help] })),
      width,
    ),
});

export const regionLines = ({ text, steps, question, prompt, footer }: Layout): readonly Line[] => [
  ...text,
  ...steps,
  ...question,
  ...prompt,
  ...footer,
];

/** The live region as plain text, the cursor as ▮. */
export const drawnRegion = (state: ViewState, look: Look = {}): string => {
  const layout = layOut(state, layoutOptions(look));
  const { cursor } = layout;
  return `${regionLines(layout)
    .map((line, row) => {
      const text = plainText(line).trimEnd();
      return cursor?.row === row ? withCursor(text, cursor.column) : text;
    })
    .join("\n")}\n`;
};

const withCursor = (text: string, column: number): string => {
  const before = cutToWidth(text.padEnd(column), column);
  const under = [...text.slice(before.length)][0] ?? "";
  return `${before}▮${text.slice(before.length + under.length)}`.padEnd(displayWidth(before));
};
