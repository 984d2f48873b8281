import { endingNear, normalizeEndings, originalOffset, withEndingsOf } from "./line-endings.ts";
import { findLines } from "./match-lines.ts";
import { findTrimmed, trimmedRange } from "./match-trimmed.ts";
import { type Edit, type Found, type MatchRequest, occurrences, type Span } from "./occurrences.ts";

/** 1 exact, 2 line endings normalised, 3 trimmed, 4 line by line without indentation. */
export type MatchLevel = 1 | 2 | 3 | 4;

export type Replacement =
  /** `start` and `end` are what was replaced in the old content, `text` is what stands there now. */
  | ({ readonly ok: true; readonly content: string; readonly level: MatchLevel } & Edit)
  | { readonly ok: false; readonly kind: "empty-source" | "no-change" | "not-found" }
  | {
      readonly ok: false;
      readonly kind: "not-unique";
      readonly level: MatchLevel;
      /** Never above MAX_COUNTED. */
      readonly count: number;
      /** 1-based lines where the first matches begin. */
      readonly lines: readonly number[];
    };

const MAX_LINES_NAMED = 10;

/**
 * Replaces the one place where `source` stands in `content`. Each level is tried only if the one before found nothing;
 * more than one match at any level, overlapping ones included, is `not-unique`. Everything outside the match stays,
 * and the replacement's line breaks follow the lines that it replaces.
 */
export const fuzzyReplace = (content: string, source: string, target: string): Replacement => {
  if (trimmedRange(source).start === source.length) return { ok: false, kind: "empty-source" };
  if (source === target) return { ok: false, kind: "no-change" };
  const text = normalizeEndings(content);
  const request = { text, source: normalizeEndings(source), target: normalizeEndings(target) };
  const toOriginal = (edit: Edit): Edit => ({
    start: originalOffset(content, edit.start),
    end: originalOffset(content, edit.end),
    text: edit.text,
  });
  const levels: readonly Level[] = [
    { level: 1, searched: content, find: () => findExact(content, source, request.target), toOriginal: (edit) => edit },
    { level: 2, searched: text, find: findNormalized, toOriginal },
    { level: 3, searched: text, find: findTrimmed, toOriginal },
    { level: 4, searched: text, find: findLines, toOriginal },
  ];
  for (const { level, searched, find, toOriginal } of levels) {
    const { matches, edit } = find(request);
    const [match] = matches;
    if (!match) continue;
    if (matches.length > 1)
      return { ok: false, kind: "not-unique", level, count: matches.length, lines: lineNumbers(searched, matches) };
    const wanted = toOriginal(edit(match));
    // A change of nothing but line endings, asked for where the source matched with its own, is meant.
    const isVerbatim = level === 1 && request.source === request.target;
    return applyEdit(content, level, { ...wanted, text: isVerbatim ? target : inFileEndings(content, wanted, target) });
  }
  return { ok: false, kind: "not-found" };
};

type Level = {
  readonly level: MatchLevel;
  /** The text that the matches are offsets of. */
  readonly searched: string;
  readonly find: (request: MatchRequest) => Found;
  readonly toOriginal: (edit: Edit) => Edit;
};

const applyEdit = (content: string, level: MatchLevel, edit: Edit): Replacement => {
  const { start, end, text } = edit;
  if (text === content.slice(start, end)) return { ok: false, kind: "no-change" };
  return { ok: true, content: content.slice(0, start) + text + content.slice(end), level, ...edit };
};

const findExact = (content: string, source: string, target: string): Found => ({
  // Half of a CRLF is no match: the next level takes the pair as one.
  matches: occurrences(
    content,
    source,
    ({ start, end }) => !splitsLineEnding(content, start) && !splitsLineEnding(content, end),
  ),
  edit: (match) => ({ ...match, text: target }),
});

const splitsLineEnding = (text: string, at: number): boolean => text[at] === "\n" && text[at - 1] === "\r";

const findNormalized = ({ text, source, target }: MatchRequest): Found => ({
  matches: occurrences(text, source),
  edit: (match) => ({ ...match, text: target }),
});

/** `target` is the model's own text: a file without any line break takes the breaks as they come. */
const inFileEndings = (content: string, { start, end, text }: Edit, target: string): string => {
  if (!text.includes("\n")) return text;
  const neighbour = endingNear(content, start, end) ?? (target.includes("\r\n") ? "\r\n" : "\n");
  return withEndingsOf(content.slice(start, end), text, neighbour);
};

const lineNumbers = (text: string, matches: readonly Span[]): number[] => {
  let line = 1;
  let from = 0;
  return matches.slice(0, MAX_LINES_NAMED).map(({ start }) => {
    for (let at = text.indexOf("\n", from); at !== -1 && at < start; at = text.indexOf("\n", from)) {
      line += 1;
      from = at + 1;
    }
    return line;
  });
};
