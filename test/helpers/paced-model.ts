import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { sse } from "./model-server.ts";

export type ChatMessage = {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
};

export type PacedUsage = { readonly input: number; readonly output: number; readonly cached?: number };

/** One request of the program, and the answer that the test gives it step by step. */
export type PacedTurn = {
  readonly messages: readonly ChatMessage[];
  /** The content of the last message. */
  readonly last: string;
  /** One delta of text, one network read. */
  send(text: string): void;
  /** Whole calls; the ids are `call_1` … counted through the conversation. */
  callTools(...calls: readonly (readonly [name: string, args: unknown])[]): void;
  /** Ends the answer, with `tool_calls` as the reason when tools were called. */
  finish(usage?: PacedUsage): void;
  /** An answer of one piece. */
  answer(text: string, usage?: PacedUsage): void;
  /** Breaks the connection. */
  cut(): void;
  /** Answers with an error instead; only before anything else. */
  fail(status: number, body: object): void;
  /** Resolves when the program has closed the connection before the end. */
  readonly abandoned: Promise<void>;
};

export type PacedModel = {
  /** http://127.0.0.1:port */
  readonly origin: string;
  /** The next request that has not been taken yet; waits for it. */
  next(): Promise<PacedTurn>;
  /** How many requests have come. */
  count(): number;
};

/** A loopback server of Chat Completions whose answers the test feeds. It goes when the running test ends. */
export const pacedModel = async (): Promise<PacedModel> => {
  const arrived: PacedTurn[] = [];
  const waiting: ((turn: PacedTurn) => void)[] = [];
  let requests = 0;
  let calls = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString("utf8")) as { readonly messages: readonly ChatMessage[] };
      requests += 1;
      const turn = pacedTurn(body.messages, response, () => `call_${++calls}`);
      const taker = waiting.shift();
      if (taker) taker(turn);
      else arrived.push(turn);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => requests,
    next: () => {
      const turn = arrived.shift();
      return turn ? Promise.resolve(turn) : new Promise((resolve) => waiting.push(resolve));
    },
  };
};

const pacedTurn = (messages: readonly ChatMessage[], response: ServerResponse, newId: () => string): PacedTurn => {
  response.socket?.setNoDelay(true);
  const abandoned = new Promise<void>((resolve) => {
    response.on("close", () => {
      if (!response.writableEnded) resolve();
    });
  });
  let calls = 0;
  const write = (...events: readonly unknown[]): void => {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(...events).join(""));
  };
  const delta = (content: object): void => write({ choices: [{ index: 0, delta: content, finish_reason: null }] });
  const turn: PacedTurn = {
    messages,
    last: messages.at(-1)?.content ?? "",
    send: (text) => delta({ content: text }),
    callTools: (...named) => {
      for (const [name, args] of named) {
        const call = { name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
        delta({ tool_calls: [{ index: calls, id: newId(), type: "function", function: call }] });
        calls += 1;
      }
    },
    finish: (usage) => {
      write(
        { choices: [{ index: 0, delta: {}, finish_reason: calls > 0 ? "tool_calls" : "stop" }] },
        ...(usage ? [{ choices: [], usage: wireUsage(usage) }] : []),
        "[DONE]",
      );
      response.end();
    },
    answer: (text, usage) => {
      turn.send(text);
      turn.finish(usage);
    },
    cut: () => response.destroy(),
    fail: (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    },
    abandoned,
  };
  return turn;
};

const wireUsage = ({ input, output, cached }: PacedUsage): object => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
});

/** Tool calls of a request that have no result, and results without a call: both must be empty for an API to take it. */
export const unpaired = (messages: readonly ChatMessage[]): readonly string[] => {
  const called = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  const answered = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
  return [...called.filter((id) => !answered.includes(id)), ...answered.filter((id) => !called.includes(id))];
};
