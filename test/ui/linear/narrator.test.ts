import fc from "fast-check";
import { expect, test } from "vitest";
import type { EngineEvent, EngineEventBody } from "../../../src/schema/event.ts";
import { NO_USAGE } from "../../../src/schema/model.ts";
import { loadStrings } from "../../../src/text/strings.ts";
import { plainText } from "../../../src/ui/line.ts";
import { linearStrings, wordGlyphs } from "../../../src/ui/linear/linear-words.ts";
import { createNarrator } from "../../../src/ui/linear/narrator.ts";

const english = await loadStrings("en");

const event = (body: EngineEventBody): EngineEvent => ({
  ...body,
  sessionId: "session",
  seq: 1,
  time: "2026-01-01T00:00:00.000Z",
});

/** What is said of these events, a line each. */
const told = (bodies: readonly EngineEventBody[], showsThinking = false): readonly string[] => {
  const strings = linearStrings(english);
  const glyphs = wordGlyphs(strings.linear);
  const narrator = createNarrator({ width: () => 79, glyphs, strings, showsThinking: () => showsThinking });
  return bodies.flatMap((body) => narrator.take(event(body))).map(plainText);
};

const text = (delta: string): EngineEventBody => ({ type: "text.delta", turn: 1, text: delta });
const ACTION: EngineEventBody = { type: "phase.started", turn: 1, phase: "action", tools: 4 };
const ANSWERED: EngineEventBody = {
  type: "message.completed",
  turn: 1,
  message: { role: "assistant", content: "", toolCalls: [] },
  finishReason: "stop",
  usage: NO_USAGE,
};
const started = (id: string, name: string, args: object): EngineEventBody => ({
  type: "tool.started",
  turn: 1,
  call: { id, name, arguments: JSON.stringify(args) },
  display: "",
});
const resolved = (toolCallId: string, decision: "allow" | "reject"): EngineEventBody => ({
  type: "permission.resolved",
  turn: 1,
  toolCallId,
  name: "bash",
  decision,
  scope: "once",
  by: "mode",
});
const completed = (toolCallId: string, name: string, output = "", isError = false): EngineEventBody => ({
  type: "tool.completed",
  turn: 1,
  toolCallId,
  name,
  result: { output, isError },
  durationMs: 5,
});

test("a paragraph is told when it is complete, however it came", () => {
  const answer =
    "# Title\n\nOne **two**\nthree.\n\n- a\n- b\n\n| N | V |\n|---|---|\n| x | 1 |\n\n```js\nlet a;\n```\nend";
  const expected = [
    "answer: Title",
    "",
    "  One two three.",
    "",
    "  - a",
    "  - b",
    "",
    "  N: x",
    "  V: 1",
    "",
    "    let a;",
    "",
    "  end",
  ];
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 })), (cuts) => {
      const pieces: string[] = [];
      let rest = answer;
      for (const cut of cuts) {
        pieces.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      expect(told([ACTION, ...[...pieces, rest].filter(Boolean).map(text), ANSWERED])).toEqual(expected);
    }),
  );
});

test("a step begins when it may run; of several of a kind the end says which", () => {
  expect(
    told([
      started("1", "read_file", { path: "a.ts" }),
      started("2", "read_file", { path: "b.ts" }),
      resolved("2", "allow"),
      resolved("1", "allow"),
      completed("2", "read_file", "text"),
      completed("1", "read_file", "no such file", true),
    ]),
  ).toEqual([
    "running read_file: b.ts",
    "running read_file: a.ts",
    "read_file: b.ts ended: 5 ms",
    "   text",
    "read_file failed: 5 ms",
    "   no such file",
  ]);
});

test("a step that was refused never began", () => {
  expect(
    told([
      started("1", "bash", { command: "rm x" }),
      resolved("1", "reject"),
      completed("1", "bash", "refused: …", true),
    ]),
  ).toEqual(["bash was refused", "   refused: …"]);
});

test("a person's own command begins at once", () => {
  const { turn: _, ...own } = started("person_1", "bash", { command: "ls" });
  expect(told([own])).toEqual(["running bash: ls"]);
});

test.each([
  [false, ["thought for 0 ms", "answer: Yes."]],
  [true, ["thought for 0 ms", "  Why not?", "answer: Yes."]],
])("a thought is one sentence, and more where that is wanted: %s", (showsThinking, expected) => {
  const events: EngineEventBody[] = [
    { type: "thinking.delta", turn: 1, text: "Why " },
    { type: "thinking.delta", turn: 1, text: "not?" },
    text("Yes."),
    ANSWERED,
  ];
  expect(told([ACTION, ...events], showsThinking)).toEqual(expected);
});

test.each([
  ["completed", {}, []],
  ["cancelled", {}, ["note: interrupted by you after 10 ms; what was done is kept"]],
  [
    "error",
    { error: { kind: "auth", message: "the key\x1b[31m is wrong", hint: "set another" } },
    ["error: the key is wrong", "  set another"],
  ],
  [
    "blocked",
    { permissionDenials: [{ toolCallId: "1", name: "bash", reason: "" }] },
    ["error: calls were refused: bash"],
  ],
] as const)("a run that ends with %s", (reason, more, expected) => {
  const end: EngineEventBody = {
    type: "run.completed",
    reason,
    text: "",
    turns: 1,
    contextMessages: 1,
    usage: NO_USAGE,
    costUsd: 0,
    durationMs: 10,
    permissionDenials: [],
    ...more,
  };
  expect(told([end])).toEqual(expected);
});
