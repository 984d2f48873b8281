import type { ChatInfo } from "../../session/chat.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, lineWidth, type Span, span } from "../line.ts";
import { marked } from "../transcript/paper.ts";
import { displayWidth } from "../width.ts";
import { wrapSpans } from "../wrap.ts";

export type HeaderOptions = { readonly width: number; readonly glyphs: Glyphs; readonly strings: Strings["ui"] };

/** The first screen: what this is, where it works, with which model, and what to try. */
export const headerLines = (info: ChatInfo, { width, glyphs, strings }: HeaderOptions): readonly Line[] => {
  const model = info.isOffline ? strings.offline : info.model;
  const facts = [`harness9 ${info.version}`, visibleControls(shortPath(info)), visibleControls(model)];
  const head = row(
    [span(facts[0] ?? "", "bold"), span(` ${glyphs.dot} ${facts.slice(1).join(` ${glyphs.dot} `)}`)],
    width,
  );
  const notes = info.notes.flatMap((text) => marked(glyphs.notice, text, { width, role: "dim", textRole: "dim" }));
  const warnings = info.warnings.flatMap((text) => marked(glyphs.notice, text, { width, role: "warning" }));
  return [
    ...head,
    [],
    ...(info.isOffline ? offlineTries(info, { width, glyphs, strings }) : tries(width, strings)),
    ...spaced([...warnings, ...notes]),
  ];
};

const tries = (width: number, strings: Strings["ui"]): readonly Line[] =>
  strings.tries.flatMap((text, index) =>
    row([span(text)], width, index === 0 ? [span("  "), span(padded(strings.tryLabel, 6), "dim")] : EXAMPLE),
  );

const offlineTries = (info: ChatInfo, { width, strings }: HeaderOptions): readonly Line[] => {
  const ways = [...info.keyVariables.slice(0, 2), `${strings.or} ${strings.connectLocal}`];
  const together = ways.join("    ");
  const isRoomy = displayWidth(together) + lineWidth(EXAMPLE) <= width;
  return [
    ...row([span(strings.connectTitle, "dim")], width),
    ...(isRoomy ? [together] : ways).flatMap((text) => row([span(text)], width, EXAMPLE)),
    ...row([span(strings.meanwhile, "dim")], width),
    ...strings.offlineTries.flatMap((text) => row([span(text)], width, EXAMPLE)),
  ];
};

const padded = (text: string, cells: number): string => text + " ".repeat(Math.max(1, cells - displayWidth(text)));

const EXAMPLE: Line = [span("        ")];

/** Further rows stand below the first, or a little further in. */
const row = (spans: readonly Span[], width: number, first: Line = [span("  ")]): readonly Line[] =>
  wrapSpans(spans, { width, first, rest: [span(" ".repeat(Math.max(4, lineWidth(first))))] });

const spaced = (lines: readonly Line[]): readonly Line[] => (lines.length === 0 ? [] : [[], ...lines]);

const shortPath = ({ workDir, homeDir }: ChatInfo): string =>
  workDir === homeDir ? "~" : workDir.startsWith(`${homeDir}/`) ? `~${workDir.slice(homeDir.length)}` : workDir;
