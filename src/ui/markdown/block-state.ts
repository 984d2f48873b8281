import type { Glyphs } from "../glyphs.ts";
import { type Line, lineWidth, span } from "../line.ts";
import { withoutTrailingSpaces } from "../wrap.ts";
import type { Highlight } from "./code-block.ts";
import type { Container } from "./containers.ts";
import type { Frame, Leaf } from "./frame.ts";
import type { Fence } from "./line-kind.ts";
import { begun, drawn, frameIn, type OpenContainer } from "./open-containers.ts";
import type { Table } from "./table.ts";
import type { Paragraph } from "./text-block.ts";

export type BlockOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly highlight: Highlight | undefined;
};

export type OpenLeaf =
  | Paragraph
  | Table
  | { readonly type: "fenced"; readonly block: Leaf; readonly fence: Fence }
  | { readonly type: "indented"; readonly block: Leaf; readonly blankLines: number }
  | { readonly type: "html"; readonly block: Leaf };

export type BlockState = {
  readonly options: BlockOptions;
  /** The current line while it is not known what it is. */
  line: string;
  /** Whether the rest of the current line belongs to the leaf, is of no account, or the line is not decided. */
  flow: "undecided" | "leaf" | "ignored";
  open: OpenContainer[];
  leaf: OpenLeaf | undefined;
  lastType: OpenLeaf["type"] | "line" | undefined;
  afterBlankLine: boolean;
};

// Room for code that is indented.
const MIN_CODE = 16;
const INDENT = span("  ");

/** How many of the open containers a line continues, and which it begins. */
export type Start = { readonly matched: number; readonly fresh: readonly Container[] };

/** The rest of the line belongs to the leaf. */
export const begin = (state: BlockState, text: string, lines: Line[]): void => {
  state.flow = "leaf";
  addAll(lines, writeToLeaf(state, text));
};

export const writeToLeaf = ({ leaf }: BlockState, text: string): Line[] => blockOf(leaf)?.write(text) ?? [];

export const blockOf = (leaf: OpenLeaf | undefined): Leaf | undefined =>
  leaf === undefined || !("block" in leaf) ? leaf : leaf.block;

export const copyOf = (leaf: OpenLeaf | undefined): OpenLeaf | undefined => {
  if (leaf === undefined || leaf.type === "paragraph" || leaf.type === "table") return leaf?.clone();
  return { ...leaf, block: leaf.block.clone() };
};

/** Ends what the line does not continue, and begins its containers. */
export const startBlock = (state: BlockState, { matched, fresh }: Start, lines: Line[]): void => {
  closeLeaf(state, lines);
  const before = state.open[matched];
  closeContainers(state, matched, lines);
  drawGap(state, before?.container, fresh[0], lines);
  state.open.push(...fresh.map((container, at) => begun(container, at === 0 ? before : undefined)));
};

/** A blank line between blocks, but not between the lines of a list that has none. */
export const drawGap = (
  state: BlockState,
  before: Container | undefined,
  next: Container | undefined,
  lines: Line[],
): void => {
  const isInItem = state.open.at(-1)?.container.type === "item";
  const continuesList = next?.type === "item" && (before?.type === "item" || state.lastType === "paragraph");
  const wantsGap = state.afterBlankLine || !(isInItem || continuesList);
  const isAtStart = state.lastType === undefined || state.open.some(({ isDrawn }) => !isDrawn);
  state.afterBlankLine = false;
  if (wantsGap && !isAtStart) lines.push(withoutTrailingSpaces(frameOf(state).rest));
};

export const closeLeaf = (state: BlockState, lines: Line[]): void => {
  if (state.leaf === undefined) return;
  addAll(lines, blockOf(state.leaf)?.end() ?? []);
  state.lastType = state.leaf.type;
  state.leaf = undefined;
};

/** Closes all containers but the outer `count`. An item of nothing is its bullet. */
export const closeContainers = (state: BlockState, count: number, lines: Line[]): void => {
  if (count >= state.open.length) return;
  if (state.open.slice(count).some(({ isDrawn }) => !isDrawn)) {
    lines.push(withoutTrailingSpaces(nextFrame(state).first));
    state.lastType = "line";
  }
  state.open.length = count;
};

const frameOf = ({ open, options }: BlockState): Frame => frameIn(open, options.width, options.glyphs);

/** The frame of the block that is about to be drawn, with the bullets of its items. */
export const nextFrame = (state: BlockState): Frame => {
  const frame = frameOf(state);
  state.open = drawn(state.open);
  return frame;
};

/** Code stands out by an indent, where there is room. */
export const codeFrame = (state: BlockState): Frame => {
  const frame = nextFrame(state);
  if (frame.width - lineWidth(frame.first) < MIN_CODE) return frame;
  return { ...frame, first: [...frame.first, INDENT], rest: [...frame.rest, INDENT] };
};

/** Not `push(...more)`: a whole answer can be more lines than a call takes arguments. */
export const addAll = (lines: Line[], more: readonly Line[]): void => {
  for (const line of more) lines.push(line);
};
