import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One scripted answer. `chunks` are written one by one, each its own network read; `end`: close, cut the connection, or keep it open. */
export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks?: readonly (string | Uint8Array)[];
  readonly end?: "close" | "reset" | "open";
};

export type ReceivedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body, or the text where it is none. */
  readonly body: unknown;
};

export type ModelServer = {
  /** http://127.0.0.1:port */
  readonly origin: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when the client has cut the connection of an answer that is kept open. */
  readonly cut: Promise<void>;
};

/**
 * A loopback HTTP server that plays a model: it gives `answers` in order (the last one again and again), or what a function of
 * the request gives. It goes when the running test ends.
 */
export const modelServer = async (
  answers: readonly Answer[] | ((request: ReceivedRequest, count: number) => Answer),
): Promise<ModelServer> => {
  const requests: ReceivedRequest[] = [];
  let markCut = (): void => undefined;
  const cut = new Promise<void>((resolve) => {
    markCut = resolve;
  });
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    response.on("close", () => {
      if (!response.writableEnded) markCut();
    });
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const request = {
        method: incoming.method ?? "",
        url: incoming.url ?? "",
        headers: incoming.headers,
        body: parseBody(Buffer.concat(parts).toString("utf8")),
      };
      requests.push(request);
      const answer =
        typeof answers === "function"
          ? answers(request, requests.length)
          : answers[Math.min(requests.length, answers.length) - 1];
      void play(answer ?? {}, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, cut };
};

const play = async (answer: Answer, response: ServerResponse): Promise<void> => {
  response.writeHead(answer.status ?? 200, { "content-type": "text/event-stream", ...answer.headers });
  response.flushHeaders();
  for (const chunk of answer.chunks ?? []) {
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
    // A turn of the event loop, so that each chunk arrives as a read of its own.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (answer.end === "reset") response.destroy();
  else if (answer.end !== "open") response.end();
};

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** Server-sent events, one chunk each. */
export const sse = (...events: readonly unknown[]): readonly string[] =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);

/** A whole OpenAI answer of text, or of one delta, as chunks. */
export const openAIAnswer = (delta: object | string, finishReason = "stop", usage?: object): Answer => ({
  chunks: sse(
    { choices: [{ index: 0, delta: typeof delta === "string" ? { content: delta } : delta, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finishReason }], ...(usage && { usage }) },
    "[DONE]",
  ),
});

/** A whole Anthropic answer of text, as chunks. */
export const anthropicAnswer = (text: string, stopReason = "end_turn"): Answer => ({
  chunks: sse(
    { type: "message_start", message: { content: [], usage: { input_tokens: 25, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 15 } },
    { type: "message_stop" },
  ),
});
