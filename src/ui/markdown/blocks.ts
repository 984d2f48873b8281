import { type Line, lineWidth, span } from "../line.ts";
import {
  addAll,
  type BlockOptions,
  type BlockState,
  begin,
  blockOf,
  closeContainers,
  closeLeaf,
  codeFrame,
  copyOf,
  drawGap,
  nextFrame,
  startBlock,
  writeToLeaf,
} from "./block-state.ts";
import { createCode } from "./code-block.ts";
import { type Container, indentOf, isBlank, matchContainers, openContainer } from "./containers.ts";
import { createHtml } from "./html-block.ts";
import { type Fence, isRule, type LineKind, lineKind, MAX_LINE, mayBecomeRule } from "./line-kind.ts";
import { createTable } from "./table.ts";
import { type Alignment, splitRow } from "./table-row.ts";
import { createParagraph, headingLines, lastLine } from "./text-block.ts";

/** The block structure of markdown, line by line, as a terminal needs it. */
export interface Blocks {
  /** More text of the current line. */
  write(text: string): Line[];
  endLine(): Line[];
  end(): Line[];
  /** The current line, as long as it is not known what it is. */
  undecided(): string;
  dropUndecided(): void;
  clone(): Blocks;
}

// A row of a table may be longer than another line and still be held back.
const MAX_ROW = 8192;
const MAX_DEPTH = 50;
const MAX_RULE = 40;

export const createBlocks = (options: BlockOptions): Blocks =>
  blocksFrom({
    options,
    line: "",
    flow: "undecided",
    open: [],
    leaf: undefined,
    lastType: undefined,
    afterBlankLine: false,
  });

const blocksFrom = (state: BlockState): Blocks => ({
  write: (text) => {
    const lines: Line[] = [];
    let rest = text;
    while (state.flow === "undecided" && rest !== "") {
      // Step by step to the limit, so that the decision does not depend on how much of the line has come.
      const limit = limitOf(state) + 1;
      const room = Math.max(1, limit - state.line.length);
      state.line += rest.slice(0, room);
      rest = rest.slice(room);
      // More space than that says nothing.
      if (state.line.length >= limit && isBlank(state.line, 0)) state.line = state.line.slice(0, limit - 1);
      decide(state, false, lines);
    }
    if (state.flow === "leaf" && rest !== "") addAll(lines, writeToLeaf(state, rest));
    return lines;
  },
  endLine: () => {
    const lines: Line[] = [];
    endLine(state, lines);
    return lines;
  },
  end: () => {
    const lines: Line[] = [];
    if (state.flow !== "undecided" || state.line !== "") endLine(state, lines);
    closeLeaf(state, lines);
    closeContainers(state, 0, lines);
    return lines;
  },
  undecided: () => state.line,
  dropUndecided: () => {
    state.line = "";
  },
  clone: () => blocksFrom({ ...state, open: [...state.open], leaf: copyOf(state.leaf) }),
});

const limitOf = ({ leaf }: BlockState): number => (leaf?.type === "table" ? MAX_ROW : MAX_LINE);

const endLine = (state: BlockState, lines: Line[]): void => {
  if (state.flow === "undecided") decide(state, true, lines);
  if (state.flow === "leaf") addAll(lines, blockOf(state.leaf)?.endLine() ?? []);
  state.line = "";
  state.flow = "undecided";
};

/** Finds out what the current line is and begins it, unless more of it is needed. */
const decide = (state: BlockState, isWhole: boolean, lines: Line[]): void => {
  const { line, leaf } = state;
  const containers = state.open.map(({ container }) => container);
  const { matched, at } = matchContainers(line, containers);
  const isInside = matched === containers.length;

  if (leaf?.type === "fenced" && containers.slice(matched).every(({ type }) => type === "item")) {
    // Code that is indented less than its item still belongs to the fence.
    decideFenced(state, leaf.fence, isInside ? at : at + indentOf(line, at), isWhole, lines);
    return;
  }
  if (isBlank(line, at)) {
    if (isWhole) blankLine(state, matched, lines);
    return;
  }
  if (leaf?.type === "html" && isInside) {
    begin(state, line.slice(at), lines);
    return;
  }
  const opened = openContainers(state, at, isInside, isWhole);
  if (opened === "waits") return;
  const { fresh, from } = opened;
  const indent = indentOf(line, from);
  const content = { text: line.slice(from + indent), indent, fresh, matched, isInside: isInside && fresh.length === 0 };
  const kind = kindOf(state, content, isWhole);
  if (kind.type !== "waits") apply(state, kind, content, lines);
};

const decideFenced = (state: BlockState, fence: Fence, at: number, isWhole: boolean, lines: Line[]): void => {
  const { line } = state;
  const isLong = line.length > MAX_LINE;
  const content = line.slice(at);
  const marks = content.trim();
  const mayClose = marks === "" || (/^ {0,3}(`+|~+) *$/.test(content) && marks[0] === fence.mark[0]);
  if (mayClose && !isWhole && !isLong) return;
  if (mayClose && isWhole && marks.length >= fence.mark.length) {
    state.flow = "ignored";
    closeLeaf(state, lines);
    return;
  }
  begin(state, content.slice(Math.min(fence.indent, indentOf(content, 0))), lines);
};

const blankLine = (state: BlockState, matched: number, lines: Line[]): void => {
  const { leaf } = state;
  state.flow = "ignored";
  if (leaf?.type === "indented") state.leaf = { ...leaf, blankLines: leaf.blankLines + 1 };
  else closeLeaf(state, lines);
  if (matched < state.open.length) {
    closeLeaf(state, lines);
    closeContainers(state, matched, lines);
  }
  state.afterBlankLine = true;
};

/** The quotes and items that begin in this line. */
const openContainers = (
  state: BlockState,
  at: number,
  isInside: boolean,
  isWhole: boolean,
): { readonly fresh: readonly Container[]; readonly from: number } | "waits" => {
  const fresh: Container[] = [];
  let from = at;
  while (state.open.length + fresh.length < MAX_DEPTH) {
    const content = state.line.slice(from + indentOf(state.line, from));
    const isFirst = fresh.length === 0;
    if (isRule(content)) break;
    if (!isWhole && content !== "" && mayBecomeRule(content) && state.line.length <= MAX_LINE) return "waits";
    const interrupts = isFirst && isInside && state.leaf?.type === "paragraph";
    const opened = openContainer(state.line, from, isWhole, interrupts);
    if (opened === "waits") return "waits";
    if (opened === undefined) break;
    fresh.push(opened.container);
    from = opened.at;
  }
  return { fresh, from };
};

/** A line without its containers. */
type Content = {
  readonly text: string;
  /** Columns before the text. */
  readonly indent: number;
  readonly matched: number;
  readonly fresh: readonly Container[];
  /** Whether the line continues all open containers and begins none. */
  readonly isInside: boolean;
};

const kindOf = (state: BlockState, { text, indent, fresh, isInside }: Content, isWhole: boolean): LineKind => {
  const { leaf } = state;
  const held = leaf?.type === "paragraph" && isInside ? leaf.held() : undefined;
  const kind = lineKind(text, indent, {
    isWhole,
    continuesParagraph: leaf?.type === "paragraph" && fresh.length === 0,
    mayUnderline: held?.isWhole === true && held.text !== "",
    columns: held === undefined ? 0 : columnsOf(lastLine(held.text)),
    inTable: leaf?.type === "table" && isInside,
  });
  return kind.type === "waits" && state.line.length > limitOf(state) && text !== "" ? { type: "text" } : kind;
};

/** How many columns a table would have whose first line this is. */
const columnsOf = (line: string): number => (line.includes("|") ? splitRow(line).length : 0);

type Decided = Exclude<LineKind, { type: "waits" }>;

const apply = (state: BlockState, kind: Decided, content: Content, lines: Line[]): void => {
  const { text, isInside } = content;
  const { leaf } = state;
  // Most kinds are whole lines, of which nothing is left for the block.
  state.flow = "ignored";
  switch (kind.type) {
    case "blank":
      startBlock(state, content, lines);
      return;
    case "underline":
      if (leaf?.type === "paragraph") addAll(lines, headingLines(leaf.held().text, leaf.frame));
      state.leaf = undefined;
      state.lastType = "line";
      return;
    case "delimiters":
      startTable(state, kind.alignments, lines);
      return;
    case "heading":
      startBlock(state, content, lines);
      if (kind.text !== "") addAll(lines, headingLines(kind.text, nextFrame(state)));
      state.lastType = "line";
      return;
    case "rule": {
      startBlock(state, content, lines);
      const { first, width } = nextFrame(state);
      const length = Math.max(1, Math.min(MAX_RULE, width - lineWidth(first)));
      lines.push([...first, span(state.options.glyphs.rule.repeat(length), "dim")]);
      state.lastType = "line";
      return;
    }
    case "fence": {
      startBlock(state, content, lines);
      const block = createCode(codeFrame(state), kind.fence.language, state.options.highlight);
      state.leaf = { type: "fenced", block, fence: kind.fence };
      return;
    }
    case "indented":
      if (leaf?.type === "indented" && isInside) {
        for (let blank = 0; blank < leaf.blankLines; blank += 1) addAll(lines, leaf.block.endLine());
        state.leaf = { ...leaf, blankLines: 0 };
        state.afterBlankLine = false;
      } else {
        startBlock(state, content, lines);
        const block = createCode(codeFrame(state), "", undefined);
        state.leaf = { type: "indented", block, blankLines: 0 };
      }
      begin(state, " ".repeat(content.indent - 4) + text, lines);
      return;
    case "html":
      startBlock(state, content, lines);
      state.leaf = { type: "html", block: createHtml(nextFrame(state)) };
      begin(state, text, lines);
      return;
    case "text":
      if (leaf?.type === "paragraph" && content.fresh.length === 0) {
        state.flow = "leaf";
        addAll(lines, leaf.continueWith(text));
      } else if (leaf?.type === "table" && isInside && text.includes("|")) {
        addAll(lines, leaf.row(text));
      } else {
        startBlock(state, content, lines);
        state.leaf = createParagraph(nextFrame(state));
        begin(state, text, lines);
      }
      return;
    default:
      kind satisfies never;
  }
};

const startTable = (state: BlockState, alignments: readonly Alignment[], lines: Line[]): void => {
  if (state.leaf?.type !== "paragraph") return;
  const { text, isWhole } = state.leaf.held();
  const header = lastLine(text);
  let { frame } = state.leaf;
  if (!isWhole || header !== text) {
    state.leaf.dropLastLine();
    closeLeaf(state, lines);
    drawGap(state, undefined, undefined, lines);
    frame = nextFrame(state);
  }
  state.leaf = createTable(frame, state.options.glyphs, header, alignments);
};
