import type { KeyInput } from "../terminal/keys.ts";

/** Who pauses that long has read what stands there. */
export const TYPING_PAUSE_MS = 500;
/** A second press of a key comes sooner than that; nobody has read a question in the time. */
export const KEY_PAUSE_MS = 300;

export type TypingPauseOptions = {
  readonly now: () => number;
  /** Whether a message stands in the input. */
  readonly hasMessage: () => boolean;
};

/** Tells a key that answers what stands on the screen from one that was on its way already. */
export interface TypingPause {
  pressed(key: KeyInput): void;
  /** How much longer nobody may type, that a key can be an answer to what stands there since. */
  leftMs(): number;
}

export const createTypingPause = ({ now, hasMessage }: TypingPauseOptions): TypingPause => {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    pressed: (key) => {
      if (couldAnswer(key)) lastMs = now();
    },
    leftMs: () => lastMs + (hasMessage() ? TYPING_PAUSE_MS : KEY_PAUSE_MS) - now(),
  };
};

const couldAnswer = (key: KeyInput): boolean =>
  key.type === "text" || key.type === "paste" || (key.type === "key" && key.chord === "enter");
