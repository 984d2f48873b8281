import { ALT, controlKey, type KeyInput, keyInput } from "../input/key-input.ts";
import { readSequence } from "../input/key-sequence.ts";

export type { KeyInput };

type Timer = ReturnType<typeof globalThis.setTimeout>;

export type KeyReaderOptions = {
  readonly onKey: (input: KeyInput) => void;
  /** How long an ESC may wait for the rest of a sequence before it is the key Escape. */
  readonly escapeMs?: number;
  readonly setTimeout?: (run: () => void, ms: number) => Timer;
  readonly clearTimeout?: (timer: Timer) => void;
};

export interface KeyReader {
  push(bytes: Uint8Array): void;
  /** Delivers what waits for more, as if no more would come. */
  flush(): void;
  dispose(): void;
}

const PASTE_END = "\x1b[201~";
// A sequence or a paste without an end is over after this silence.
const SILENCE_MS = 500;
const LAST_WAIT_MS = 5;

/** Reads the bytes of a terminal in raw mode. What they say does not depend on how they are cut, but for lone ESCs. */
export const createKeyReader = ({
  onKey,
  escapeMs = 30,
  setTimeout = globalThis.setTimeout,
  clearTimeout = globalThis.clearTimeout,
}: KeyReaderOptions): KeyReader => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let waiting = ""; // the beginning of a sequence
  let paste: string[] | undefined;
  let pasteTail = ""; // its last characters, in which the end marker may have begun
  let timer: Timer | undefined;
  let burst: Timer | undefined;

  const stopTimer = (): void => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
  };

  // In two steps: when something has kept the program busy, the clock runs out before the bytes that came are read.
  const afterSilence = (ms: number, run: () => void): void => {
    stopTimer();
    timer = setTimeout(
      () => {
        timer = setTimeout(run, LAST_WAIT_MS);
      },
      Math.max(0, ms - LAST_WAIT_MS),
    );
  };

  const read = (input: string): void => {
    if (input === "") return;
    stopTimer();
    for (let rest = input; rest !== ""; ) rest = paste === undefined ? readKeys(rest) : readPaste(paste, rest);
    if (paste !== undefined) afterSilence(SILENCE_MS, settle);
    else if (waiting !== "") afterSilence(isKeyByItself(waiting) ? escapeMs : SILENCE_MS, settle);
  };

  /** Returns what follows the paste. */
  const readPaste = (parts: string[], input: string): string => {
    const text = pasteTail + input;
    const end = text.indexOf(PASTE_END);
    if (end < 0) {
      const kept = Math.min(text.length, PASTE_END.length - 1);
      parts.push(text.slice(0, text.length - kept));
      pasteTail = text.slice(text.length - kept);
      return "";
    }
    pasteTail = text.slice(0, end);
    endPaste(parts);
    return text.slice(end + PASTE_END.length);
  };

  const endPaste = (parts: readonly string[]): void => {
    const text = parts.join("") + pasteTail;
    paste = undefined;
    pasteTail = "";
    if (text !== "") onKey({ type: "paste", text });
  };

  /** Returns what follows the beginning of a paste. */
  const readKeys = (fresh: string): string => {
    const input = waiting + fresh;
    waiting = "";
    for (let at = 0; at < input.length; ) {
      const run = runAt(input, at);
      if (run !== "") {
        emitRun(run);
        at += run.length;
        continue;
      }
      if (!BEGINS_SEQUENCE.test(input.charAt(at))) {
        onKey(controlKey(input.charAt(at)));
        at += 1;
        continue;
      }
      const sequence = readSequence(input, at);
      if (sequence === undefined) {
        waiting = input.slice(at);
        return "";
      }
      at += sequence.length;
      if (sequence.type === "input") onKey(sequence.input);
      if (sequence.type === "paste-start") {
        paste = [];
        return input.slice(at);
      }
    }
    return "";
  };

  const emitRun = (run: string): void => {
    if (looksPasted(run) || (burst !== undefined && HAS_NEWLINE.test(run))) {
      onKey({ type: "paste", text: run });
      expectMore();
      return;
    }
    if (run.length >= BURST) expectMore();
    for (const [part] of run.matchAll(PARTS))
      onKey(/^[\t\r\n]/.test(part) ? controlKey(part) : { type: "text", text: part });
  };

  // A paste without brackets comes in several reads: a newline soon after much text is a part of it.
  const expectMore = (): void => {
    if (burst !== undefined) clearTimeout(burst);
    burst = setTimeout(() => {
      burst = undefined;
    }, escapeMs);
  };

  const settle = (): void => {
    stopTimer();
    if (paste !== undefined) endPaste(paste);
    const held = waiting;
    waiting = "";
    for (const input of keysByThemselves(held)) onKey(input);
  };

  return {
    push: (bytes) => read(decoder.decode(bytes, { stream: true })),
    flush: () => {
      read(decoder.decode());
      settle();
    },
    dispose: () => {
      stopTimer();
      if (burst !== undefined) clearTimeout(burst);
      burst = undefined;
    },
  };
};

const BEGINS_SEQUENCE = /[\x1b\x80-\x9f]/;
const RUN = /[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*/y;
const PARTS = /[\t\r\n]|[^\t\r\n]+/g;
const HAS_NEWLINE = /[\r\n]/;
// Nobody types so much between two reads.
const BURST = 1000;

const runAt = (input: string, at: number): string => {
  RUN.lastIndex = at;
  return RUN.exec(input)?.[0] ?? "";
};

/** Several lines in one read are no typing: fast fingers get one short line and the beginning of the next. */
const looksPasted = (run: string): boolean => {
  const lines = run.trim().split(/\r\n?|\n/);
  return lines.length > 2 || (lines.length === 2 && run.length > 16);
};

const isKeyByItself = (held: string): boolean => held === "\x1b\x1b" || /^\x1b.?$/.test(held);

/** The keys that begin like a sequence: Escape, twice Escape, Alt with a bracket. */
const keysByThemselves = (held: string): KeyInput[] => {
  if (held === "\x1b" || held === "\x1b\x1b") return [...held].map(() => keyInput("escape"));
  if (held.startsWith("\x1b\x1b")) return [keyInput("escape"), ...keysByThemselves(held.slice(1))];
  return isKeyByItself(held) ? [keyInput(held.charAt(1), ALT)] : [];
};
