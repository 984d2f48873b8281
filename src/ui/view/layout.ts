import { stripControls, visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { completionLines } from "../input/completion-lines.ts";
import { createEditor, type EditView, submitText } from "../input/editor-buffer.ts";
import type { ChipLabel } from "../input/editor-chips.ts";
import { editorRows, textColumns } from "../input/editor-rows.ts";
import { type Line, span } from "../line.ts";
import { hunkLines, hunkRoom } from "../question/hunk-choice.ts";
import { optionLines, rowAbout } from "../question/question-lines.ts";
import { filterOptions, isFiltered } from "../question/question-options.ts";
import { cutRow } from "../rows.ts";
import { cutLine } from "../transcript/table-lines.ts";
import { sessionUsage } from "../transcript/transcript.ts";
import { visibleProse } from "../visible-prose.ts";
import { displayWidth } from "../width.ts";
import { wrapSpans } from "../wrap.ts";
import { statusLine } from "./status-line.ts";
import { stepsLines } from "./steps-lines.ts";
import type { OpenQuestion, ViewState } from "./view-state.ts";

export type LayoutOptions = {
  /** The terminal's size. */
  readonly columns: number;
  readonly rows: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings;
  readonly chipLabel: ChipLabel;
  /** The help for keys, as it stands in place of the status line. */
  readonly keyHelp: (width: number) => readonly Line[];
};

/** The live region: its parts from above to below, and the cursor within all of them. */
export type Layout = {
  readonly text: readonly Line[];
  readonly steps: readonly Line[];
  readonly question: readonly Line[];
  readonly prompt: readonly Line[];
  readonly footer: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number } | null;
  /** What is asked leaves no room for the answers, or is cut: it must be printed above. */
  readonly isQuestionTooHigh: boolean;
};

const MAX_PROMPT_ROWS = 10;
const MAX_MENU_ROWS = 8;
const MAX_QUEUED_ROWS = 3;
/** What the footer leaves to a question on a low screen: what is asked, an answer and how to refuse. */
const LEAST_QUESTION_ROWS = 6;

/** What the live region shows, never higher than the screen less one row, nor wider than its columns less one. Pure. */
export const layOut = (state: ViewState, options: LayoutOptions): Layout => {
  const { width, prompt, footer, room } = lowerPart(state, options);
  const { lines: question, isTooHigh } = questionPart(state, { ...options, width, maxRows: room });
  const rest = Math.max(0, room - question.length);
  const steps = state.question ? [] : stepsLines(state, { ...options, width, maxRows: rest });
  const text = lastRows(state.liveText, Math.max(0, rest - steps.length), options.glyphs);
  const above = text.length + steps.length + question.length;
  // The last safeguard: a row that is too wide would be wrapped by the terminal, and leave a ghost behind.
  const fit = (lines: readonly Line[]): readonly Line[] => lines.map((line) => cutLine(line, width));
  return {
    text: fit(text),
    steps: fit(steps),
    question: fit(question),
    prompt: fit(prompt.lines),
    footer: fit(footer),
    cursor: prompt.cursor && { row: above + prompt.cursor.row, column: Math.min(prompt.cursor.column, width) },
    isQuestionTooHigh: isTooHigh,
  };
};

/** How many rows there are for the hunks of a question, while they are chosen. */
export const roomForHunks = (state: ViewState, options: LayoutOptions): number => {
  const hunks = state.question?.hunks;
  if (!hunks) return 0;
  const { width, room } = lowerPart(state, options);
  return hunkRoom(hunks, { width, maxRows: room, strings: options.strings });
};

/** The input and what stands below it, and the rows that these leave. */
const lowerPart = (state: ViewState, options: LayoutOptions) => {
  const width = Math.max(1, options.columns - 1);
  const height = Math.max(1, options.rows - 1);
  const write = state.question?.stage === "write" ? state.question : null;
  const prompt = promptLines(state, write, {
    ...options,
    width,
    maxRows: Math.max(1, Math.min(MAX_PROMPT_ROWS, height >> 1)),
  });
  const below = height - prompt.lines.length - (state.question ? LEAST_QUESTION_ROWS : 0);
  const footer = firstRows(footerLines(state, { ...options, width }), Math.max(0, below), options.glyphs);
  return { width, prompt, footer, room: height - prompt.lines.length - footer.length };
};

const PROMPT_REST: Line = [span("  ")];

/** How the input stands on the screen, for keys that move by rows. */
export const editView = ({
  columns,
  glyphs,
  chipLabel,
}: Pick<LayoutOptions, "columns" | "glyphs" | "chipLabel">): EditView => ({
  columns: textColumns({ width: Math.max(1, columns - 1), prompt: [span(`${glyphs.person} `)], rest: PROMPT_REST }),
  chipLabel,
});

type Sized = LayoutOptions & { readonly width: number };

const promptLines = (
  state: ViewState,
  write: OpenQuestion | null,
  { width, rows, maxRows, glyphs, chipLabel }: Sized & { readonly maxRows: number },
): { readonly lines: readonly Line[]; readonly cursor: Layout["cursor"] } => {
  const rule: readonly Line[] = rows < 8 ? [] : [[span(glyphs.rule.repeat(width), "dim")]];
  const isChoosing = state.question !== null && write === null && state.question.isArmed;
  const role = isChoosing ? "dim" : "accent";
  const isSecret = write?.question.kind === "text" && write.question.secret === true;
  const editor = write?.text ?? state.editor;
  const hidden = { ...createEditor(glyphs.bullet.repeat(editor.text.length)), cursor: editor.cursor };
  const drawn = editorRows(isSecret ? hidden : editor, {
    width,
    maxRows,
    prompt: [span(`${glyphs.person} `, role)],
    rest: PROMPT_REST,
    chipLabel,
  });
  const cursor = { row: rule.length + drawn.cursor.row, column: drawn.cursor.column };
  return { lines: [...rule, ...drawn.rows], cursor: isChoosing ? null : cursor };
};

const footerLines = (state: ViewState, { width, glyphs, strings, keyHelp }: Sized): readonly Line[] => {
  const { menu, search, hint, showsKeys, info, transcript, queued } = state;
  const waiting = queuedLines(queued, { width, glyphs, strings, canTakeBack: info !== null });
  if (menu)
    return [...waiting, ...completionLines(menu, { width, maxRows: MAX_MENU_ROWS, glyphs, strings: strings.commands })];
  if (search) {
    const { query, match, failed } = search;
    const text = failed ? strings.ui.searchFails(oneRow(query)) : strings.ui.search(oneRow(query));
    const found = cutRow(oneRow(match?.text ?? ""), width - displayWidth(text) - 5, glyphs.ellipsis);
    const parting = found === "" ? "" : ` ${glyphs.dot} `;
    return [...waiting, [span("  "), span(text, failed ? "warning" : "accent"), span(`${parting}${found}`)]];
  }
  if (showsKeys) return [...waiting, ...keyHelp(width)];
  if (hint !== null) return [...waiting, [span("  "), span(hint, "warning")]];
  if (!info) return [...waiting, [span("  "), span(strings.ui.starting, "dim")]];
  const used = sessionUsage(transcript);
  return [...waiting, statusLine({ info, used, turn: transcript.run?.turn ?? 0, width, glyphs, strings: strings.ui })];
};

/** The newest of what waits, and what takes that one back. */
const queuedLines = (
  queued: readonly string[],
  {
    width,
    glyphs,
    strings,
    canTakeBack,
  }: Pick<Sized, "width" | "glyphs" | "strings"> & { readonly canTakeBack: boolean },
): readonly Line[] => {
  const shown = queued.slice(-MAX_QUEUED_ROWS);
  const hidden = queued.length - shown.length;
  const hint = `  ${strings.ui.queuedHint}`;
  const rows = shown.map((text, index): Line => {
    const label = strings.ui.queued(oneRow(text));
    const isNewest = index === shown.length - 1;
    const room = width - 2 - displayWidth(hint);
    if (!isNewest || !canTakeBack || room < displayWidth(hint))
      return [span("  "), span(cutRow(label, width - 2, glyphs.ellipsis), "dim")];
    return [span("  "), span(cutRow(label, room, glyphs.ellipsis), "dim"), span(hint, "dim")];
  });
  const more = `${glyphs.ellipsis} ${strings.question.more(hidden)}`;
  return hidden === 0 ? rows : [[span("  "), span(more, "dim")], ...rows];
};

const oneRow = (text: string): string => visibleProse(stripControls(text)).replace(/\s+/g, " ");

type QuestionPart = { readonly lines: readonly Line[]; readonly isTooHigh: boolean };

const questionPart = (
  state: ViewState,
  { width, maxRows, glyphs, strings }: Sized & { readonly maxRows: number },
): QuestionPart => {
  const { question, waitingQuestions } = state;
  if (!question) return { lines: [], isTooHigh: false };
  const { stage, isInterrupting, options, filter, note, hunks } = question;
  if (hunks && question.question.kind === "permission") {
    const title = titleRow(question.question, { width, glyphs });
    return { lines: hunkLines(hunks, title, { width, maxRows, glyphs, strings }), isTooHigh: false };
  }
  const quiet = (text: string): readonly Line[] =>
    wrapSpans([span(text, "dim")], { width, first: INDENT, rest: INDENT });
  const below: Line[] = [];
  if (note) {
    const text = visibleControls(note.text.replaceAll("\n", " "));
    const role = note.isProblem ? "warning" : "accent";
    below.push(...wrapSpans([span(text, role)], { width, first: INDENT, rest: INDENT }));
  }
  if (stage === "choose" && isFiltered(options))
    below.push(...quiet(strings.question.filter(oneRow(filter) || glyphs.ellipsis)));
  if (stage === "write" && question.question.kind !== "text") below.push(...quiet(strings.question.reason));
  // Where nothing is being typed the pause is short, and not worth a word.
  if (isInterrupting) below.push(...(submitText(state.editor) === "" ? [[]] : quiet(strings.question.typing)));
  else if (stage === "choose") {
    const refusing = question.question.kind === "permission" ? strings.question.escape : strings.question.escapeCancel;
    const waiting = waitingQuestions + (question.question.kind === "permission" ? state.transcript.callsToCome : 0);
    const more = waiting > 0 ? `   ${strings.question.waiting(waiting)}` : "";
    below.push(...quiet(`${refusing}${more}`));
  }
  const body =
    question.body.length > 0
      ? question.body
      : [titleRow(question.question, { width, glyphs, note: `  ${strings.question.printedAbove}` })];
  const shown = stage === "choose" ? filterOptions(options, filter) : [];
  const answersIn = (rows: number): readonly Line[] =>
    stage === "choose" && shown.length === 0
      ? quiet(strings.question.nothingFits)
      : optionLines(shown, question.selected, { width, maxRows: rows, glyphs, strings });
  const wanted = answersIn(MAX_OPTION_ROWS);
  const room = Math.max(1, maxRows - body.length - below.length);
  const answers = wanted.length <= room ? wanted : answersIn(Math.min(MAX_OPTION_ROWS, room));
  const isTooHigh = question.body.length > 1 && wanted.length > maxRows - body.length - below.length;
  const spare = maxRows - body.length - answers.length - below.length;
  const gap: readonly Line[] = answers.length > 0 && spare > 0 ? [[]] : [];
  const space: readonly Line[] = state.isSpaced && spare > gap.length ? [[]] : [];
  if (spare >= 0) return { lines: [...space, ...body, ...gap, ...answers, ...below], isTooHigh };
  // Without room for all: the answers first, then what is asked from its beginning, then the rest.
  const least = lastRows([...answers, ...below].slice(0, Math.max(answers.length, maxRows - 1)), maxRows, glyphs);
  return { lines: [...firstRows(body, maxRows - least.length, glyphs), ...least], isTooHigh };
};

const INDENT: Line = [span("    ")];
const MAX_OPTION_ROWS = 12;
const LEAST_NAME = 10;

/** In the place of what is asked, where that has no room here; with the note, where it leaves room for the name. */
const titleRow = (
  question: OpenQuestion["question"],
  { width, glyphs, note = "" }: Pick<LayoutOptions, "glyphs"> & { readonly width: number; readonly note?: string },
): Line => {
  const name = visibleControls(question.kind === "permission" ? question.name : question.title);
  const about = question.kind === "permission" ? rowAbout(question) : "";
  const room = width - 2 - displayWidth(note);
  const hasNote = room >= Math.min(LEAST_NAME, displayWidth(name));
  const hasAbout = about !== "" && room > LEAST_NAME + Math.min(LEAST_NAME, displayWidth(about));
  const title = hasAbout ? `${name.padEnd(LEAST_NAME)} ${about}` : name;
  const shown = cutRow(title, Math.max(1, hasNote ? room : width - 2), glyphs.ellipsis);
  return [
    span(`${glyphs.question} `, "warning"),
    span(shown.slice(0, name.length), "bold"),
    span(shown.slice(name.length)),
    ...(hasNote && note !== "" ? [span(note, "dim")] : []),
  ];
};

/** The beginning, where not all has room. */
const firstRows = (lines: readonly Line[], room: number, glyphs: Glyphs): readonly Line[] =>
  lines.length <= room || room < 2
    ? lines.slice(0, Math.max(0, room))
    : [...lines.slice(0, room - 1), [span(`  ${glyphs.ellipsis}`, "dim")]];

/** The newest rows, where not all have room. */
const lastRows = (lines: readonly Line[], room: number, glyphs: Glyphs): readonly Line[] =>
  lines.length <= room
    ? lines
    : room < 2
      ? lines.slice(lines.length - room)
      : [[span(`  ${glyphs.ellipsis}`, "dim")], ...lines.slice(lines.length - room + 1)];
