import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createAnthropic } from "../../src/providers/anthropic.ts";
import { createOpenAI } from "../../src/providers/openai.ts";
import { ProviderError } from "../../src/providers/provider.ts";
import { NO_USAGE, type Usage } from "../../src/schema/model.ts";
import { modelServer } from "../helpers/model-server.ts";
import { BASH, gather, HELLO, joined, modelOptions, NEVER } from "./model-options.ts";

type Case = {
  readonly id: string;
  readonly dialect: "openai" | "anthropic";
  readonly title: string;
  readonly http?: { readonly status: number; readonly contentType: string };
  readonly chunks: readonly (string | { readonly base64: string })[];
  readonly end?: "reset";
  readonly expect: {
    readonly text: string;
    readonly thinking: string;
    readonly toolCalls: readonly {
      readonly id: string;
      readonly name: string;
      readonly arguments?: object;
      readonly invalidArguments?: string;
    }[];
    readonly usage: Partial<Usage> | null;
    readonly finishReason: string;
    readonly error: { readonly kind: string; readonly retryable: boolean } | null;
    readonly replay?: object;
    readonly replayBlocks?: readonly object[];
  };
};

const cases = JSON.parse(
  readFileSync(new URL("../fixtures/stream-cases.json", import.meta.url), "utf8"),
) as readonly Case[];

describe("a recorded stream means its turn, through the real SDK over real HTTP", () => {
  test.each(cases.map((one) => [`${one.id} ${one.title}`, one] as const))("%s", async (_, one) => {
    const { origin } = await modelServer([
      {
        status: one.http?.status ?? 200,
        headers: { "content-type": one.http?.contentType ?? "text/event-stream" },
        chunks: one.chunks.map((chunk) => (typeof chunk === "string" ? chunk : Buffer.from(chunk.base64, "base64"))),
        end: one.end ?? "close",
      },
    ]);
    const provider =
      one.dialect === "openai" ? createOpenAI(modelOptions(`${origin}/v1`)) : createAnthropic(modelOptions(origin));
    const { chunks, error } = await gather(provider.generateStream({ ...HELLO, tools: [BASH] }, NEVER));

    expect(joined(chunks, "text.delta")).toBe(one.expect.text);
    expect(joined(chunks, "thinking.delta")).toBe(one.expect.thinking);
    if (one.expect.error) {
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject(one.expect.error);
      expect(chunks.some((chunk) => chunk.type === "completed")).toBe(false);
      return;
    }
    expect(error).toBeUndefined();
    const last = chunks.at(-1);
    if (last?.type !== "completed") throw new Error("no completed chunk");
    const { message, finishReason, usage } = last.response;
    expect({
      text: message.content,
      thinking: message.thinking?.text ?? "",
      finishReason,
      usage,
      toolCalls: message.toolCalls.map(({ id, name, arguments: raw }) => ({ id, name, arguments: raw })),
    }).toEqual({
      text: one.expect.text,
      thinking: one.expect.thinking,
      finishReason: one.expect.finishReason,
      usage: one.expect.usage && { ...NO_USAGE, ...one.expect.usage },
      toolCalls: one.expect.toolCalls.map((call) => ({
        id: call.id === "*generated*" ? expect.stringMatching(/^call_\w{24}$/) : call.id,
        name: call.name,
        arguments: call.invalidArguments ?? expect.toSatisfy((raw: string) => isSame(raw, call.arguments)),
      })),
    });
    const blocks = one.expect.replayBlocks ?? (one.expect.replay && [one.expect.replay]);
    if (blocks) expect(message.thinking?.blocks).toEqual(blocks);
  });
});

const isSame = (raw: string, value: unknown): boolean => JSON.stringify(JSON.parse(raw)) === JSON.stringify(value);
