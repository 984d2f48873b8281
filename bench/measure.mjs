// Runs one program once and says what it took.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { finalText, findScript, sizeOf } from "./scenarios.mjs";

const PRELOAD = fileURLToPath(new URL("usage-preload.cjs", import.meta.url));
const TIMEOUT_MS = 120_000;

/**
 * @typedef {{ name: string, command: string[], prompt: string | null, env?: Record<string, string> }} Run
 *   `prompt` null: not an agent's run, no requests expected
 * @typedef {{ wallMs: number, turnMs?: number, toRequestMs?: number, toExitMs?: number, requests: number, firstRequestBytes?: number, cacheKept?: number }} Times
 * @typedef {{ cpuMs: number, rssMb: number, started: number }} Usage CPU and memory of the program itself; `started`: the processes that it started
 */

/**
 * The times of one run. @throws when the program fails or does not do what the script says.
 * @param {Run} run
 * @returns {Promise<Times>}
 */
export const measureTimes = async (run, place) => {
  const { spawnedAt, exitedAt, requests } = await runOnce(run, place, {});
  const turns = requests.filter(({ status, cacheable }) => status === 200 && cacheable !== "");
  const gaps = turns.slice(1).map(({ arrivedAt }, index) => arrivedAt - turns[index].endedAt);
  return {
    wallMs: exitedAt - spawnedAt,
    requests: requests.length,
    ...(turns.length > 0 && {
      toRequestMs: turns[0].arrivedAt - spawnedAt,
      toExitMs: exitedAt - turns.at(-1).endedAt,
      firstRequestBytes: turns[0].bytes,
    }),
    ...(gaps.length > 0 && {
      turnMs: median(gaps),
      cacheKept: Math.min(...turns.slice(1).map((turn, index) => keptShare(turns[index], turn))),
    }),
  };
};

/**
 * CPU and memory of one run, by a preload that costs the run a few milliseconds: never in the same run as the times.
 * @param {Run} run
 * @returns {Promise<Usage>}
 */
export const measureUsage = async (run, place) => {
  const file = join(place.root, "usage.jsonl");
  rmSync(file, { force: true });
  await runOnce(run, place, { NODE_OPTIONS: `--require "${PRELOAD}"`, BENCH_USAGE: file });
  if (!existsSync(file)) throw new Error(`${run.name}: not a Node program, or it was killed: no usage`);
  // Node programs among its children write a line too; the program itself ends last.
  return JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1));
};

export const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const runOnce = async ({ name, command, prompt, env: ownEnv }, { server, workDir, root, env }, moreEnv) => {
  const outputFile = join(root, "output.txt");
  const output = openSync(outputFile, "w");
  const [file, ...words] = command;
  server.takeRequests();
  const spawnedAt = performance.now();
  const child = spawn(file, words, {
    cwd: workDir,
    env: { ...env, ...ownEnv, ...moreEnv },
    stdio: ["ignore", output, output],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  const [code, signal] = await once(child, "exit");
  const exitedAt = performance.now();
  clearTimeout(timer);
  closeSync(output);
  const requests = server.takeRequests();
  const problem = findProblem({ code, signal, prompt, requests, text: readFileSync(outputFile, "utf8") });
  if (problem !== null) throw new Error(`${name}, ${prompt ?? command.at(-1)}: ${problem}`);
  return { spawnedAt, exitedAt, requests };
};

const findProblem = ({ code, signal, prompt, requests, text }) => {
  const tail = text.trim().slice(-500);
  if (code !== 0) return `ended with ${signal ?? code}: ${tail}`;
  if (prompt === null) return null;
  const script = findScript(prompt);
  const expected = sizeOf(script);
  const turns = requests.filter(({ status }) => status === 200);
  const calls = turns.reduce((sum, turn) => sum + turn.calls, 0);
  if (turns.length < expected.requests || calls !== expected.calls)
    return `${turns.length} requests and ${calls} calls instead of ${expected.requests} and ${expected.calls}: ${tail}`;
  return text.trim().endsWith(finalText(script).slice(-200)) ? null : `the answer is not there: ${tail}`;
};

/** How much of a request is, byte for byte, the beginning of the next one. */
const keptShare = (before, after) => {
  const earlier = Buffer.from(before.cacheable);
  const later = Buffer.from(after.cacheable);
  const length = Math.min(earlier.length, later.length);
  if (earlier.subarray(0, length).equals(later.subarray(0, length))) return length / earlier.length;
  return earlier.findIndex((byte, index) => byte !== later[index]) / earlier.length;
};
