// A scripted model on loopback for the benchmark: Chat Completions and Messages, streamed.
// By hand: node bench/model-server.mjs, then point a base URL at it and put a marker such as bench:tools:3 into the prompt.
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findScript, replyOf } from "./scenarios.mjs";
import { WIRE_FORMATS } from "./wire-formats.mjs";

/**
 * @typedef {{ path: string, arrivedAt: number, endedAt: number, bytes: number, calls: number, status: number, cacheable: string }} RequestLog
 *   Times in milliseconds of performance.now(). `cacheable`: tools, system and messages as one text that grows at its end.
 */

/**
 * Listens on a free port of loopback. `takeRequests` gives the log of the requests since it was last called.
 * @returns {Promise<{ origin: string, takeRequests: () => RequestLog[], close: () => void }>}
 */
export const startModelServer = async (port = 0) => {
  let requests = [];
  const server = createServer((request, response) => {
    const entry = { path: request.url ?? "", arrivedAt: performance.now(), calls: 0, cacheable: "" };
    requests.push(entry);
    answer(request, response, entry).catch((error) => {
      entry.status = 499;
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: { message: String(error) } });
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    takeRequests: () => {
      const taken = requests;
      requests = [];
      return taken;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const answer = async (request, response, entry) => {
  request.socket.setNoDelay(true);
  const parts = [];
  for await (const part of request) parts.push(part);
  const raw = Buffer.concat(parts);
  entry.bytes = raw.length;
  const { pathname } = new URL(entry.path, "http://loopback");
  const format = request.method === "POST" ? WIRE_FORMATS[pathname] : undefined;
  if (!format) {
    entry.status = pathname === "/v1/models" ? 200 : 404;
    sendJson(response, entry.status, { object: "list", data: [{ id: "bench", object: "model", type: "model" }] });
  } else {
    const body = JSON.parse(raw.toString("utf8"));
    const turn = nextTurn(format.read(body));
    entry.status = turn.problem === undefined ? 200 : 400;
    if (turn.problem !== undefined) sendJson(response, 400, { error: { type: "bench", message: turn.problem } });
    else await stream(response, format, turn, raw.length);
    entry.calls = turn.calls?.length ?? 0;
    entry.endedAt = performance.now();
    // After the answer: this work must not count as the model's time.
    entry.cacheable = format.cacheable(body);
  }
  entry.endedAt ??= performance.now();
};

/** What comes next in the script, or what is wrong with the request: a quick agent that loses results must not pass. */
const nextTurn = ({ prompt, round, results, toolNames, stream: isStream }) => {
  const script = findScript(prompt);
  if (!script) return { problem: "no bench: marker in the prompt" };
  if (!isStream) return { problem: "only streaming is served" };
  for (let before = 0; before < round; before++)
    for (const { id, expected } of replyOf(script, before).calls ?? [])
      if (!results.get(id)?.includes(expected)) return { problem: `the result of ${id} has no "${expected}" in it` };
  const { calls, tokens, count, rate } = replyOf(script, round);
  if (!calls) return { tokens, count, rate };
  const named = calls.map((call) => ({
    id: call.id,
    name: toolNames.find((name) => call.tool.test(name)),
    arguments: JSON.stringify(call.arguments),
  }));
  return named.every(({ name }) => name) ? { calls: named } : { problem: `no tool for the script: ${toolNames}` };
};

const stream = async (response, format, { calls, tokens, count = 20, rate }, bytes) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const usage = { input: bytes >> 2, output: count };
  const events = function* () {
    yield* calls ? format.calls(calls) : format.text(tokens);
    yield* format.end(calls !== undefined, usage);
  };
  await pipeline(Readable.from(rate ? paced(events(), rate) : batches(events(), 64)), response);
};

/** So many events a second, by the clock: a late one does not make the rest late. */
async function* paced(events, rate) {
  const startedAt = performance.now();
  let sent = 0;
  for (const event of events) {
    const waitMs = startedAt + (sent++ * 1000) / rate - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    yield event;
  }
}

/** The server must be quicker than its clients: a write for each event would take longer than reading it. */
function* batches(events, size) {
  let batch = [];
  for (const event of events) {
    if (batch.push(event) < size) continue;
    yield batch.join("");
    batch = [];
  }
  if (batch.length > 0) yield batch.join("");
}

const sendJson = (response, status, value) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { origin } = await startModelServer(Number(process.argv[2] ?? 0));
  console.log(`OPENAI_BASE_URL=${origin}/v1 ANTHROPIC_BASE_URL=${origin}`);
}
