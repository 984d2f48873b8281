import { describe, expect, test } from "vitest";
import { type Answer, anthropicAnswer, modelServer, openAIAnswer, sse } from "../helpers/model-server.ts";
import { anthropicEnv, bash, newPlace, openAIEnv, runProgram, toolCalls } from "../helpers/program.ts";

type Body = {
  readonly tools?: readonly unknown[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly thinking?: unknown;
  readonly reasoning_effort?: unknown;
};

/** What the built program asks a scripted model in one run, and what it says in the end. */
const run = async (dialect: "openai" | "anthropic", thinking: string, answers: readonly Answer[]) => {
  const server = await modelServer(answers);
  const env = dialect === "openai" ? openAIEnv(server) : anthropicEnv(server);
  const args = ["run", "--thinking", thinking, "--yolo", "do it"];
  const ended = await runProgram(args, { place: newPlace(), env });
  return { ...ended, bodies: server.requests.map(({ body }) => body as Body) };
};

/** The history without the system prompt, its cache marks taken off. */
const history = ({ messages }: Body): readonly unknown[] =>
  JSON.parse(
    JSON.stringify(messages.filter(({ role }) => role !== "system")).replaceAll(
      ',"cache_control":{"type":"ephemeral"}',
      "",
    ),
  ) as unknown[];

const anthropicCall = (...before: readonly object[]): Answer => ({
  chunks: [
    JSON.stringify({
      content: [...before, { type: "tool_use", id: "a", name: "bash", input: { command: "echo hi" } }],
      stop_reason: "tool_use",
    }),
  ],
});

describe("two-stage thinking", () => {
  test("OpenAI: the thought and its act are one message from the next request on", async () => {
    const { exitCode, stdout, stderr, bodies } = await run("openai", "two-stage", [
      openAIAnswer("First look."),
      toolCalls([bash("echo hi")]),
      openAIAnswer("Now say."),
      openAIAnswer("Done."),
    ]);
    expect([exitCode, stdout, stderr]).toEqual([0, "Done.\n", expect.any(String)]);
    expect(bodies.map(({ tools }) => tools !== undefined)).toEqual([false, true, false, true]);
    const asked = { role: "user", content: "do it" };
    const acted = [
      asked,
      {
        role: "assistant",
        content: "First look.",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "bash", arguments: '{"command":"echo hi"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "hi\n" },
    ];
    const now = (thought: string) => [
      { role: "assistant", content: thought },
      { role: "user", content: expect.any(String) },
    ];
    expect(bodies.map(history)).toEqual([
      [asked],
      [asked, ...now("First look.")],
      acted,
      [...acted, ...now("Now say.")],
    ]);
  });

  test("Anthropic: roles alternate, and no request ends with the assistant", async () => {
    const { exitCode, stdout, bodies } = await run("anthropic", "two-stage", [
      anthropicAnswer("First look."),
      anthropicCall({ type: "text", text: "I look." }),
      anthropicAnswer("Now say."),
      anthropicAnswer("Done."),
    ]);
    expect([exitCode, stdout]).toEqual([0, "Done.\n"]);
    const text = (words: unknown) => ({ type: "text", text: words });
    const asked = { role: "user", content: [text("do it")] };
    const acted = [
      asked,
      {
        role: "assistant",
        content: [
          text("First look.\n\nI look."),
          { type: "tool_use", id: "a", name: "bash", input: { command: "echo hi" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "hi\n", is_error: false }] },
    ];
    const now = (thought: string) => [
      { role: "assistant", content: [text(thought)] },
      { role: "user", content: [text(expect.any(String))] },
    ];
    expect(bodies.map(history)).toEqual([
      [asked],
      [asked, ...now("First look.")],
      acted,
      [...acted, ...now("Now say.")],
    ]);
  });

  test.each(["openai", "anthropic"] as const)(
    "%s: calls and an empty thought of the first pass are dropped",
    async (dialect) => {
      const isOpenAI = dialect === "openai";
      const answers = isOpenAI
        ? [toolCalls([bash("touch made-up")]), openAIAnswer("Done.")]
        : [anthropicCall(), anthropicAnswer("Done.")];
      const { exitCode, stdout, bodies } = await run(dialect, "two-stage", answers);
      expect([exitCode, stdout]).toEqual([0, "Done.\n"]);
      const content = isOpenAI ? "do it" : [{ type: "text", text: "do it" }];
      expect(bodies.map(history)).toEqual([[{ role: "user", content }], [{ role: "user", content }]]);
    },
  );
});

describe("native thinking", () => {
  test("OpenAI: effort is asked for, and the reasoning goes back with the calls that it led to", async () => {
    const call = toolCalls([bash("echo hi")]);
    const thought = sse({ choices: [{ index: 0, delta: { reasoning_content: "hm" } }] });
    const { exitCode, stdout, bodies } = await run("openai", "native", [
      { chunks: [...thought, ...(call.chunks ?? [])] },
      openAIAnswer("Done."),
    ]);
    expect([exitCode, stdout]).toEqual([0, "Done.\n"]);
    expect(bodies.map(({ reasoning_effort }) => reasoning_effort)).toEqual(["medium", "medium"]);
    expect(bodies.map((body) => history(body)[1])).toEqual([
      undefined,
      {
        role: "assistant",
        content: null,
        tool_calls: [expect.objectContaining({ id: "call_1" })],
        reasoning_content: "hm",
      },
    ]);
  });

  test("Anthropic: signed blocks go back where they were", async () => {
    const first = { type: "thinking", thinking: "hm", signature: "s1" };
    const second = { type: "thinking", thinking: "so", signature: "s2" };
    const say = { type: "text", text: "I look." };
    const { exitCode, stdout, bodies } = await run("anthropic", "native", [
      anthropicCall(first, say, second),
      anthropicAnswer("Done."),
    ]);
    expect([exitCode, stdout]).toEqual([0, "Done.\n"]);
    expect(bodies.map(({ thinking }) => thinking)).toEqual([
      { type: "enabled", budget_tokens: 4096 },
      { type: "enabled", budget_tokens: 4096 },
    ]);
    expect(bodies.map((body) => history(body)[1])).toEqual([
      undefined,
      {
        role: "assistant",
        content: [first, say, second, { type: "tool_use", id: "a", name: "bash", input: { command: "echo hi" } }],
      },
    ]);
  });
});
