import { isObservation, type Message } from "../../schema/message.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import type { ContextState } from "../../session/context-keeper.ts";
import { estimateMessage, estimateText, estimateTool } from "../../session/context-tokens.ts";
import type { PromptPart } from "../../session/prompt-parts.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { apportion, formatCount, formatTenths } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, type Span, span } from "../line.ts";
import { displayWidth } from "../width.ts";
import { cutLine, noteLines, type TableRow, tableLines } from "./table-lines.ts";

const KINDS = [
  "system",
  "instructions",
  "memory",
  "skills",
  "tools",
  "summary",
  "person",
  "model",
  "thinking",
  "results",
] as const;

type Kind = (typeof KINDS)[number];

/** `details` add up to the tokens; empty where there is nothing to tell apart. */
export type ContextPart = {
  readonly kind: Kind;
  readonly tokens: number;
  readonly details: readonly { readonly name: string; readonly tokens: number }[];
};

/** What fills the context. The parts are estimates that add up to `total` exactly. */
export type ContextBreakdown = {
  /** The first five always; of the others those that are there. */
  readonly parts: readonly ContextPart[];
  readonly total: number;
  /** The total rests on the provider's figure. */
  readonly isMeasured: boolean;
  readonly window: number | null;
  readonly compactsAt: number | null;
};

/** What is known of the context; without tokens all is estimated. */
export type ContextFigures = Omit<ContextState, "tokens"> & { readonly tokens: number | null };

const ALWAYS: readonly Kind[] = ["system", "tools", "person", "model", "results"];

/** Tokens by kind, estimated and scaled to the whole. */
export const contextBreakdown = (
  { messages, summary, tokens, isMeasured, window, compactsAt }: ContextFigures,
  tools: readonly ToolDefinition[],
  promptParts: readonly PromptPart[] = [],
): ContextBreakdown => {
  const pieces: { readonly kind: Kind; readonly name?: string; readonly tokens: number }[] = [
    ...promptParts.map(({ kind, name, text }) => ({ kind, name, tokens: estimateText(text) })),
    ...tools.map((tool) => ({ kind: "tools" as const, name: tool.name, tokens: estimateTool(tool) })),
  ];
  const inPrompt = promptParts.reduce((sum, { text }) => sum + estimateText(text), 0);
  for (const message of messages) {
    const thinking = message.role === "assistant" ? estimateText(message.thinking?.text ?? "") : 0;
    const kind = message === summary ? "summary" : kindOf(message);
    const all = estimateMessage(message);
    const own = kind === "system" ? Math.max(0, all - inPrompt) : all - thinking;
    pieces.push({ kind, tokens: own }, { kind: "thinking", tokens: thinking });
  }
  const total = tokens ?? pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  const shares = apportion(
    total,
    pieces.map((piece) => piece.tokens),
  );
  const sized = pieces.map((piece, index) => ({ ...piece, tokens: shares[index] ?? 0 }));
  const parts = KINDS.map((kind): ContextPart => {
    const own = sized.filter((piece) => piece.kind === kind);
    const details = own.flatMap(({ name, tokens: share }) =>
      name === undefined || name === "" ? [] : [{ name, tokens: share }],
    );
    return { kind, tokens: own.reduce((sum, piece) => sum + piece.tokens, 0), details };
  });
  return {
    parts: parts.filter(({ kind, tokens: share }) => share > 0 || ALWAYS.includes(kind)),
    total,
    isMeasured,
    window,
    compactsAt,
  };
};

const kindOf = (message: Message): Kind => {
  if (message.role === "system") return "system";
  if (message.role === "assistant") return "model";
  return isObservation(message) ? "results" : "person";
};

export type ContextLinesOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["commands"];
};

/** `/context`: a bar of the window and a table of its parts; tokens and shares add up to the totals as shown. */
export const contextLines = (breakdown: ContextBreakdown, options: ContextLinesOptions): Line[] => {
  const { width, glyphs, strings: all } = options;
  const strings = all.context;
  const { parts, total, isMeasured, window } = breakdown;
  const free = window === null ? null : Math.max(0, window - total);
  const base = window ?? total;
  // More than the window can be used: then the shares add up to more than 100%.
  const usedTenths = base === 0 ? 0 : Math.round((1000 * total) / base);
  const tenths = apportion(
    usedTenths,
    parts.map(({ tokens }) => tokens),
  );
  const share = (value: number): string => (base === 0 ? "" : formatTenths(value));
  const rows: TableRow[] = [
    ...parts.flatMap(({ kind, tokens, details }, index): readonly TableRow[] => [
      {
        kind: "value",
        cells: [`${partGlyph(kind, glyphs)} ${strings[kind]}`, formatCount(tokens), share(tenths[index] ?? 0)],
      },
      ...details.map(
        ({ name, tokens: own }): TableRow => ({
          kind: "detail",
          cells: [`    ${fitName(visibleControls(name), width)}`, formatCount(own), ""],
        }),
      ),
    ]),
    { kind: "total", cells: [`  ${strings.used}`, formatCount(total), share(usedTenths)] },
    ...(free === null ? [] : [freeRow(free, share(Math.max(0, 1000 - usedTenths)), glyphs, strings)]),
  ];
  const columns = [
    { title: strings.part, align: "left" },
    { title: strings.tokens, align: "right" },
    { title: strings.share, align: "right" },
  ] as const;
  const note = (text: string): readonly Line[] => noteLines(text, width);
  return [
    ...(base === 0 ? [] : [barLine(breakdown, free ?? 0, options), []]),
    ...tableLines({ columns, rows }, width),
    [],
    ...(window === null ? note(strings.windowUnknown) : []),
    ...(breakdown.compactsAt === null ? [] : note(strings.compactsAt(formatCount(breakdown.compactsAt)))),
    ...note(isMeasured ? strings.measured : strings.estimated),
  ];
};

/** For the figures beside it. */
const FIGURE_CELLS = 26;

/** A path's end says more than its beginning. */
const fitName = (name: string, width: number): string => {
  const room = Math.max(8, width - FIGURE_CELLS);
  const units = [...name];
  let from = 0;
  while (from < units.length && displayWidth(units.slice(from).join("")) > room - 1) from += 1;
  return from === 0 ? name : `…${units.slice(from).join("")}`;
};

const freeRow = (free: number, share: string, glyphs: Glyphs, strings: Strings["commands"]["context"]): TableRow => ({
  kind: "detail",
  cells: [`${glyphs.dot} ${strings.free}`, formatCount(free), share],
});

const BAR_CELLS = 40;

/** Each part by the glyph that its row begins with. */
const barLine = ({ parts }: ContextBreakdown, free: number, { width, glyphs }: ContextLinesOptions): Line => {
  const room = Math.max(0, Math.min(BAR_CELLS, width - 2));
  const cells = apportion(room, [...parts.map(({ tokens }) => tokens), free]);
  const spans: Span[] = parts.flatMap(({ kind }, index) => {
    const count = cells[index] ?? 0;
    return count === 0 ? [] : [span(partGlyph(kind, glyphs).repeat(count), "accent")];
  });
  const freeCells = cells.at(-1) ?? 0;
  return cutLine(
    [span("  "), ...spans, ...(freeCells === 0 ? [] : [span(glyphs.dot.repeat(freeCells), "dim")])],
    width,
  );
};

/** The transcript's own marks: what a step is marked with stands for the tools, what its output stands behind for results. */
const partGlyph = (kind: ContextPart["kind"], glyphs: Glyphs): string => {
  switch (kind) {
    case "system":
    case "instructions":
    case "memory":
    case "skills":
    case "summary":
      return glyphs.notice;
    case "tools":
      return glyphs.done;
    case "person":
      return glyphs.person;
    case "model":
    case "thinking":
      return glyphs.model;
    case "results":
      return glyphs.output;
    default:
      return kind satisfies never;
  }
};
