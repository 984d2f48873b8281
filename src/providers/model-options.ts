import type { ThinkingMode } from "../schema/event.ts";
import type { ModelInfo } from "../schema/model.ts";
import type { Strings } from "../text/strings.ts";
import type { Fetch } from "./transport.ts";

/** Where a compatible server is known to differ. What is not known is found out at the first refusal. */
export type Quirks = {
  /** The name of the output limit. Default: `max_completion_tokens` at OpenAI's own address, else `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** False: the server refuses `stream_options`. */
  readonly streamUsage?: boolean;
  /** Whether `strict: true` is known there. Default: at OpenAI's own address. */
  readonly strict?: boolean;
  /** How Anthropic's thinking is asked for. Default: by the model. */
  readonly thinkingStyle?: "adaptive" | "budget";
};

/** What both dialects need to know to talk to one model. */
export type ModelOptions = {
  /** The provider as people write it, as in `deepseek`. */
  readonly name: string;
  readonly model: string;
  /** Empty for servers that want none. */
  readonly apiKey: string;
  /** The variable that holds the key, for what an error advises. */
  readonly keyVariable?: string | undefined;
  /** Absent: the vendor's own address. OpenAI's with `/v1`, Anthropic's without. */
  readonly baseUrl?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** `two-stage` is the engine's matter and the same as `off` here. */
  readonly thinking: ThinkingMode;
  /** low, medium, high …: as the vendor names them. */
  readonly effort?: string | undefined;
  /** Stable within a session, so that its requests find the same cache. */
  readonly cacheKey: string;
  /** False: one answer in one piece. */
  readonly stream: boolean;
  /** Whether the model takes images; without it they become a line of text. */
  readonly vision: boolean;
  readonly strings: Strings["provider"];
  readonly fetch: Fetch;
  readonly quirks?: Quirks | undefined;
  readonly timeouts: Timeouts;
  readonly info: ModelInfo;
};

export type Timeouts = {
  /** From the request to the first byte of the answer's body. Null: no limit (a local server loads its model). */
  readonly firstByteMs: number | null;
  /** Between two bytes. Pings and comments count as life. */
  readonly silenceMs: number;
};
