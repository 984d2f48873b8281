import fc from "fast-check";
import { expect, test } from "vitest";
import { createSseReader } from "../../src/providers/sse.ts";

const read = (...parts: readonly (string | Uint8Array)[]) => {
  const reader = createSseReader();
  const events = parts.flatMap((part) => reader.feed(typeof part === "string" ? Buffer.from(part) : part));
  return [...events, ...reader.end()].map(({ data, name }) => (name === undefined ? data : `${name}|${data}`));
};

test.each<[string, readonly string[], readonly string[]]>([
  ["LF, CRLF and CR end lines", ["data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n"], ["a", "b", "c", "d"]],
  ["a CRLF may be cut in the middle", ["data: a\r", "\n\r", "\ndata: b\r", "\n", "\r\n"], ["a", "b"]],
  ["the space after the colon is optional and only one is taken", ["data:a\n\ndata:  b\n\n"], ["a", " b"]],
  ["several data lines are joined", ["data: a\ndata: b\ndata:\ndata: c\n\n"], ["a\nb\n\nc"]],
  ["comments, ids, retries and unknown fields are skipped", [": hi\nid: 1\nretry: 5\nfoo: x\ndata: a\n\n:\n\n"], ["a"]],
  ["an event without data is none", ["event: ping\n\ndata\n\ndata: \n\ndata: a\n\n"], ["a"]],
  ["the name belongs to its event alone", ["event: e\ndata: a\n\ndata: b\n\n"], ["e|a", "b"]],
  ["a byte order mark is skipped", ["\ufeffdata: a\n\n"], ["a"]],
  ["the last blank line may be missing", ["data: a\n\ndata: b"], ["a", "b"]],
  ["other line separators are text", ["data: a\u2028b\u0085c\n\n"], ["a\u2028b\u0085c"]],
])("%s", (_, parts, expected) => {
  expect(read(...parts)).toEqual(expected);
});

test("any cutting of the bytes gives the same events", () => {
  const text = "\ufeff: c\r\ndata: 你好🌍\r\n\r\nevent: x\ndata: a\ndata: b\n\ndata:{}\r\rdata: [DONE]\n\n";
  const bytes = Buffer.from(text);
  const whole = read(bytes);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
      const points = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const parts = points.slice(1).map((end, i) => bytes.subarray(points[i], end));
      expect(read(...parts)).toEqual(whole);
    }),
  );
});
