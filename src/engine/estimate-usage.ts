import type { Message } from "../schema/message.ts";
import { NO_USAGE, type Usage } from "../schema/model.ts";

const CHARACTERS_PER_TOKEN = 4;

/** Tokens of messages and the answer to them, where nothing better is known. */
export const estimateTokens = (messages: readonly Message[], answer: string): number =>
  Math.round(messages.reduce((sum, message) => sum + message.content.length, answer.length) / CHARACTERS_PER_TOKEN);

/** What a request of so many tokens has used, where the server gave no figures. */
export const estimateUsage = (inputTokens: number, answer: string): Usage => ({
  ...NO_USAGE,
  inputTokens,
  outputTokens: estimateTokens([], answer),
});
