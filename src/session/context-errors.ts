import { ProviderError } from "../providers/provider.ts";
import type { Strings } from "../text/strings.ts";

/** A request that is not sent. `window`: what it holds, where that is known. */
export const tooLong = (tokens: number, window: number | null, strings: Strings["compaction"]): ProviderError =>
  new ProviderError(strings.tooLong(tokens, window), { kind: "context_overflow", hint: strings.tooLongHint });

/** The server's refusal, with what a person can do. */
export const refusedAgain = (error: ProviderError, strings: Strings["compaction"]): ProviderError =>
  new ProviderError(error.message, {
    kind: error.kind,
    hint: strings.tooLongHint,
    cause: error,
    ...(error.status !== undefined && { status: error.status }),
  });
