import { expect, test } from "vitest";
import { formatBlock } from "../../src/logging/format-block.ts";
import { formatJson } from "../../src/logging/json-text.ts";
import type { EngineEvent, EngineEventBody } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import { goDuration } from "../../src/text/duration.ts";

const at = (body: EngineEventBody): EngineEvent => ({
  ...body,
  sessionId: "s",
  seq: 1,
  time: new Date(2026, 3, 29, 15, 11, 30).toISOString(),
});

const OPTIONS = { maxOutputBytes: 512, indent: 8, inlineArguments: 80 };

const block = (body: EngineEventBody): string => formatBlock(at(body), OPTIONS) ?? "";

const started = (name: string, id: string, args: string) =>
  block({ type: "tool.started", turn: 1, call: { id, name, arguments: args }, display: "" });

const completed = (output: string, isError = false) =>
  block({
    type: "tool.completed",
    turn: 1,
    toolCallId: "call_xyz",
    name: "bash",
    result: { output, isError },
    durationMs: 3,
  });

test("a tool start with short arguments", () => {
  expect(started("bash", "call_xyz", '{"command":"go version && pwd && ls -la"}')).toBe(
    `2026/04/29 15:11:30 [engine] Turn 1 │ 工具启动 │ tool=bash id=call_xyz
        arguments: {"command":"go version && pwd && ls -la"}`,
  );
});

test("a tool start with long arguments keeps the order of the keys", () => {
  const content = 'package main\\n\\nimport \\"fmt\\"\\n...';
  const args = `{"path":"src/main.go","content":"${content}","note":"long enough to leave the line"}`;
  expect(started("write_file", "call_abc", args)).toBe(
    `2026/04/29 15:11:30 [engine] Turn 1 │ 工具启动 │ tool=write_file id=call_abc
        arguments:
          {
            "path": "src/main.go",
            "content": "package main\\n\\nimport \\"fmt\\"\\n...",
            "note": "long enough to leave the line"
          }`,
  );
});

test("a finished tool: bars, the full byte count, the cut in the header", () => {
  const head = "go version go1.25.3 darwin/arm64\ntotal 9456\n";
  const output = head + "x".repeat(1363 - head.length);
  expect(completed(output)).toBe(
    `2026/04/29 15:11:30 [engine] Turn 1 │ 工具完成 │ tool=bash id=call_xyz status=ok bytes=1363 (truncated to 512)
        output:
        │ go version go1.25.3 darwin/arm64
        │ total 9456
        │ ${"x".repeat(512 - head.length)}`,
  );
});

test("a failed tool", () => {
  expect(completed("command not found: foo (at least 42 bytes...)", true)).toBe(
    `2026/04/29 15:11:30 [engine] Turn 1 │ 工具失败 │ tool=bash id=call_xyz status=error bytes=45
        output:
        │ command not found: foo (at least 42 bytes...)`,
  );
});

test.each([
  ["", "{}"],
  ["  ", "{}"],
  ['{ "b" : 1,\n "a":[ ] }', '{"b":1,"a":[]}'],
  ['{"x":', '{"x":'],
  ['{"n":12345678901234567890,"2":1,"1":2}', '{"n":12345678901234567890,"2":1,"1":2}'],
  ['{"c":"a\\u0026\\u0026b"}', '{"c":"a&&b"}'],
])("arguments %j are logged as %s", (args, shown) => {
  expect(started("x", "i", args).split("\n")[1]).toBe(`        arguments: ${shown}`);
});

test("compact arguments of 80 bytes stand in one line, of 81 do not; bytes count, not characters", () => {
  const inline = (value: string) =>
    started("x", "i", JSON.stringify({ k: value }))
      .split("\n")[1]
      ?.includes('{"k"');
  expect([inline("v".repeat(72)), inline("v".repeat(73)), inline("你".repeat(24)), inline("你".repeat(25))]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test.each([
  ["", ["<empty>"]],
  ["\n\n", ["<empty>"]],
  ["a\n\nb\n\n", ["a", "", "b"]],
  ["\u001b[31mred\u001b[0m \u0007\u009b2J", ["red "]],
  ["token sk-abcdefghijklmnopqrstuvwx end", ["token [masked] end"]],
])("the output %j is shown as %j", (output, lines) => {
  expect(completed(output).split("\n").slice(2)).toEqual(lines.map((line) => `        │ ${line}`));
});

test("an output is cut on a character boundary", () => {
  const shown = completed("你".repeat(300)).split("\n")[2] ?? "";
  expect(shown).toBe(`        │ ${"你".repeat(170)}`);
});

test("control characters in names, ids and messages cannot forge a line", () => {
  const forged = started("x", "i\n2026/04/29 15:11:30 [engine] fake", "{}").split("\n");
  expect(forged.length).toBe(2);
});

test("the run's other points each have a line", () => {
  const turn = { turn: 2 } as const;
  const lines = [
    block({
      type: "run.started",
      workDir: "/w",
      provider: "openai",
      model: "m",
      thinking: "off",
      maxTurns: 50,
      toolTimeoutMs: 60_000,
      maxConcurrentTools: 0,
      permissionMode: "auto",
      sandbox: "off",
      logFile: null,
    }),
    block({ type: "turn.started", ...turn, contextMessages: 4 }),
    block({ type: "phase.started", ...turn, phase: "thinking", tools: 0 }),
    block({
      type: "message.completed",
      ...turn,
      message: { role: "assistant", content: "", thinking: { kind: "two-stage", text: "你好" }, toolCalls: [] },
      finishReason: "stop",
      usage: NO_USAGE,
    }),
    block({ type: "phase.started", ...turn, phase: "action", tools: 4 }),
    block({ type: "observations.added", ...turn, count: 2, contextMessages: 7 }),
    block({
      type: "run.completed",
      reason: "completed",
      text: "ok",
      turns: 2,
      contextMessages: 8,
      usage: NO_USAGE,
      costUsd: null,
      durationMs: 1234,
      permissionDenials: [],
    }),
  ];
  expect(lines.map((line) => line.replace("2026/04/29 15:11:30 [engine] ", ""))).toEqual([
    "启动 │ workdir=/w thinking=off maxTurns=50 toolTimeout=1m0s maxConcurrent=0 model=openai/m mode=auto",
    "Turn 2 │ contextMessages=4",
    "Turn 2 │ Phase 1: Thinking (tools=none)",
    "Turn 2 │ Phase 1 完成 │ 思考长度=2 chars",
    "Turn 2 │ Phase 2: Action (tools=4)",
    "Turn 2 │ Observation 注入完成 │ count=2 contextMessages=7",
    "循环结束 │ 总Turns=2 contextMessages=8 reason=completed total=1.234s",
  ]);
});

test.each([
  [0, "0s"],
  [150, "150ms"],
  [1200, "1.2s"],
  [60_000, "1m0s"],
  [3_605_000, "1h0m5s"],
])("%d ms are written %s", (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});

test("JSON text is laid out as JSON.stringify would, for values that it keeps", () => {
  const value = { a: [1, { b: "x\ny" }, [], {}], c: null, d: -1.5e3, "": true };
  expect(formatJson(JSON.stringify(value), 2)).toBe(JSON.stringify(value, null, 2).replace("-1500", "-1500"));
  expect(formatJson(JSON.stringify(value, null, 7), 0)).toBe(JSON.stringify(value));
});
