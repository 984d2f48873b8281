import type { FileDiff } from "../../session/rewind.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { wrapSpans } from "../wrap.ts";
import { diffLines } from "./diff-lines.ts";
import { lineFigures } from "./rewind-texts.ts";
import { parseUnifiedDiff } from "./unified-diff.ts";

export type FileDiffOptions = {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Pick<Strings, "rewind" | "steps">;
};

/** Of one file, where there are several. */
const MAX_FILE_ROWS = 40;
const MAX_ROWS = 300;
const MAX_FILES = 100;

/** The changes of files one after the other. What is too long is cut, and says how much is missing; so are the names of very many files. */
export const fileDiffLines = (files: readonly FileDiff[], options: FileDiffOptions): readonly Line[] => {
  const { width, strings } = options;
  const shown = files.length > MAX_FILES + 1 ? files.slice(0, MAX_FILES) : files;
  const lines: Line[] = [];
  let left = MAX_ROWS;
  for (const file of shown) {
    const room = Math.min(left, files.length === 1 ? MAX_ROWS : MAX_FILE_ROWS);
    const drawn = room > 0 ? changeLines(file, room, options) : [];
    lines.push(...headLines(file, options), ...drawn);
    left -= drawn.length;
  }
  if (shown.length === files.length) return lines;
  const more = span(strings.rewind.moreFiles(files.length - shown.length), "dim");
  return [...lines, ...wrapSpans([more], { width, first: [span("  ")], rest: [span("  ")] })];
};

const headLines = ({ change }: FileDiff, { width, strings }: FileDiffOptions): readonly Line[] => {
  const word = change.kind === "changed" ? "" : strings.rewind.kinds[change.kind];
  const facts = [word, lineFigures([change])].filter((text) => text !== "").join(" ");
  const indent = [span("  ")];
  const spans = [span(visibleControls(change.path), "bold"), span(facts === "" ? "" : `  ${facts}`, "dim")];
  return wrapSpans(spans, { width, first: indent, rest: indent });
};

const changeLines = ({ change, diff }: FileDiff, room: number, options: FileDiffOptions): readonly Line[] => {
  const { width, glyphs, strings } = options;
  const hunks = parseUnifiedDiff(diff);
  const indent = [span("    ")];
  const { added, removed } = change.lines ?? { added: 0, removed: 0 };
  const said = (text: string): readonly Line[] =>
    wrapSpans([span(text, "dim")], { width, first: indent, rest: indent });
  if (hunks.length === 0) {
    if (change.lines === null) return said(strings.rewind.notText);
    return added + removed === 0 ? [] : said(strings.rewind.moreLines(added + removed));
  }
  const data = { type: "diff", path: change.path, hunks, added, removed } as const;
  return diffLines(data, { width, glyphs, strings: strings.steps, maxLines: room, more: strings.rewind.moreLines });
};
