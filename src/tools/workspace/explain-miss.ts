import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { normalizeEndings } from "./line-endings.ts";
import { type LinePair, nearestBlock } from "./nearest-block.ts";

const MAX_LINES_SHOWN = 12;
const MAX_WIDTH = 160;
const NUMBERED_LINE = /^\s*\d+\s*(?:→|\t|[|:│]\s?)/;

/** What the model is told when `source` is nowhere in `content`: the nearest block, and what differs in it. */
export const explainMiss = (content: string, source: string, strings: Strings["files"]): string => {
  const lines = [strings.notFound];
  const written = source.split("\n").filter((line) => line.trim() !== "");
  if (written.every((line) => NUMBERED_LINE.test(line))) lines.push(strings.lineNumbersHint);
  if (content === "") return [...lines, strings.fileIsEmpty].join("\n");
  const block = nearestBlock(normalizeEndings(content), normalizeEndings(source));
  const [first, last] = [block?.[0], block?.findLast((pair) => pair.file !== null)];
  if (!block || !first || !last) return lines.join("\n");
  lines.push(strings.nearest(first.number, last.number), ...showBlock(block));
  return lines.join("\n");
};

/** As a diff: lines that agree once, others as the file has them (-) and as the source has them (+). */
const showBlock = (block: readonly LinePair[]): string[] => {
  const firstDifference = Math.max(0, block.findIndex((pair) => pair.file !== pair.source) - 3);
  const shown = block.slice(firstDifference, firstDifference + MAX_LINES_SHOWN);
  const width = String(shown.at(-1)?.number ?? 0).length;
  const lines = shown.flatMap((pair) => {
    const label = String(pair.number).padStart(width);
    if (pair.file === pair.source) return [`  ${label}| ${clip(visibleControls(pair.file, "\t"), 0)}`];
    const added = `+ ${" ".repeat(width)}| `;
    if (pair.file === null) return [added + clip(showBlanks(pair.source), 0)];
    const from = Math.max(0, differsAt(pair.file, pair.source) - MAX_WIDTH / 2);
    // Where both would look the same (é in one character or two) only the codes tell.
    const show = pair.file.normalize("NFKC") === pair.source.normalize("NFKC") ? showCodes : showBlanks;
    return [`- ${label}| ${clip(show(pair.file), from)}`, added + clip(show(pair.source), from)];
  });
  return firstDifference + shown.length < block.length ? [...lines, "  …"] : lines;
};

const showBlanks = (line: string): string =>
  visibleControls(
    line
      .replaceAll(" ", "·")
      .replaceAll("\t", "→")
      .replaceAll("\r", "␍")
      .replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, (blank) => `\\u{${blank.charCodeAt(0).toString(16)}}`),
  );

const showCodes = (line: string): string =>
  showBlanks(line).replace(/[^\p{ASCII}·→␍]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

const clip = (line: string, from: number): string =>
  `${from > 0 ? "…" : ""}${line.slice(from, from + MAX_WIDTH)}${line.length > from + MAX_WIDTH ? "…" : ""}`;

const differsAt = (a: string, b: string): number => {
  let index = 0;
  while (index < a.length && index < b.length && a[index] === b[index]) index += 1;
  return index;
};
