import { expect, test } from "vitest";
import { createProgress, type Paint } from "../../src/headless/progress.ts";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import { loadStrings } from "../../src/text/strings.ts";

const strings = (await loadStrings("en")).headless;
const PLAIN: Paint = { success: (text) => text, failure: (text) => text, dim: (text) => text };
const MARKED: Paint = { success: (text) => `<s>${text}`, failure: (text) => `<f>${text}`, dim: (text) => `<d>${text}` };

const lines = (bodies: readonly EngineEventBody[], paint = PLAIN): readonly (string | undefined)[] => {
  const progress = createProgress(strings, paint);
  return bodies.map((body) => progress({ ...body, sessionId: "s", seq: 1, time: "" } as EngineEvent));
};

const started = (id: string, display: string): EngineEventBody => ({
  type: "tool.started",
  call: { id, name: "bash", arguments: "{}" },
  display,
});
const completed = (toolCallId: string, isError = false, output = ""): EngineEventBody => ({
  type: "tool.completed",
  toolCallId,
  name: "bash",
  result: { output, isError },
  durationMs: 1500,
});
const said = (content: string, calls = 1): EngineEventBody => ({
  type: "message.completed",
  message: {
    role: "assistant",
    content,
    toolCalls: Array.from({ length: calls }, () => ({ id: "c", name: "bash", arguments: "{}" })),
  },
  finishReason: "stop",
  usage: NO_USAGE,
});

test("each call has a line when it begins and one when it ends, whatever ends first", () => {
  expect(
    lines([started("a", "bash one"), started("b", "bash two"), completed("b", true), completed("a"), completed("x")]),
  ).toEqual(["… bash one", "… bash two", "✗ bash two — 1.5s", "✓ bash one — 1.5s", "✓ bash — 1.5s"]);
});

test("a call that failed says why", () => {
  const output = "no such file\u001b[2J\nand more";
  expect(lines([completed("a", true, output), completed("b", false, output)])).toEqual([
    "✗ bash — 1.5s: no such file\\u{1b}[2J",
    "✓ bash — 1.5s",
  ]);
});

test("colours go around what they mark", () => {
  expect(lines([started("a", "bash"), completed("a"), completed("a", true)], MARKED)).toEqual([
    "<d>… bash",
    "<s>✓ bash — 1.5s",
    "<f>✗ bash — 1.5s",
  ]);
});

test("what the model says before its calls is news; the answer itself and silence are none", () => {
  expect(lines([said("Let me\n look."), said("The answer.", 0), said("")])).toEqual([
    "● Let me look.",
    undefined,
    undefined,
  ]);
});

test("a retry tells why, which try and how long it waits", () => {
  const retrying: EngineEventBody = {
    type: "provider.retrying",
    attempt: 2,
    maxAttempts: 5,
    delayMs: 1200,
    error: { kind: "overloaded", message: "Busy" },
    discard: false,
  };
  expect(lines([retrying])).toEqual(["↻ Busy; try 2 of 5 in 1.2s"]);
});

test("a line is one line, with hidden characters shown, keys hidden and a bounded length", () => {
  const key = `sk-${"a1".repeat(16)}`;
  const [hidden, secret, long, emoji] = lines([
    started("a", "bash a\n\tb\x1b[2J\u202ec\r\n"),
    started("b", `bash echo ${key}`),
    started("c", `bash ${"x".repeat(500)}`),
    started("d", `bash ${"x".repeat(152)}🙂🙂`),
  ]);
  expect(hidden).toBe("… bash a b\\u{1b}[2J\\u{202e}c ");
  expect(secret).toBe("… bash echo [masked]");
  expect(long).toHaveLength(161);
  expect(Buffer.from(emoji ?? "").toString()).toBe(emoji);
});
