import { type Edit, type Found, type MatchRequest, occurrences, type Span } from "./occurrences.ts";
import { createShift, indentOf } from "./reindent.ts";

const WORD = String.raw`[\p{L}\p{N}\p{M}\p{Pc}$]`;
const BEGINS_WITH_WORD = new RegExp(`^${WORD}`, "u");
const ENDS_WITH_WORD = new RegExp(`${WORD}$`, "u");
// `1.5`, `foo-bar`, `a::b`: one word for whoever put a blank after its first part.
const JOINED_BEFORE = new RegExp(`${WORD}[-.:/@'’\\\\]{0,2}$`, "u");
const JOINED_AFTER = new RegExp(`^[-.:/@'’\\\\]{0,2}${WORD}`, "u");

/**
 * Level 3: the source without the blanks and line breaks around it. Where a line break was trimmed the line must end
 * (or begin) there, and a match never begins or ends inside a longer word.
 */
export const findTrimmed = ({ text, source, target }: MatchRequest): Found => {
  const range = trimmedRange(source);
  const needle = source.slice(range.start, range.end);
  const before = source.slice(0, range.start);
  const after = source.slice(range.end);
  if (before === "" && after === "") return { matches: [], edit: (match) => ({ ...match, text: target }) };
  const fits = ({ start, end }: Span): boolean =>
    fitsBefore(text, start, { needle, trimmed: before }) && fitsAfter(text, end, { needle, trimmed: after });
  return {
    matches: occurrences(text, needle, fits),
    edit: (match) => replaceTrimmed(text, match, { isIndented: before !== "", target }),
  };
};

type Side = { readonly needle: string; readonly trimmed: string };

// The text beside a match is looked at only as far as a word can join: a line may be megabytes long.
const NEAR = 4;

const fitsBefore = (text: string, start: number, { needle, trimmed }: Side): boolean => {
  if (trimmed.includes("\n") && !beginsLine(text, start)) return false;
  if (!BEGINS_WITH_WORD.test(needle)) return true;
  const near = text.slice(Math.max(0, start - NEAR), start);
  return trimmed === "" ? !ENDS_WITH_WORD.test(near) : !JOINED_BEFORE.test(near);
};

const fitsAfter = (text: string, end: number, { needle, trimmed }: Side): boolean => {
  if (trimmed.includes("\n") && !endsLine(text, end)) return false;
  if (!ENDS_WITH_WORD.test(needle.slice(-NEAR))) return true;
  const near = text.slice(end, end + NEAR);
  return trimmed === "" ? !BEGINS_WITH_WORD.test(near) : !JOINED_AFTER.test(near);
};

const beginsLine = (text: string, at: number): boolean => {
  let before = at - 1;
  while (isBlankAt(text, before) && text[before] !== "\n") before -= 1;
  return before < 0 || text[before] === "\n";
};

const endsLine = (text: string, at: number): boolean => {
  let after = at;
  while (isBlankAt(text, after) && text[after] !== "\n") after += 1;
  return after >= text.length || text[after] === "\n";
};

type TrimmedTarget = { readonly target: string; readonly isIndented: boolean };

const replaceTrimmed = (text: string, match: Span, { target, isIndented }: TrimmedTarget): Edit => {
  const range = trimmedRange(target);
  const trimmed = target.slice(range.start, range.end);
  const startsLine = beginsLine(text, match.start);
  const lineStart = text.slice(0, match.start).lastIndexOf("\n") + 1;
  // What is left of a line that is deleted whole is only its indentation: it goes too.
  if (trimmed === "" && startsLine && endsLine(text, match.end)) {
    const lineEnd = text.indexOf("\n", match.end);
    return { start: lineStart, end: lineEnd === -1 ? text.length : lineEnd + 1, text: "" };
  }
  // Further lines of a source that matched as written are meant as written.
  const isOneLine = !text.slice(match.start, match.end).includes("\n");
  if (!isOneLine || !startsLine || !trimmed.includes("\n")) return { ...match, text: trimmed };
  // A source without indentation was cut out of its line, unless the target's lines lack it too.
  const fileIndent = text.slice(lineStart, match.start);
  const lacksIndent = trimmed
    .split("\n")
    .some((line, index) => index > 0 && !isBlank(line) && !line.startsWith(fileIndent));
  if (!isIndented && !lacksIndent) return { ...match, text: trimmed };

  const targetIndent = indentOf(target.slice(target.lastIndexOf("\n", range.start) + 1));
  const [first = "", ...rest] = trimmed.split("\n");
  const anchor = { model: targetIndent, file: fileIndent };
  const shift = createShift([anchor], rest.filter((next) => !isBlank(next)).map(indentOf), text);
  const shifted = rest.map((next) =>
    isBlank(next) ? "" : shift(anchor, indentOf(next)) + next.slice(indentOf(next).length),
  );
  return { ...match, text: [first, ...shifted].join("\n") };
};

/** The text without blanks around it. Only space, tab, CR and LF are blanks: a BOM or U+3000 is text. */
export const trimmedRange = (text: string): Span => {
  let start = 0;
  while (isBlankAt(text, start)) start += 1;
  let end = text.length;
  while (end > start && isBlankAt(text, end - 1)) end -= 1;
  return { start, end };
};

const isBlankAt = (text: string, index: number): boolean => /^[ \t\r\n]$/.test(text.charAt(index));

const isBlank = (text: string): boolean => trimmedRange(text).start === text.length;
