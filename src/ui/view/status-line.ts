import type { ModelInfo } from "../../schema/model.ts";
import type { ChatInfo } from "../../session/chat.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatCost, formatTokens } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, lineWidth, type Span, span } from "../line.ts";
import type { SessionUsage } from "../transcript/transcript.ts";

export type StatusOptions = {
  readonly info: Pick<ChatInfo, "mode" | "model" | "isOffline"> & Pick<ModelInfo, "contextWindow">;
  readonly used: SessionUsage;
  /** Of the run that goes on; 0 = none. */
  readonly turn: number;
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["ui"];
};

/** A part of the status line. Where not all have room, the lowest numbers come first. `isJoined` = to the part before. */
type Part = { readonly spans: Line; readonly order: number; readonly isJoined?: boolean };

/** Mode, model, turn, tokens, cost and context, as far as the width goes. */
export const statusLine = (options: StatusOptions): Line => {
  const parts = statusParts(options);
  let kept: readonly Part[] = [];
  for (const part of parts.toSorted((a, b) => a.order - b.order)) {
    const more = parts.filter((one) => one === part || kept.includes(one));
    if (lineWidth(joined(more)) <= options.width) kept = more;
  }
  return joined(kept);
};

const statusParts = ({ info, used, turn, strings }: StatusOptions): readonly Part[] => {
  const part = (order: number, ...spans: readonly Span[]): Part => ({ order, spans });
  const mode = part(1, span(info.mode, info.mode === "yolo" ? "failure" : "accent"));
  const model = part(info.isOffline ? 0 : 6, span(visibleControls(info.model), "dim"));
  // The demonstration costs nothing and fills nothing.
  if (info.isOffline && used.runs > 0) return [mode, model];
  const hasFigures = used.usage.inputTokens + used.usage.outputTokens + used.usage.cacheReadTokens > 0;
  if (!hasFigures && turn === 0)
    return [
      mode,
      part(7, span("shift+tab", "dim")),
      model,
      part(8, span(strings.keysHint, "dim")),
      part(9, span(strings.commandsHint, "dim")),
    ];
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = used.usage;
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  const cached: Part = {
    order: 5,
    spans: [span(` (${strings.cached(formatTokens(cacheReadTokens))})`)],
    isJoined: true,
  };
  const { contextTokens } = used;
  const context =
    info.contextWindow === null
      ? strings.contextTokens(formatTokens(contextTokens))
      : strings.contextShare(Math.round((contextTokens / info.contextWindow) * 100));
  return [
    mode,
    model,
    ...(turn > 0 ? [part(7, span(strings.turn(turn), "dim"))] : []),
    part(2, span(strings.input(formatTokens(input)))),
    ...(cacheReadTokens > 0 ? [cached] : []),
    part(2, span(strings.output(formatTokens(outputTokens)))),
    part(3, span(used.costUsd === null ? strings.unknownPrice : formatCost(used.costUsd))),
    part(4, span(context)),
    part(8, span(strings.keysHint, "dim")),
  ];
};

const joined = (parts: readonly Part[]): Line => [
  span("  "),
  ...parts.flatMap(({ spans, isJoined }, index) => (index === 0 || isJoined ? spans : [span("   "), ...spans])),
];
