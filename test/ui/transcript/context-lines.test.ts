import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../../src/schema/message.ts";
import type { ToolDefinition } from "../../../src/schema/tool.ts";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { lineWidth, plainText } from "../../../src/ui/line.ts";
import { type ContextFigures, contextBreakdown, contextLines } from "../../../src/ui/transcript/context-lines.ts";

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
const figures = (tokens: number | null, window: number | null = null, more: Partial<ContextFigures> = {}) => ({
  messages,
  summary: null,
  tokens,
  isMeasured: tokens !== null,
  window,
  compactsAt: window && Math.floor(window * 0.8),
  ...more,
});
const tokens = (known: number | null, window: number | null = null) => contextBreakdown(figures(known, window), tools);

test("without a figure all parts are estimates, by their scripts", () => {
  const part = (kind: string, share: number, details: readonly object[] = []) => ({ kind, tokens: share, details });
  expect(tokens(null)).toEqual({
    parts: [
      part("system", 103),
      part("tools", 54, [{ name: "bash", tokens: 54 }]),
      part("person", 23),
      part("model", 17),
      part("thinking", 5),
      part("results", 203),
    ],
    total: 405,
    isMeasured: false,
    window: null,
    compactsAt: null,
  });
});

test("the parts are scaled to the figure that there is, and details add up to their part", () => {
  const { parts, total, isMeasured } = tokens(810);
  expect({ total, isMeasured, tokens: parts.map((part) => part.tokens) }).toEqual({
    total: 810,
    isMeasured: true,
    tokens: [206, 108, 46, 34, 10, 406],
  });
});

test("instruction files, memory, skills and the summary are told apart", () => {
  const summary: Message = { role: "user", content: "s".repeat(40) };
  const { parts } = contextBreakdown(figures(null, null, { messages: [...messages, summary], summary }), tools, [
    { kind: "instructions", name: "~/AGENTS.md", text: "a".repeat(80) },
    { kind: "instructions", name: "/code/AGENTS.md", text: "b".repeat(40) },
    { kind: "memory", name: "", text: "c".repeat(20) },
  ]);
  expect(parts.slice(0, 5)).toEqual([
    { kind: "system", tokens: 68, details: [] },
    {
      kind: "instructions",
      tokens: 30,
      details: [
        { name: "~/AGENTS.md", tokens: 20 },
        { name: "/code/AGENTS.md", tokens: 10 },
      ],
    },
    { kind: "memory", tokens: 5, details: [] },
    { kind: "tools", tokens: 54, details: [{ name: "bash", tokens: 54 }] },
    { kind: "summary", tokens: 13, details: [] },
  ]);
});

test("tokens and shares add up to the totals as shown, and no line is wider than the width", () => {
  const pairs = fc.tuple(fc.option(fc.nat(2_000_000)), fc.option(fc.nat(1_000_000)));
  const message = fc.record({ role: fc.constant("user" as const), content: fc.string({ maxLength: 400 }) });
  fc.assert(
    fc.property(pairs, fc.array(message), fc.integer({ min: 1, max: 120 }), ([known, window], more, width) => {
      const all = figures(known, window, { messages: [...messages, ...more] });
      const breakdown = contextBreakdown(all, tools, [
        { kind: "instructions", name: "/a/very/long/path/that/leads/to/AGENTS.md", text: "s".repeat(40) },
      ]);
      expect(breakdown.parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(breakdown.total);
      for (const { tokens: sumOf, details } of breakdown.parts)
        if (details.length > 0) expect(details.reduce((all, one) => all + one.tokens, 0)).toBe(sumOf);
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
  const parts = [
    { kind: "instructions", name: "~/.harness9/AGENTS.md", text: "a".repeat(80) },
    { kind: "instructions", name: "/home/person/code/shop/packages/checkout/AGENTS.md", text: "b".repeat(40) },
  ] as const;
  const full = contextBreakdown(figures(14_200, 32_000), tools, parts);
  const frames = [en.commands, zh.commands].flatMap((strings) => [
    contextLines(full, { width, glyphs: UNICODE_GLYPHS, strings }),
    contextLines(tokens(null, null), { width, glyphs: ASCII_GLYPHS, strings }),
  ]);
  const file = frames.map((lines) => lines.map(plainText).join("\n")).join("\n\n----\n");
  await expect(`${file}\n`).toMatchFileSnapshot(`../frames/commands/context-${width}.txt`);
});
