import { isObservation, type Message } from "../../schema/message.ts";
import type { ToolDefinition } from "../../schema/tool.ts";
import type { Strings } from "../../text/strings.ts";
import { byteLength } from "../../text/utf8.ts";
import { apportion, formatCount, formatTenths } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, type Span, span } from "../line.ts";
import { cutLine, noteLines, type TableRow, tableLines } from "./table-lines.ts";

const KINDS = ["system", "tools", "person", "model", "results"] as const;

export type ContextPart = { readonly kind: (typeof KINDS)[number]; readonly tokens: number };

/** What fills the context. The parts are estimates that add up to `total` exactly. */
export type ContextBreakdown = {
  readonly parts: readonly ContextPart[];
  readonly total: number;
  /** The total is the provider's figure. */
  readonly isMeasured: boolean;
  readonly window: number | null;
};

/** Tokens by kind, estimated from UTF-8 bytes and scaled to `contextTokens` where that is known. */
export const contextBreakdown = (
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  { contextTokens, contextWindow }: { readonly contextTokens: number | null; readonly contextWindow: number | null },
): ContextBreakdown => {
  const bytes: Record<ContextPart["kind"], number> = { system: 0, tools: 0, person: 0, model: 0, results: 0 };
  for (const message of messages) bytes[kindOf(message)] += bytesOf(message);
  for (const { name, description, inputSchema } of tools)
    bytes.tools += byteLength(name) + byteLength(description) + byteLength(JSON.stringify(inputSchema));
  const weights = KINDS.map((kind) => bytes[kind]);
  const estimate = Math.ceil(weights.reduce((sum, weight) => sum + weight, 0) / BYTES_PER_TOKEN);
  const total = contextTokens ?? estimate;
  const tokens = apportion(total, weights);
  return {
    parts: KINDS.map((kind, index) => ({ kind, tokens: tokens[index] ?? 0 })),
    total,
    isMeasured: contextTokens !== null,
    window: contextWindow,
  };
};

const BYTES_PER_TOKEN = 4;

const kindOf = (message: Message): ContextPart["kind"] => {
  if (message.role === "system") return "system";
  if (message.role === "assistant") return "model";
  return isObservation(message) ? "results" : "person";
};

const bytesOf = (message: Message): number => {
  if (message.role !== "assistant") return byteLength(message.content);
  const calls = message.toolCalls.map((call) => byteLength(call.name) + byteLength(call.arguments));
  return calls.reduce(
    (sum, call) => sum + call,
    byteLength(message.content) + byteLength(message.thinking?.text ?? ""),
  );
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
    ...parts.map(({ kind, tokens }, index): TableRow => {
      const name = `${partGlyph(kind, glyphs)} ${strings[kind]}`;
      return { kind: "value", cells: [name, formatCount(tokens), share(tenths[index] ?? 0)] };
    }),
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
    ...note(isMeasured ? strings.measured : strings.estimated),
  ];
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
      return glyphs.notice;
    case "tools":
      return glyphs.done;
    case "person":
      return glyphs.person;
    case "model":
      return glyphs.model;
    case "results":
      return glyphs.output;
    default:
      return kind satisfies never;
  }
};
