// Medians, gates and the printed tables.
import { median } from "./measure.mjs";

/**
 * @typedef {Record<string, Record<string, Record<string, number[]>>>} Samples scenario → program → measure → one figure a run
 * @typedef {{ scenario: string, measure: string, value: number, limit: number, against?: string, ratio?: number, verdict: "pass" | "over" }} Verdict
 */

/** In the order of the tables. What is no cost of its own (`isCount`) stands in the table of gates alone. */
const MEASURES = {
  wallMs: { label: "wall, ms", digits: 1 },
  toRequestMs: { label: "start to first request, ms", digits: 1 },
  turnMs: { label: "own time a turn, ms", digits: 2 },
  toExitMs: { label: "last answer to exit, ms", digits: 1 },
  cpuMs: { label: "CPU, ms", digits: 1 },
  rssMb: { label: "peak memory, MB", digits: 1 },
  started: { label: "processes started", digits: 0 },
  readyMs: { label: "start to a typed key on the screen, ms", digits: 1 },
  echoMs: { label: "key echo at rest, ms", digits: 2 },
  echoP95Ms: { label: "key echo at rest, p95, ms", digits: 2 },
  streamEchoMs: { label: "key echo at 200 tokens/s, ms", digits: 2 },
  streamEchoP95Ms: { label: "key echo at 200 tokens/s, p95, ms", digits: 2 },
  streamCpu: { label: "CPU at 200 tokens/s (1 = a core)", digits: 3 },
  promptRssMb: { label: "memory at the prompt, MB", digits: 1 },
  coldMs: { label: "first snapshot of 20,000 files, ms", digits: 0 },
  warmMs: { label: "a snapshot after 5 changes, ms", digits: 1 },
  mainMs: { label: "of that on the main thread, ms", digits: 2 },
  journalMs: { label: "the journal of a turn, ms", digits: 3 },
  storeRssMb: { label: "memory for it, MB", digits: 1 },
  idleCpuMs: { label: "CPU of 3 s at rest, ms", digits: 0, isCount: true },
  idleBytes: { label: "bytes written in 3 s at rest", digits: 0, isCount: true },
  bytesPerChar: { label: "bytes written for a character", digits: 2, isCount: true },
  requests: { label: "requests", digits: 0, isCount: true },
  firstRequestBytes: { label: "first request, bytes", digits: 0, isCount: true },
  cacheKept: { label: "kept prefix (1 = all)", digits: 3, isCount: true },
};

/**
 * @param {readonly import("./gates.mjs").Scenario[]} scenarios
 * @param {Samples} samples
 * @returns {Verdict[]}
 */
export const judge = (scenarios, samples) =>
  scenarios.flatMap(({ name, gates }) =>
    gates.flatMap(({ measure, limit, against }) => {
      const value = medianOf(samples, name, "harness9", measure);
      if (against === undefined) {
        // A share must reach its limit; a cost must not exceed it.
        const isKept = measure === "cacheKept" ? value >= limit : value <= limit;
        return [{ scenario: name, measure, value, limit, verdict: isKept ? "pass" : "over" }];
      }
      const base =
        against === "floor"
          ? medianOf(samples, name, "floor", measure)
          : medianOf(samples, against, "harness9", measure);
      if (base === undefined) return []; // that scenario was not run
      const ratio = value / base;
      return [{ scenario: name, measure, value, limit, against, ratio, verdict: ratio <= limit ? "pass" : "over" }];
    }),
  );

/** Every figure as "min / median" with the multiple of the floor. */
export const figuresTable = (samples) => {
  const programs = [...new Set(Object.values(samples).flatMap((scenario) => Object.keys(scenario)))];
  const rows = Object.entries(samples).flatMap(([scenario, byProgram]) =>
    Object.entries(MEASURES)
      .filter(([measure, { isCount }]) => !isCount && byProgram["harness9"]?.[measure])
      .map(([measure, { label, digits }]) => [
        scenario,
        label,
        ...programs.map((program) => figure(samples, scenario, program, measure, digits)),
      ]),
  );
  return table(["scenario", "measure", ...programs], rows);
};

/** @param {readonly Verdict[]} verdicts */
export const gatesTable = (verdicts) =>
  table(
    ["scenario", "measure", "harness9", "ratio", "limit", ""],
    verdicts.map(({ scenario, measure, value, limit, against, ratio, verdict }) => [
      scenario,
      MEASURES[measure].label,
      value.toFixed(MEASURES[measure].digits),
      ratio === undefined ? "" : ratio.toFixed(2),
      against === undefined ? String(limit) : `${limit} x ${baseName(scenario, against)}`,
      verdict,
    ]),
  );

const baseName = (scenario, against) => (scenario === "version" ? "node -e 0" : against);

const medianOf = (samples, scenario, program, measure) => {
  const figures = samples[scenario]?.[program]?.[measure];
  return figures && median(figures);
};

const figure = (samples, scenario, program, measure, digits) => {
  const figures = samples[scenario][program]?.[measure];
  if (!figures) return "";
  const middle = median(figures);
  const base = medianOf(samples, scenario, "floor", measure);
  const ratio = program !== "floor" && base ? ` (x${(middle / base).toFixed(2)})` : "";
  return `${Math.min(...figures).toFixed(digits)} / ${middle.toFixed(digits)}${ratio}`;
};

/** A Markdown table whose columns line up in a terminal too. */
const table = (head, rows) => {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
};
