import fc from "fast-check";
import { expect, test } from "vitest";
import { byteLength, headBytes, tailBytes } from "../../../src/text/utf8.ts";
import { createOutputBuffer } from "../../../src/tools/shell/output-buffer.ts";

test("whatever the pieces, it keeps what a cut of the whole text would keep", () => {
  const pieces = fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 40 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 9, max: 300 }), (texts, maxBytes) => {
      const buffer = createOutputBuffer(maxBytes);
      for (const text of texts) buffer.append(text);
      const whole = texts.join("");
      expect(buffer.totalBytes).toBe(byteLength(whole));
      if (byteLength(whole) <= maxBytes) {
        expect(buffer.kept()).toEqual({ type: "whole", text: whole });
        return;
      }
      const head = headBytes(whole, Math.floor(maxBytes / 3));
      const tail = tailBytes(whole, maxBytes - Math.floor(maxBytes / 3));
      const cutBytes = byteLength(whole) - byteLength(head) - byteLength(tail);
      expect(buffer.kept()).toEqual({ type: "cut", head, tail, cutBytes });
    }),
    { numRuns: 1000 },
  );
});

test("the newest text is the end of all that came, of a cut output at least 2 KB", () => {
  const buffer = createOutputBuffer(100);
  buffer.append("a\n");
  expect(buffer.newest()).toBe("a\n");
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`);
  for (const line of lines) buffer.append(line);
  expect(lines.join("").endsWith(buffer.newest())).toBe(true);
  expect(buffer.newest().length).toBeGreaterThanOrEqual(2048);
  expect(buffer.newest().length).toBeLessThan(6000);
});
