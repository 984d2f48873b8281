import { visibleControls } from "../../text/clean.ts";
import { cutToWidth, displayWidth, graphemes } from "../width.ts";
import { CHIP, type ChipLabel, type Chips } from "./editor-chips.ts";

/** One character as a person counts them, at its place in its line, and as it is shown. */
export type Cluster = {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly width: number;
  readonly kind: "plain" | "chip" | "hidden";
};

/** How chips are shown, and how many cells a row has. */
export type Layout = { readonly columns: number; readonly chips: Chips; readonly chipLabel: ChipLabel };

// Characters that are graphemes by themselves unless something that is not in this list follows.
const LONE = String.raw`[ -~\u3001-\u3011\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]`;
const CHIP_CHARACTER = CHIP.source;
// A chip, a run of such characters, or what only the segmenter can tell apart.
const PIECES = new RegExp(
  `${CHIP_CHARACTER}|(?:${LONE}(?=${LONE}|${CHIP_CHARACTER}|$))+|(?:(?!${CHIP_CHARACTER})${LONE}?(?:(?!${LONE}|${CHIP_CHARACTER})[^])+)`,
  "gu",
);
const ENDS_LONE = new RegExp(`${LONE}$`, "u");
export const PRINTABLE_ASCII = /^[ -~]*$/;
const LONE_PAIR = new RegExp(`${LONE}{2}`, "u");

const isRun = (piece: string): boolean => ENDS_LONE.test(piece);
const isWide = (lone: string): boolean => lone > "~";

/** The graphemes of a text without newlines; a chip is always one. */
export const lineGraphemes = (line: string): string[] => {
  if (PRINTABLE_ASCII.test(line)) return line.split("");
  return (line.match(PIECES) ?? []).flatMap((piece) => {
    if (isRun(piece)) return piece.split("");
    return CHIP.test(piece) ? piece : graphemes(piece);
  });
};

export const lineClusters = (line: string, layout: Layout): Cluster[] => {
  let start = 0;
  return lineGraphemes(line).map((character) => {
    const end = start + character.length;
    const cluster = { start, end, ...shown(character, layout) };
    start = end;
    return cluster;
  });
};

/** The widths of `lineClusters`, without making them. */
export const eachWidth = (line: string, layout: Layout, visit: (width: number) => void): void => {
  for (const piece of line.match(PIECES) ?? []) {
    if (isRun(piece)) for (const lone of piece) visit(isWide(lone) ? wideCells(layout) : 1);
    else for (const character of lineGraphemes(piece)) visit(shown(character, layout).width);
  }
};

// Where there is no room for two cells, none is drawn.
const wideCells = ({ columns }: Layout): number => (columns < 2 ? 0 : 2);

const shown = (character: string, layout: Layout): Pick<Cluster, "text" | "width" | "kind"> => {
  if (PRINTABLE_ASCII.test(character)) return { text: character, width: 1, kind: "plain" };
  const chip = layout.chips.get(character);
  if (chip !== undefined) return fitted(layout.chipLabel(chip), "chip", layout);
  return isHidden(character)
    ? fitted(visibleControls(character), "hidden", layout)
    : fitted(character, "plain", layout);
};

/** What nobody would see, or what smuggles text: tags after anything but the black flag. */
const isHidden = (character: string): boolean => {
  const first = String.fromCodePoint(character.codePointAt(0) ?? 0);
  return visibleControls(first) !== first || (/[\u{e0000}-\u{e0fff}]/u.test(character) && first !== "\u{1f3f4}");
};

const fitted = (text: string, kind: Cluster["kind"], { columns }: Layout): Pick<Cluster, "text" | "width" | "kind"> => {
  const width = displayWidth(text);
  if (width <= columns) return { text, width, kind };
  const cut = cutToWidth(text, columns);
  return { text: cut, width: displayWidth(cut), kind };
};

export const lineStart = (text: string, at: number): number => (at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);

export const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};

// Far more than any character has; a longer line is looked at from a place between two letters.
const REACH = 2048;

/** The boundary before `at`, which may lie within a character. */
export const boundaryBefore = (text: string, at: number): number => {
  if (at === 0) return 0;
  const line = lineStart(text, at);
  if (at === line) return line - 1;
  let start = safeStart(text, line, at);
  for (const character of lineGraphemes(text.slice(start, at))) {
    if (start + character.length >= at) return start;
    start += character.length;
  }
  return start;
};

/** The boundary after `at`, which is one itself. */
export const boundaryAfter = (text: string, at: number): number => {
  if (at >= text.length) return text.length;
  const end = Math.min(lineEnd(text, at), at + REACH);
  return end === at ? at + 1 : at + (lineGraphemes(text.slice(at, end))[0] ?? "").length;
};

/** `at`, or the end of the character that it lies in. */
export const boundaryAt = (text: string, at: number): number => {
  let boundary = safeStart(text, lineStart(text, at), at);
  if (boundary === at) return at;
  const end = Math.min(lineEnd(text, at), at + REACH);
  for (const character of lineGraphemes(text.slice(boundary, end))) {
    boundary += character.length;
    if (boundary >= at) return boundary;
  }
  return boundary;
};

const safeStart = (text: string, line: number, at: number): number => {
  if (at - line <= REACH) return line;
  const pair = LONE_PAIR.exec(text.slice(at - REACH, at));
  return pair === null ? line : at - REACH + pair.index + 1;
};
