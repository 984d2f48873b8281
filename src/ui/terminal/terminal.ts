import { stripControls } from "../../text/clean.ts";
import { createKeyReader, type KeyInput } from "./keys.ts";
import { createScreen, type Screen, type TerminalOutput } from "./screen.ts";

/** A terminal to read keys from, as process.stdin is one. */
export type TerminalInput = {
  setRawMode(isRaw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: "data", listener: (bytes: Uint8Array) => void): unknown;
  on(event: "end" | "close" | "error", listener: () => void): unknown;
  off(event: "data", listener: (bytes: Uint8Array) => void): unknown;
};

export type TerminalOptions = {
  readonly input: TerminalInput;
  readonly output: TerminalOutput & {
    on(event: "resize" | "error" | "close", listener: () => void): unknown;
  };
  readonly onKey: (key: KeyInput) => void;
  /** Also while another program has the terminal. */
  readonly onResize: () => void;
  /** The terminal has gone: nobody reads or types any more. */
  readonly onLost: () => void;
  /** Stops the process until the shell lets it go on; returns then. */
  readonly suspend: () => Promise<void>;
};

/** The person's terminal while the chat has it. What is switched on here is switched off by `release`, whatever happens. */
export interface Terminal {
  readonly screen: Screen;
  /** False while another program has it. */
  readonly isOurs: boolean;
  /** The window's title; an empty text takes ours away. */
  setTitle(text: string): void;
  /** Asks for the background colour; the answer comes as a key input. */
  askBackground(): void;
  /** Writes the text to the person's clipboard, where the terminal lets us (OSC 52). */
  copy(text: string): void;
  /** Gives the terminal to another program, or back to the shell. */
  release(): void;
  /** Takes it again and draws. */
  acquire(): void;
  /** Ctrl+Z: until `fg`. */
  suspend(): Promise<void>;
}

// Bracketed paste, and the kitty keyboard protocol's first level, by which Shift+Enter can be told from Enter.
const BEGIN = "\x1b[?2004h\x1b[>1u";
const END = "\x1b[<u\x1b[?2004l\x1b[?2026l\x1b[?25h\x1b[0m";
const PUSH_TITLE = "\x1b[22;0t";
const POP_TITLE = "\x1b[23;0t";
const ASK_BACKGROUND = "\x1b]11;?\x1b\\";

/** Takes the terminal: raw mode, bracketed paste, keys to `onKey`. */
export const openTerminal = (options: TerminalOptions): Terminal => {
  const { input, output } = options;
  const screen = createScreen(output);
  const keys = createKeyReader({ onKey: options.onKey });
  let isOurs = false;
  let title = "";

  const onData = (bytes: Uint8Array): void => keys.push(bytes);

  const acquire = (): void => {
    if (isOurs) return;
    isOurs = true;
    input.setRawMode(true);
    input.on("data", onData);
    input.resume();
    output.write(title === "" ? BEGIN : BEGIN + PUSH_TITLE + osTitle(title));
    screen.resume();
  };

  const release = (): void => {
    if (!isOurs) return;
    screen.pause();
    isOurs = false;
    keys.flush();
    output.write(title === "" ? END : END + POP_TITLE);
    input.off("data", onData);
    input.pause();
    try {
      input.setRawMode(false);
    } catch {
      // The terminal has gone; there is nothing left to restore.
    }
  };

  // A window that is dragged sends many sizes, each of which the terminal has already left for the next.
  let resizing: NodeJS.Timeout | undefined;
  output.on("resize", () => {
    screen.hold();
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      screen.resized();
      options.onResize();
    }, RESIZE_QUIET_MS);
  });
  for (const event of ["end", "close", "error"] as const) input.on(event, options.onLost);
  for (const event of ["error", "close"] as const) output.on(event, options.onLost);

  acquire();
  return {
    screen,
    get isOurs() {
      return isOurs;
    },
    setTitle: (text) => {
      const clean = stripControls(text).replace(/\s+/g, " ");
      if (clean === title) return;
      if (isOurs) output.write(clean === "" ? POP_TITLE : (title === "" ? PUSH_TITLE : "") + osTitle(clean));
      title = clean;
    },
    askBackground: () => void output.write(ASK_BACKGROUND),
    copy: (text) => void output.write(`\x1b]52;c;${Buffer.from(text, "utf8").toString("base64")}\x07`),
    release,
    acquire,
    suspend: async () => {
      // A key that is held down: the first one has stopped us already.
      if (!isOurs) return;
      release();
      await options.suspend();
      acquire();
    },
  };
};

const RESIZE_QUIET_MS = 30;

const osTitle = (text: string): string => `\x1b]0;${text}\x07`;
