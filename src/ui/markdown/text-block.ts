import type { Line } from "../line.ts";
import { createWrapper, type Wrapper } from "../wrap.ts";
import { type Frame, followed, type Leaf } from "./frame.ts";
import { pieceLines } from "./inline.ts";
import { MAX_LINE } from "./line-kind.ts";
import { createSettler, type Piece, type Settler } from "./settle.ts";

/** A heading: its lines at once. */
export const headingLines = (text: string, frame: Frame): Line[] => {
  const block = createTextBlock({ ...frame, roles: [...frame.roles, "heading"] });
  return [...block.write(text), ...block.end()];
};

/** Text with inline markdown that comes in pieces, newlines included, wrapped into the frame. */
const createTextBlock = (frame: Frame): TextBlock =>
  textBlockFrom({ frame, settler: createSettler(), wrapper: createWrapper(frame), isAfterBreak: false });

type TextBlock = { write(text: string): Line[]; end(): Line[]; clone(): TextBlock };

type TextState = {
  readonly frame: Frame;
  readonly settler: Settler;
  wrapper: Wrapper;
  /** Whether spaces are dropped, because a line begins that the wrapper takes for indented. */
  isAfterBreak: boolean;
};

const textBlockFrom = (state: TextState): TextBlock => ({
  write: (text) => drawPieces(state, state.settler.push(text)),
  end: () => [...drawPieces(state, state.settler.end()), ...state.wrapper.end()],
  clone: () => textBlockFrom({ ...state, settler: state.settler.clone(), wrapper: state.wrapper.clone() }),
});

const drawPieces = (state: TextState, pieces: readonly Piece[]): Line[] =>
  pieceLines(pieces, state.frame.roles).flatMap((spans, at) => {
    const ended = at === 0 ? [] : state.wrapper.end();
    if (at > 0) {
      state.wrapper = createWrapper(followed(state.frame));
      state.isAfterBreak = true;
    }
    return [...ended, ...state.wrapper.push(state.isAfterBreak ? withoutLeadingSpaces(state, spans) : spans)];
  });

const withoutLeadingSpaces = (state: TextState, spans: Line): Line => {
  const start = spans.findIndex(({ text }) => text.trimStart() !== "");
  if (start < 0) return [];
  state.isAfterBreak = false;
  return spans.slice(start).map((part, at) => (at === 0 ? { ...part, text: part.text.trimStart() } : part));
};

/** A paragraph. A line is held back as long as the next one may make a heading or a table of it. */
export interface Paragraph extends Leaf {
  readonly type: "paragraph";
  readonly frame: Frame;
  /** The next line, or its beginning. */
  continueWith(text: string): Line[];
  /** The lines that are held back, and whether they are the whole paragraph. */
  held(): { readonly text: string; readonly isWhole: boolean };
  /** Gives the last line that is held back to whoever makes a table of it. */
  dropLastLine(): void;
  clone(): Paragraph;
}

// What is underlined to be a heading, and a table's first line that does not begin with `|`, is not longer.
const MAX_HEAD = 160;

/** The head is what is held of the beginning; later only a line that begins with `|` is held. */
type Held = { readonly part: "head" | "line" | "nothing"; readonly text: string };

export const createParagraph = (frame: Frame): Paragraph =>
  paragraphFrom(frame, createTextBlock(frame), { part: "head", text: "" });

const paragraphFrom = (frame: Frame, block: TextBlock, startHeld: Held): Paragraph => {
  let held = startHeld;
  const release = (): Line[] => {
    const { text } = held;
    held = { part: "nothing", text: "" };
    return text === "" ? [] : block.write(text);
  };
  const hold = (part: "head" | "line", text: string): Line[] => {
    held = { part, text: held.text + text };
    const isHead = part === "head" && held.text.length <= MAX_HEAD;
    return isHead || mayBeginTable(lastLine(held.text)) ? [] : release();
  };
  return {
    type: "paragraph",
    frame,
    write: (text) => (held.part === "nothing" ? block.write(text) : hold(held.part, text)),
    continueWith: (text) => {
      if (held.part === "head") return hold("head", `\n${text}`);
      const lines = release();
      return [...lines, ...hold("line", `\n${text}`)];
    },
    endLine: () => [],
    end: () => [...release(), ...block.end()],
    held: () => ({ text: held.text, isWhole: held.part === "head" }),
    dropLastLine: () => {
      held = { ...held, text: held.text.slice(0, Math.max(0, held.text.lastIndexOf("\n"))) };
    },
    clone: () => paragraphFrom(frame, block.clone(), held),
  };
};

const mayBeginTable = (line: string): boolean => line.startsWith("|") && line.length <= MAX_LINE;

export const lastLine = (text: string): string => text.slice(text.lastIndexOf("\n") + 1);
