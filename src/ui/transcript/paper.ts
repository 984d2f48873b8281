import { stripControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatDuration } from "../duration.ts";
import { formatTokens } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, lineWidth, type Role, type Span, span } from "../line.ts";
import type { Markdown } from "../markdown/stream-markdown.ts";
import { visibleProse } from "../visible-prose.ts";
import { wrapSpans } from "../wrap.ts";
import { stepLines } from "./step-lines.ts";
import type { Block } from "./transcript.ts";

export type PaperOptions = {
  /** Cells that a line may take. */
  readonly width: () => number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "transcript" | "steps" | "compaction">;
  readonly createMarkdown: (width: number) => Markdown;
  /** Whether what the model thought is printed whole, or told in one line. */
  readonly showsThinking: () => boolean;
};

/** The finished part of the transcript: each block becomes lines once, in order, and is then forgotten. */
export interface Paper {
  /** The lines that these blocks finish. */
  write(blocks: readonly Block[]): readonly Line[];
  /** The unfinished text as it looks now. */
  live(): readonly Line[];
  /** Whether a blank line stands before the next step. */
  isSpaced(): boolean;
  /** Lines of our own, as a command's answer, with the space between. */
  say(lines: readonly Line[]): readonly Line[];
}

const INDENT = span("  ");

export const createPaper = (options: PaperOptions): Paper => {
  const { glyphs, strings } = options;
  let text: { readonly markdown: Markdown; hasBegun: boolean } | null = null;
  let before: Block["type"] | "said" | null = null;

  /** A blank line between blocks; steps follow each other closely. */
  const spaced = (type: Block["type"] | "said", lines: readonly Line[]): readonly Line[] => {
    if (lines.length === 0) return lines;
    const isClose = before === null || (before === "step" && type === "step");
    before = type;
    return isClose ? lines : [[], ...lines];
  };

  const prefixed = (lines: readonly Line[], open: { hasBegun: boolean }): Line[] =>
    lines.flatMap(fitted).map((line) => {
      if (open.hasBegun) return line.length === 0 ? line : withPrefix(INDENT, line);
      open.hasBegun = true;
      return withPrefix(span(`${glyphs.model} `, "accent"), line);
    });

  const textWidth = (): number => Math.max(1, options.width() - 2);

  /** Text that began in a wider window. */
  const fitted = (line: Line): readonly Line[] =>
    lineWidth(line) <= textWidth() ? [line] : wrapSpans(line, { width: textWidth() });

  /** Where there is no room for both, the mark goes and not the text. */
  const withPrefix = (prefix: Span, line: Line): Line => (options.width() > 2 ? [prefix, ...line] : line);

  const writeText = (delta: string): readonly Line[] => {
    const isNew = text === null;
    text ??= { markdown: options.createMarkdown(textWidth()), hasBegun: false };
    const lines = prefixed(text.markdown.push(delta), text);
    if (!isNew) return continued(lines);
    // The space before it is there from the first piece on, so that nothing jumps when its first line is finished.
    const isClose = before === null;
    before = "text";
    return isClose ? lines : [[], ...lines];
  };

  /** Text goes on below what was printed in its midst, as a step of the person's own. */
  const continued = (lines: readonly Line[]): readonly Line[] => {
    if (lines.length === 0 || before === "text") return lines;
    before = "text";
    return [[], ...lines];
  };

  const endText = (isDiscarded: boolean): readonly Line[] => {
    if (!text) return [];
    const lines = continued(prefixed(text.markdown.end(), text));
    text = null;
    return isDiscarded ? [...lines, ...indented(strings.transcript.discarded, options.width(), "dim")] : lines;
  };

  const writeBlock = (block: Block): readonly Line[] => {
    const width = options.width();
    switch (block.type) {
      case "text":
        return writeText(block.delta);
      case "text.end":
        return endText(block.isDiscarded);
      case "person":
        return spaced("person", marked(glyphs.person, block.text, { width, role: "accent", textRole: "bold" }));
      case "thought":
        return spaced("thought", thoughtLines(block, options));
      case "step":
        return spaced("step", stepLines(block.step, { width, glyphs, strings: strings.steps }));
      case "notice": {
        const role = block.level === "info" ? "dim" : block.level === "warning" ? "warning" : "failure";
        return spaced("notice", marked(glyphs.notice, block.text, { width, role, textRole: role }));
      }
      case "compacted": {
        const [from, to] = [formatTokens(block.before), formatTokens(block.after)];
        const { compacted, restored } = strings.compaction;
        const text = block.after > block.before ? restored(from, to) : compacted(from, to);
        return spaced("notice", marked(glyphs.notice, text, { width, role: "dim", textRole: "dim" }));
      }
      case "end":
        return spaced("end", endLines(block, options));
      default:
        return block satisfies never;
    }
  };

  return {
    write: (blocks) => blocks.flatMap(writeBlock),
    live: () => {
      if (!text) return [];
      const lines = prefixed(text.markdown.live(), { hasBegun: text.hasBegun });
      return before === "text" || lines.length === 0 ? lines : [[], ...lines];
    },
    isSpaced: () => before !== null && before !== "step",
    say: (lines) => spaced("said", lines),
  };
};

/** Text behind a mark in the first column; its other rows are indented. */
export const marked = (
  glyph: string,
  text: string,
  { width, role, textRole }: { readonly width: number; readonly role: Role; readonly textRole?: Role },
): readonly Line[] =>
  visibleProse(stripControls(text))
    .replace(/\s+$/, "")
    .split("\n")
    .flatMap((row, index) =>
      wrapSpans([textRole ? span(row, textRole) : span(row)], {
        width,
        first: index === 0 ? [span(`${glyph} `, role)] : [INDENT],
        rest: [INDENT],
      }),
    );

const thoughtLines = (
  { text, durationMs }: Extract<Block, { type: "thought" }>,
  { glyphs, strings, width, showsThinking }: PaperOptions,
): readonly Line[] => {
  const duration = formatDuration(durationMs);
  const head = marked(glyphs.model, strings.transcript.thought(duration), {
    width: width(),
    role: "dim",
    textRole: "dim",
  });
  return showsThinking() ? [...head, ...fullThought(text, width())] : head;
};

/** A whole thought, as it is shown on demand. */
export const fullThought = (text: string, width: number): readonly Line[] =>
  visibleProse(stripControls(text))
    .trim()
    .split("\n")
    .flatMap((row) => indented(row, width, "dim", "italic"));

const indented = (row: string, width: number, ...roles: readonly Role[]): readonly Line[] =>
  wrapSpans([span(row, ...roles)], { width, first: [INDENT], rest: [INDENT] });

const endLines = (
  { reason, error, durationMs, denials }: Extract<Block, { type: "end" }>,
  { glyphs, strings, width }: PaperOptions,
): readonly Line[] => {
  const failed = (text: string): readonly Line[] => marked(glyphs.failed, text, { width: width(), role: "failure" });
  switch (reason) {
    case "completed":
      return [];
    case "cancelled":
      return failed(strings.transcript.interrupted(formatDuration(durationMs)));
    case "blocked":
      return failed(strings.transcript.blocked([...new Set(denials)].join(", ")));
    case "max_turns":
    case "budget":
    case "repeated_call":
    case "error": {
      const hint = error?.hint === undefined ? [] : marked(" ", error.hint, { width: width(), role: "dim" });
      return [...failed(error?.message ?? reason), ...hint];
    }
    default:
      return reason satisfies never;
  }
};
