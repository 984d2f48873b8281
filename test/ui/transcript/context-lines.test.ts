import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../../src/schema/message.ts";
import type { ToolDefinition } from "../../../src/schema/tool.ts";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { lineWidth, plainText } from "../../../src/ui/line.ts";
import { contextBreakdown, contextLines } from "../../../src/ui/transcript/context-lines.ts";

const messages: Message[] = [
  { role: "system", content: "s".repeat(400) },
  { role: "user", content: "改".repeat(20) },
  {
    role: "assistant",
    content: "a".repeat(10),
    thinking: { kind: "native", text: "t".repeat(20) },
    toolCalls: [{ id: "1", name: "bash", arguments: "x".repeat(26) }],
  },
  { role: "user", toolCallId: "1", content: "o".repeat(800), isError: false },
];
const tools: ToolDefinition[] = [{ name: "bash", description: "d".repeat(194), inputSchema: {} }];
const tokens = (contextTokens: number | null, contextWindow: number | null = null) =>
  contextBreakdown(messages, tools, { contextTokens, contextWindow });

test("an estimate is a token for four bytes", () => {
  expect(tokens(null)).toEqual({
    parts: [
      { kind: "system", tokens: 100 },
      { kind: "tools", tokens: 50 },
      { kind: "person", tokens: 15 },
      { kind: "model", tokens: 15 },
      { kind: "results", tokens: 200 },
    ],
    total: 380,
    isMeasured: false,
    window: null,
  });
});

test("the parts are scaled to the provider's figure", () => {
  const { parts, total, isMeasured } = tokens(761);
  expect({ total, isMeasured, tokens: parts.map((part) => part.tokens) }).toEqual({
    total: 761,
    isMeasured: true,
    tokens: [200, 100, 30, 30, 401],
  });
});

test("tokens and shares add up to the totals as shown, and no line is wider than the width", () => {
  const figures = fc.record({
    contextTokens: fc.option(fc.nat(2_000_000)),
    contextWindow: fc.option(fc.nat(1_000_000)),
  });
  const message = fc.record({ role: fc.constant("user" as const), content: fc.string({ maxLength: 400 }) });
  fc.assert(
    fc.property(figures, fc.array(message), fc.integer({ min: 1, max: 120 }), (known, more, width) => {
      const breakdown = contextBreakdown([...messages, ...more], tools, known);
      expect(breakdown.parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(breakdown.total);
      const options = { glyphs: UNICODE_GLYPHS, strings: en.commands };
      for (const line of contextLines(breakdown, { ...options, width }))
        expect(lineWidth(line)).toBeLessThanOrEqual(width);
      const rows = contextLines(breakdown, { ...options, width: 120 }).map(plainText);
      const shares = (pattern: RegExp) =>
        rows
          .filter((row) => pattern.test(row))
          .map((row) => Math.round(10 * Number(/([\d.]+)%$/.exec(row)?.[1] ?? "0")));
      const sum = (all: number[]) => all.reduce((a, b) => a + b, 0);
      expect(sum(shares(/^ {2}[!✓›●│] \p{L}.*%$/u))).toBe(sum(shares(/^ {4}used/)));
      const isWithin = breakdown.window !== null && breakdown.window > 0 && breakdown.total <= breakdown.window;
      if (isWithin) expect(sum(shares(/^ {2}( {2}used|· free)/))).toBe(1000);
    }),
  );
});

test("more than the window is more than 100%, and nothing is free", () => {
  const rows = contextLines(tokens(1100, 1000), { width: 80, glyphs: UNICODE_GLYPHS, strings: en.commands }).map(
    plainText,
  );
  expect(rows.filter((row) => /used|free/.test(row))).toEqual([
    "    used                   1,100  110.0%",
    "  · free                       0    0.0%",
  ]);
});

test.each([40, 80, 120])("/context at %d columns", async (width) => {
  const frames = [en.commands, zh.commands].flatMap((strings) => [
    contextLines(tokens(14_200, 32_000), { width, glyphs: UNICODE_GLYPHS, strings }),
    contextLines(tokens(null, null), { width, glyphs: ASCII_GLYPHS, strings }),
  ]);
  const file = frames.map((lines) => lines.map(plainText).join("\n")).join("\n\n----\n");
  await expect(`${file}\n`).toMatchFileSnapshot(`../frames/commands/context-${width}.txt`);
});
