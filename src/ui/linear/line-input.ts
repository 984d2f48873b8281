import { stripControls } from "../../text/clean.ts";
import type { TerminalInput } from "../terminal/terminal.ts";

export type LineInputOptions = {
  readonly input: TerminalInput;
  /** A line without its end and without control characters. */
  readonly onLine: (text: string) => void;
  /** Ctrl+C or Ctrl+D while typing is hidden: the terminal makes no signal of them then. */
  readonly onCancel: () => void;
  /** Ctrl+D, or the terminal is closed: no line will come any more. */
  readonly onEnd: () => void;
};

/** Lines that the terminal itself lets the person edit. */
export interface LineInput {
  /** What is typed from now on is not shown, and only Backspace and Ctrl+U edit it. */
  hideTyping(isHidden: boolean): void;
  release(): void;
}

const LINE_END = /\r\n|\n|\r/;
const HIDDEN_KEY = /[\r\n\b\x7f\x03\x04\x15]/;

export const createLineInput = ({ input, onLine, onCancel, onEnd }: LineInputOptions): LineInput => {
  const decoder = new TextDecoder();
  let typed = "";
  let isHidden = false;
  let isReleased = false;

  const onData = (bytes: Uint8Array): void => {
    let rest = decoder.decode(bytes, { stream: true });
    // A line may change how the next one is read.
    while (rest !== "" && !isReleased) rest = isHidden ? takeHidden(rest) : takeLine(rest);
  };

  const takeLine = (text: string): string => {
    const end = LINE_END.exec(text);
    if (!end) {
      typed += text;
      return "";
    }
    typed += text.slice(0, end.index);
    endLine();
    return text.slice(end.index + end[0].length);
  };

  /** Takes the text up to the next key that edits, and does what it says. */
  const takeHidden = (text: string): string => {
    const key = HIDDEN_KEY.exec(text);
    typed += text.slice(0, key?.index);
    if (!key) return "";
    switch (key[0]) {
      case "\r":
      case "\n":
        endLine();
        break;
      case "\b":
      case "\x7f":
        typed = [...typed].slice(0, -1).join("");
        break;
      case "\x15":
        typed = "";
        break;
      default:
        typed = "";
        onCancel();
    }
    return text.slice(key.index + 1);
  };

  const endLine = (): void => {
    const line = stripControls(typed);
    typed = "";
    onLine(line);
  };

  const setRawMode = (isRaw: boolean): void => {
    try {
      input.setRawMode(isRaw);
    } catch {
      // The terminal has gone, which `onEnd` tells.
    }
  };

  input.on("data", onData);
  for (const event of ["end", "close", "error"] as const) input.on(event, onEnd);
  input.resume();
  return {
    hideTyping: (hidden) => {
      if (hidden === isHidden) return;
      isHidden = hidden;
      typed = "";
      setRawMode(hidden);
    },
    release: () => {
      if (isReleased) return;
      isReleased = true;
      input.off("data", onData);
      input.pause();
      if (isHidden) setRawMode(false);
    },
  };
};
