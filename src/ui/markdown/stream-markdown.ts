import type { Glyphs } from "../glyphs.ts";
import type { Line } from "../line.ts";
import { addAll } from "./block-state.ts";
import { type Blocks, createBlocks } from "./blocks.ts";
import type { Highlight } from "./code-block.ts";
import { createSource, type Source } from "./source.ts";

export type MarkdownOptions = {
  /** Cells of a line at most. */
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly highlight?: Highlight | undefined;
};

/**
 * Markdown that comes in pieces, as lines. Any division into pieces gives the same lines; a piece costs its own
 * length, and nothing that is finished is kept.
 */
export interface Markdown {
  /** The lines that this piece has finished; they never change. */
  push(delta: string): Line[];
  /** What is not finished, as it looks now; of a growing table its rows so far. */
  live(): Line[];
  /** The rest. Nothing may be pushed afterwards. */
  end(): Line[];
}

export const createMarkdown = ({ width, glyphs, highlight }: MarkdownOptions): Markdown => {
  const source = createSource();
  const blocks = createBlocks({ width: Math.max(1, width), glyphs, highlight });
  return {
    push: (delta) => feed(blocks, source.push(delta)),
    live: () => {
      const copy = blocks.clone();
      // Marks alone would be drawn as one thing now and as another with the next character.
      if (MARKS_ONLY.test(copy.undecided())) copy.dropUndecided();
      return finish(copy, source.clone());
    },
    end: () => finish(blocks, source),
  };
};

const MARKS_ONLY = /^[ >*+\-_#`~\d.)=|:]{0,40}$/;

const finish = (blocks: Blocks, source: Source): Line[] => [...feed(blocks, source.end()), ...blocks.end()];

const feed = (blocks: Blocks, text: string): Line[] => {
  const lines: Line[] = [];
  for (const [at, part] of text.split("\n").entries()) {
    if (at > 0) addAll(lines, blocks.endLine());
    if (part !== "") addAll(lines, blocks.write(part));
  }
  return lines;
};
