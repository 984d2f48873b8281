import { expect, test } from "vitest";
import { exitCode } from "../../src/headless/exit-code.ts";
import type { EngineEventBody, ErrorKind, RunEndReason } from "../../src/schema/event.ts";
import { NO_USAGE } from "../../src/schema/model.ts";

const end = (reason: RunEndReason, kind?: ErrorKind): EngineEventBody<"run.completed"> => ({
  type: "run.completed",
  reason,
  text: "",
  turns: 1,
  contextMessages: 2,
  usage: NO_USAGE,
  costUsd: null,
  durationMs: 1,
  permissionDenials: [],
  ...(kind && { error: { kind, message: kind } }),
});

test.each([
  ["completed", 0],
  ["max_turns", 53],
  ["blocked", 54],
  ["budget", 55],
  ["cancelled", 130],
  ["repeated_call", 1],
  ["error", 1],
] as const)("a run that ends with %s exits with %i", (reason, code) => {
  expect(exitCode(end(reason))).toBe(code);
});

test.each([
  ["auth", 41],
  ["input", 42],
  ["config", 52],
  ["rate_limit", 75],
  ["overloaded", 75],
  ["server", 75],
  ["network", 75],
  ["timeout", 75],
  ["bad_request", 1],
  ["context_overflow", 1],
  ["content_filter", 1],
  ["protocol", 1],
  ["empty_tool_calls", 1],
  ["cancelled", 1],
  ["internal", 1],
] as const)("an error of kind %s exits with %i", (kind, code) => {
  expect(exitCode(end("error", kind))).toBe(code);
});

test("the reason of an end decides before the kind of its error", () => {
  expect(exitCode(end("max_turns", "input"))).toBe(53);
  expect(exitCode(end("budget", "input"))).toBe(55);
});
