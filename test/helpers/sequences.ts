// Any control sequence, ended or not, and any control character but newline, carriage return and tab.
const CONTROL =
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** The sequences that the chat itself has a use for. None clears the screen or the scrollback, none moves to a fixed row. */
const OWN: readonly RegExp[] = [
  /^\x1b\[[\d;:]*m$/, // colour and style
  /^\x1b\[\d*[ABCDEFG]$/, // the cursor, relative to where it is
  /^\x1b\[\d*L$/, // rows put in above the live region
  /^\x1b\[[012]?K$/, // erase in the line
  /^\x1b\[0?J$/, // erase below the cursor
  /^\x1b\[\?(?:25|1004|2004|2026|2027|2031)[hl]$/, // cursor, focus, bracketed paste, joined frames, widths, theme
  /^\x1b\[(?:\?u|>\d+u|<\d*u|>4;?\d*m|c|6n)$/, // keyboard protocol and questions to the terminal
  /^\x1b\]11;\?(?:\x07|\x1b\\)$/, // the question for the background colour
  /^\x1b\[2[23];[012]t$/, // the title, kept and given back
  /^\x1b\][02];(?:harness9[^\x00-\x1f\x7f-\x9f]*|\? ?harness9[^\x00-\x1f\x7f-\x9f]*)?(?:\x07|\x1b\\)$/, // the title
];

export const sequencesIn = (raw: string): readonly string[] => raw.match(CONTROL) ?? [];

/** What no part of the chat would write, so it came from somebody else's text. JSON text, each once. */
export const foreignSequences = (raw: string): readonly string[] => {
  const foreign = sequencesIn(raw).filter((sequence) => !OWN.some((pattern) => pattern.test(sequence)));
  return [...new Set(foreign.map((sequence) => JSON.stringify(sequence)))];
};
