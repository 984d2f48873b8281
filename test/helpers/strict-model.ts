import type { Answer, ReceivedRequest } from "./model-server.ts";

type Json = Readonly<Record<string, unknown>>;

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The messages of a request. */
export const messagesOf = ({ body }: ReceivedRequest): readonly Json[] => list((body as Json)["messages"]);

/** What the real APIs refuse in a history; undefined for one that they take. */
export const problemOf = (request: ReceivedRequest): string | undefined =>
  request.url.endsWith("/messages") ? anthropicProblem(messagesOf(request)) : openAIProblem(messagesOf(request));

/** Tokens of a request as this server counts them. */
export const sizeOf = ({ body }: ReceivedRequest): number => {
  const { messages, system, tools } = body as Json;
  return Math.ceil(JSON.stringify({ messages, system, tools }).length / 4);
};

/** Answers as a function says, but refuses what the real APIs refuse; such requests are in `problems`. */
export const strictly = (
  answer: (request: ReceivedRequest, count: number) => Answer,
  window: number = Number.POSITIVE_INFINITY,
) => {
  const problems: string[] = [];
  return {
    problems,
    answer: (request: ReceivedRequest, count: number): Answer => {
      const size = sizeOf(request);
      const problem = problemOf(request) ?? (size > window ? `prompt is too long: ${size} > ${window}` : undefined);
      if (problem === undefined) return answer(request, count);
      problems.push(`${problem}: ${JSON.stringify(messagesOf(request))}`);
      return {
        status: 400,
        chunks: [JSON.stringify({ error: { type: "invalid_request_error", message: problem } })],
      };
    },
  };
};

const openAIProblem = (messages: readonly Json[]): string | undefined => {
  let waiting: string[] = [];
  for (const [index, message] of messages.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: id } = message;
    if (role === "system" && index > 0) return "a system message in the middle";
    if (role === "tool") {
      if (waiting[0] === undefined || !waiting.includes(String(id)))
        return `tool message ${String(id)} without its call`;
      waiting = waiting.filter((one) => one !== id);
    } else if (waiting.length > 0) return `calls without answers: ${waiting}`;
    if (role !== "assistant" && (content === "" || content === null)) return "an empty message";
    if (role === "assistant" && !content && list(calls).length === 0) return "an empty answer";
    if (role === "assistant" && messages[index - 1]?.["role"] === "assistant") return "two answers in a row";
    waiting = [...waiting, ...list(calls).map((call) => String(call["id"]))];
  }
  if (messages.at(-1)?.["role"] === "assistant") return "nothing to answer";
  return waiting.length > 0 ? `calls without answers: ${waiting}` : undefined;
};

const anthropicProblem = (messages: readonly Json[]): string | undefined => {
  let waiting: readonly string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "assistant")) return `message ${index} is ${String(role)}`;
    const blocks = list(content);
    if (blocks.length === 0) return "an empty message";
    if (blocks.some((block) => block["type"] === "text" && String(block["text"]).trim() === "")) return "a blank text";
    const results = blocks.filter(({ type }) => type === "tool_result");
    if (blocks.slice(0, results.length).some(({ type }) => type !== "tool_result")) return "results are not first";
    const ids = results.map((block) => String(block["tool_use_id"]));
    if (JSON.stringify([...ids].sort()) !== JSON.stringify([...waiting].sort())) return `${waiting} answered by ${ids}`;
    waiting = blocks.flatMap((block) => (block["type"] === "tool_use" ? [String(block["id"])] : []));
  }
  return messages.length % 2 === 1 ? undefined : "nothing to answer";
};
