// What the journal costs a turn: the writes of its events, after 10,000 events and in an empty journal, which is its floor.
// By itself it prints the figures: node bench/journal.mjs [runs].
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { importSource } from "./import-source.mjs";

const EVENTS = 10_000;
const TURNS = 50;

const ENTRY = `export { openJournalFile } from "./src/session/journal-file.ts";`;

/** @returns {Promise<Record<"harness9" | "floor", Record<"journalMs", number[]>>>} milliseconds a turn, one figure a run */
export const measureJournal = async (runs) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness9-journal-")));
  try {
    const { openJournalFile } = (await importSource(ENTRY, root)).exports;
    const samples = { harness9: { journalMs: [] }, floor: { journalMs: [] } };
    for (let run = 0; run < runs; run++) {
      const journal = openJournalFile(join(root, `${run}.jsonl`), {
        release: () => undefined,
        head: [
          { type: "session", version: 1, id: "bench", workDir: root, createdAt: TIME, harness9: "0.0.0" },
          { type: "system", content: "bench" },
        ],
        onFailure: (error) => {
          throw error;
        },
      });
      const next = turnsOf(journal);
      samples.floor.journalMs.push(timeOf(next));
      while (next() < EVENTS);
      samples.harness9.journalMs.push(timeOf(next));
      journal.close();
    }
    return samples;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

const timeOf = (next) => {
  const startedAt = performance.now();
  for (let turn = 0; turn < TURNS; turn++) next();
  return (performance.now() - startedAt) / TURNS;
};

const TIME = "2026-01-01T00:00:00.000Z";
const USAGE = { inputTokens: 9000, outputTokens: 80, cacheReadTokens: 8000, cacheWriteTokens: 0, reasoningTokens: 0 };

/** Writes the events of one turn with a command at each call; returns how many there are by then. */
const turnsOf = (journal) => {
  let seq = 0;
  let turn = 0;
  return () => {
    turn += 1;
    const id = `call_${turn}`;
    const call = { id, name: "bash", arguments: '{"command":"npm test -- date"}' };
    const result = { toolCallId: id, name: "bash", output: "a line of what it has said\n".repeat(80), isError: false };
    for (const body of [
      { type: "turn.started", contextMessages: turn },
      { type: "phase.started", phase: "action", tools: 6 },
      {
        type: "message.completed",
        message: { role: "assistant", content: "I run the test.", toolCalls: [call] },
        finishReason: "tool_calls",
        usage: USAGE,
      },
      { type: "usage.updated", usage: USAGE, total: USAGE, costUsd: 0.1, contextTokens: 9000, contextWindow: 200_000 },
      { type: "tool.started", call, display: "npm test -- date" },
      { type: "tool.completed", toolCallId: id, name: "bash", result, durationMs: 12 },
      { type: "observations.added", count: 1, contextMessages: turn },
    ]) {
      seq += 1;
      journal.write({ ...body, sessionId: "bench", seq, time: TIME, turn });
    }
    return seq;
  };
};

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [program, { journalMs }] of Object.entries(await measureJournal(Number(process.argv[2] ?? 7))))
    console.log(`${program}: ${journalMs.map((ms) => ms.toFixed(3)).join(" ")} ms a turn`);
