import { expect, test } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../../src/schema/event.ts";
import { NO_USAGE } from "../../../src/schema/model.ts";
import { loadStrings } from "../../../src/text/strings.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { plainText } from "../../../src/ui/line.ts";
import { type Block, NEW_TRANSCRIPT, reduce } from "../../../src/ui/transcript/transcript.ts";
import { replay } from "../../../src/ui/view/replay.ts";
import type { Scribe } from "../../../src/ui/view/scribe.ts";
import { at } from "../../helpers/journal.ts";

const strings = (await loadStrings("en")).sessions;

/** What is printed, and what it comes to. */
const shown = (bodies: readonly EngineEventBody[], turnsBefore = 0, contextTokens?: number) => {
  const blocks: Block[] = [];
  const said: string[] = [];
  let transcript = NEW_TRANSCRIPT;
  let total: unknown;
  const scribe: Scribe = {
    take: (event) => {
      const change = reduce(transcript, event);
      transcript = change.transcript;
      blocks.push(...change.blocks);
    },
    add: (block) => void blocks.push(block),
    say: (lines) => void said.push(...lines.map(plainText)),
    restart: () => undefined,
    settle: (settled) => {
      total = settled;
    },
    flush: () => undefined,
  };
  const totals = { runs: 1, turns: 2, usage: NO_USAGE, costUsd: 0.5, provider: "p", model: "m", prompt: "go" };
  const events: readonly EngineEvent[] = bodies.map(at);
  replay(
    { id: "20260102-030405-abcd", events, turnsBefore, totals },
    { scribe, width: 200, glyphs: UNICODE_GLYPHS, strings, contextTokens },
  );
  return { blocks, said, total };
};

const message = (content: string, thinking?: string): EngineEventBody => ({
  type: "message.completed",
  message: {
    role: "assistant",
    content,
    ...(thinking && { thinking: { kind: "native", text: thinking } }),
    toolCalls: [],
  },
  finishReason: "stop",
  usage: NO_USAGE,
});

test("what was said, thought and done stands as it stood when it happened", () => {
  const call = { id: "c1", name: "bash", arguments: '{"command":"ls"}' };
  const result = { output: "a.txt", isError: false };
  const { blocks, said, total } = shown(
    [
      { type: "input.added", content: "go", source: "person" },
      { type: "turn.started", turn: 1, contextMessages: 2 },
      message("I look.", "hm"),
      { type: "tool.started", call, display: "bash ls" },
      { type: "tool.completed", toolCallId: "c1", name: "bash", result, durationMs: 5 },
      { type: "observations.added", count: 1, contextMessages: 4 },
      message("Done."),
    ],
    3,
  );
  expect(blocks).toEqual([
    { type: "person", text: "go" },
    { type: "thought", text: "hm", durationMs: 0 },
    { type: "text", delta: "I look." },
    { type: "text.end", isDiscarded: false },
    { type: "step", step: { number: 1, name: "bash", arguments: call.arguments, result, durationMs: 5 } },
    { type: "text", delta: "Done." },
    { type: "text.end", isDiscarded: false },
  ]);
  expect(said.join(" ")).toContain(strings.goesOn("20260102-030405-abcd", 3));
  expect(total).toMatchObject({ runs: 1, turns: 2, costUsd: 0.5, contextTokens: 0 });
});

test("a command of the person's own is a step, and what the model was told of it is not shown", () => {
  const call = { id: "person_1", name: "bash", arguments: '{"command":"ls"}' };
  const result = { output: "a.txt", isError: false };
  const { blocks } = shown([
    { type: "tool.started", call, display: "bash ls" },
    { type: "tool.completed", toolCallId: "person_1", name: "bash", result, durationMs: 5 },
    { type: "input.added", content: "I ran ls: a.txt", source: "person" },
    { type: "input.added", content: "go", source: "person" },
  ]);
  expect(blocks.map((block) => (block.type === "person" ? block.text : block.type))).toEqual(["step", "go"]);
});

test("the context is as full as it is now, and where nobody counts that as the last request says", () => {
  const used = { type: "usage.updated", usage: NO_USAGE, total: NO_USAGE, costUsd: 0, contextWindow: null } as const;
  const events: readonly EngineEventBody[] = [
    { ...used, contextTokens: 78_000 },
    { type: "context.compacted", before: { tokens: 78_000, messages: 90 }, after: { tokens: 12_000, messages: 9 } },
  ];
  expect(shown(events, 0, 12_000).total).toMatchObject({ contextTokens: 12_000 });
  expect(shown(events).total).toMatchObject({ contextTokens: 78_000 });
});
