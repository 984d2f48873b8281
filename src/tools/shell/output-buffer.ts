import { byteLength, headBytes, tailBytes } from "../../text/utf8.ts";

/** What is kept of an output: all of it, or its first third and last two thirds of `maxBytes`. */
export type KeptOutput =
  | { readonly type: "whole"; readonly text: string }
  | { readonly type: "cut"; readonly head: string; readonly tail: string; readonly cutBytes: number };

/** Keeps the beginning and the end of a text of any length in memory that does not grow with it. */
export interface OutputBuffer {
  append(text: string): void;
  /** UTF-8 bytes of everything appended. */
  readonly totalBytes: number;
  /** Everything while it is whole; of a cut output the last characters, at least 2 KB of them. */
  newest(): string;
  kept(): KeptOutput;
}

const MIN_NEWEST = 2048;

export const createOutputBuffer = (maxBytes: number): OutputBuffer => {
  const maxHead = Math.floor(maxBytes / 3);
  const maxTail = maxBytes - maxHead;
  // One character more than needed: the cut may leave half of a surrogate pair in front, which tailBytes then drops.
  const tailLength = Math.max(maxTail, MIN_NEWEST) + 1;
  let totalBytes = 0;
  let whole = "";
  let head = "";
  let tail = "";

  const isCut = (): boolean => totalBytes > maxBytes;
  const keepTail = (text: string): void => {
    tail += text;
    // Twice the length, so that many small pieces are not copied each time.
    if (tail.length > 2 * tailLength) tail = tail.slice(-tailLength);
  };

  return {
    append: (text) => {
      const wasCut = isCut();
      totalBytes += byteLength(text);
      if (!isCut()) {
        whole += text;
        return;
      }
      if (!wasCut) {
        // A unit is at least one byte, so this is enough of `text` for any head.
        head = headBytes(whole + text.slice(0, maxHead + 1), maxHead);
        keepTail(whole);
        whole = "";
      }
      keepTail(text);
    },
    get totalBytes() {
      return totalBytes;
    },
    newest: () => (isCut() ? tail : whole),
    kept: () => {
      if (!isCut()) return { type: "whole", text: whole };
      const end = tailBytes(tail, maxTail);
      return { type: "cut", head, tail: end, cutBytes: totalBytes - byteLength(head) - byteLength(end) };
    },
  };
};
