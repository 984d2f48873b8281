import type { EngineEvent } from "../schema/event.ts";
import type { Mask } from "../text/mask.ts";
import { printableJson } from "../text/printable-json.ts";

/** Grows when an older program could misread what a newer one has written. */
export const RECORDING_VERSION = 1;

/** The first line of a recording. Each line after it is an event as it was emitted, deltas and progress included. */
export type RecordingHead = {
  readonly type: "recording";
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The version of the program that recorded it. */
  readonly harness9: string;
  readonly provider: string;
  readonly model: string;
  /** Names of the tools that the model was offered. */
  readonly tools: readonly string[];
};

/** The line, newline included. No control character and no key that the mask knows is in it. */
export const recordingLine = (value: RecordingHead | EngineEvent, mask: Mask): string =>
  `${printableJson(value, { mask })}\n`;

type Delta = EngineEvent<"text.delta" | "thinking.delta">;

const isDelta = (event: EngineEvent): event is Delta => event.type === "text.delta" || event.type === "thinking.delta";

/** Joins deltas where they would cut a secret apart, which no mask would find then. */
export interface SecretJoiner {
  /** The events that are whole by now: none, or what was held back and this one. */
  push(event: EngineEvent): readonly EngineEvent[];
  /** What is still held back. */
  flush(): readonly EngineEvent[];
}

/** `secrets` is asked at each event: a login adds one. */
export const createSecretJoiner = (secrets: () => Iterable<string>): SecretJoiner => {
  let held: Delta | undefined;
  const flush = (): readonly EngineEvent[] => {
    const events = held ? [held] : [];
    held = undefined;
    return events;
  };
  return {
    push: (event) => {
      if (!isDelta(event)) return [...flush(), event];
      const goesOn = held?.type === event.type && held.sessionId === event.sessionId;
      const before = goesOn ? [] : flush();
      const delta: Delta = held ? { ...event, text: held.text + event.text } : event;
      held = endsWithin(delta.text, secrets()) ? delta : undefined;
      return held ? before : [...before, delta];
    },
    flush,
  };
};

/** Whether the text ends with the beginning of a secret. */
const endsWithin = (text: string, secrets: Iterable<string>): boolean => {
  for (const secret of secrets)
    for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1)
      if (text.endsWith(secret.slice(0, length))) return true;
  return false;
};
