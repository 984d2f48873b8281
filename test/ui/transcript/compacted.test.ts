import { expect, test } from "vitest";
import type { EngineEventBody } from "../../../src/schema/event.ts";
import { NO_USAGE } from "../../../src/schema/model.ts";
import { NEW_TRANSCRIPT, reduce, sessionUsage, type Transcript } from "../../../src/ui/transcript/transcript.ts";
import { at } from "../../helpers/journal.ts";
import { runStarted } from "../../helpers/run-started.ts";

const after = (bodies: readonly EngineEventBody[], before: Transcript = NEW_TRANSCRIPT): Transcript =>
  bodies.reduce((transcript, body) => reduce(transcript, at(body)).transcript, before);

const usage = { ...NO_USAGE, inputTokens: 100 };
const spent: EngineEventBody = {
  type: "usage.updated",
  usage,
  total: usage,
  costUsd: 0.5,
  contextTokens: 78_000,
  contextWindow: null,
};
const compacted: EngineEventBody = {
  type: "context.compacted",
  before: { tokens: 78_000, messages: 90 },
  after: { tokens: 12_000, messages: 9 },
};

test("a compaction is a line, and the context is as full as it says", () => {
  const { transcript, blocks } = reduce(NEW_TRANSCRIPT, at(compacted));
  expect(blocks).toEqual([{ type: "compacted", before: 78_000, after: 12_000 }]);
  expect(sessionUsage(transcript).contextTokens).toBe(12_000);
});

test("what a summary between runs has cost stays spent, and is no run", () => {
  const beside = after([spent, compacted]);
  expect(sessionUsage(beside)).toMatchObject({ usage, costUsd: 0.5, runs: 0, contextTokens: 12_000 });
  const later = after([runStarted as EngineEventBody, { ...spent, contextTokens: 13_000 }], beside);
  expect(sessionUsage(later)).toMatchObject({
    usage: { inputTokens: 200 },
    costUsd: 1,
    runs: 1,
    contextTokens: 13_000,
  });
});

test("a second summary between the same runs that counts anew, as with another model, adds to the first", () => {
  expect(sessionUsage(after([spent, compacted, spent, compacted]))).toMatchObject({
    usage: { inputTokens: 200 },
    costUsd: 1,
    runs: 0,
  });
  const more = { ...spent, total: { ...NO_USAGE, inputTokens: 200 }, costUsd: 1 };
  expect(sessionUsage(after([spent, more]))).toMatchObject({ usage: { inputTokens: 200 }, costUsd: 1, runs: 0 });
});
