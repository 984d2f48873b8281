import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { onTestFailed, onTestFinished } from "vitest";
import { ENTRY, type Place } from "./program.ts";

/** What a terminal sends for a key. */
export const KEYS = {
  enter: "\r",
  escape: "\x1b",
  tab: "\t",
  shiftTab: "\x1b[Z",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  backspace: "\x7f",
  altEnter: "\x1b\r",
} as const;

/** Ctrl with a letter. */
export const ctrl = (letter: string): string => String.fromCharCode(letter.toLowerCase().charCodeAt(0) & 31);

export type TerminalOptions = {
  readonly place: Place;
  readonly cwd?: string;
  /** On top of a clean environment; an undefined value takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly rows?: number;
  /** For the node that runs the program, before its entry. */
  readonly nodeArguments?: readonly string[];
};

export type Exit = { readonly exitCode: number; readonly signal: number };

export type Cell = {
  readonly text: string;
  readonly isColored: boolean;
  readonly isDim: boolean;
  readonly isBold: boolean;
  readonly isInverse: boolean;
};

/** Text or pattern of the screen, or a condition. */
export type Expected = string | RegExp | ((terminal: Terminal) => boolean);

/** A program in a pseudo-terminal, and what its screen shows. */
export interface Terminal {
  readonly pid: number;
  /** The screen now, without empty rows at its end. */
  screen(): string;
  rows(): readonly string[];
  /** Scrollback and screen; a row that the terminal wrapped is one line. */
  all(): string;
  /** Everything that the program wrote. */
  raw(): string;
  /** Column and row of the screen, from 0. */
  cursor(): { readonly x: number; readonly y: number };
  cell(x: number, y: number): Cell;
  title(): string;
  /** How the program last set a private mode (25 the cursor, 2004 bracketed paste …); undefined: never. */
  mode(number: number): boolean | undefined;
  send(keys: string): void;
  /** A key at a time, each a write of its own; none is waited for. */
  type(text: string): void;
  /** As a terminal with bracketed paste sends it. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** Looks after each piece that the screen has taken. @throws with the screen when it does not come, or the program ends before. */
  waitFor(expected: Expected, timeoutMs?: number): Promise<void>;
  /** Resolves when nothing has been written for so long. Only for "nothing more happens". */
  idle(quietMs?: number): Promise<void>;
  readonly exited: Promise<Exit>;
}

/** The built program in a terminal. It is killed when the test ends, should it still run. */
export const startChat = (args: readonly string[], options: TerminalOptions): Terminal =>
  open(process.execPath, [...(options.nodeArguments ?? []), ENTRY, ...args], options);

/** The shell of `startShell` waits for a command on the last row. */
export const SHELL_WAITS = /shell>$/;

/**
 * A plain bash with job control in a terminal: for what only a shell can do (`fg`) or see (`stty -a` after a program). `$HARNESS9`
 * starts the built program. Line editing is off: bash itself writes no control sequence.
 */
export const startShell = (options: TerminalOptions): Terminal =>
  open("bash", ["--norc", "--noprofile", "--noediting", "-i"], {
    ...options,
    env: { PS1: "shell> ", HARNESS9: `${process.execPath} ${ENTRY}`, ...options.env },
  });

const DEFAULT_TIMEOUT_MS = 15_000;

/** Any program in a terminal. */
export const open = (file: string, args: readonly string[], options: TerminalOptions): Terminal => {
  const { place, columns = 80, rows = 24 } = options;
  const env: Record<string, string | undefined> = {
    PATH: process.env["PATH"],
    HOME: place.home,
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    LANG: "en_US.UTF-8",
    ...options.env,
  };
  const screen = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 100_000,
    allowProposedApi: true,
    windowOptions: { pushTitle: true, popTitle: true },
  });
  const child = spawn(file, [...args], {
    name: env["TERM"] ?? "dumb",
    cols: columns,
    rows,
    cwd: options.cwd ?? place.workDir,
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  });
  return connect(child, screen);
};

const connect = (child: IPty, screen: xterm.Terminal): Terminal => {
  const parts: string[] = [];
  const watchers = new Set<() => void>();
  let title = "";
  let hasExited = false;
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.onData((part) => {
    parts.push(part);
    screen.write(part, changed);
  });
  // The answers to the program's questions: cursor position, device attributes.
  screen.onData((answer) => child.write(answer));
  screen.onTitleChange((text) => {
    title = text;
  });
  const exited = new Promise<Exit>((resolve) => {
    child.onExit(({ exitCode, signal = 0 }) =>
      screen.write("", () => {
        hasExited = true;
        resolve({ exitCode, signal });
        changed();
      }),
    );
  });
  onTestFailed(() => console.error(`--- screen\n${terminal.screen()}\n---`));
  onTestFinished(async () => {
    if (!hasExited) child.kill("SIGKILL");
    await exited;
    screen.dispose();
  });

  const { active } = screen.buffer;
  const rowAt = (y: number): string => active.getLine(y)?.translateToString(true) ?? "";
  const terminalRows = (): string[] => Array.from({ length: screen.rows }, (_, y) => rowAt(active.baseY + y));
  const terminal: Terminal = {
    pid: child.pid,
    rows: terminalRows,
    screen: () => terminalRows().join("\n").trimEnd(),
    all: () => joinWrapped(active).join("\n").trimEnd(),
    raw: () => parts.join(""),
    cursor: () => ({ x: active.cursorX, y: active.cursorY }),
    cell: (x, y) => {
      const cell = active.getLine(active.baseY + y)?.getCell(x);
      return {
        text: cell?.getChars() ?? "",
        isColored: cell !== undefined && !cell.isFgDefault(),
        isDim: Boolean(cell?.isDim()),
        isBold: Boolean(cell?.isBold()),
        isInverse: Boolean(cell?.isInverse()),
      };
    },
    title: () => title,
    mode: (number) => {
      const last = [...parts.join("").matchAll(/\x1b\[\?([\d;]+)([hl])/g)].findLast(([, numbers]) =>
        numbers?.split(";").includes(String(number)),
      );
      return last && last[2] === "h";
    },
    send: (keys) => child.write(keys),
    type: (text) => {
      for (const key of text) child.write(key);
    },
    paste: (text) => child.write(`\x1b[200~${text}\x1b[201~`),
    resize: (columns, rows) => {
      screen.resize(columns, rows);
      child.resize(columns, rows);
    },
    kill: (signal) => process.kill(child.pid, signal),
    waitFor: (expected, timeoutMs = DEFAULT_TIMEOUT_MS) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => {
          watchers.delete(look);
          clearTimeout(timer);
          if (error) reject(error);
          else resolve();
        };
        const fail = (how: string): void =>
          end(new Error(`${how} before ${expected}\n--- screen\n${terminal.screen()}\n---`));
        const look = (): void => {
          if (holds(terminal, expected)) end();
          else if (hasExited) fail("it ended");
        };
        const timer = setTimeout(() => fail(`${timeoutMs} ms went by`), timeoutMs);
        watchers.add(look);
        look();
      }),
    idle: (quietMs = 200) =>
      new Promise((resolve) => {
        const end = (): void => {
          watchers.delete(wait);
          resolve();
        };
        let timer = setTimeout(end, quietMs);
        const wait = (): void => {
          clearTimeout(timer);
          timer = setTimeout(end, quietMs);
        };
        watchers.add(wait);
      }),
    exited,
  };
  return terminal;
};

const holds = (terminal: Terminal, expected: Expected): boolean => {
  if (typeof expected === "function") return expected(terminal);
  return typeof expected === "string" ? terminal.screen().includes(expected) : expected.test(terminal.screen());
};

const joinWrapped = (buffer: xterm.Terminal["buffer"]["active"]): string[] => {
  const lines: string[] = [];
  for (let y = 0; y < buffer.length; y++) {
    const row = buffer.getLine(y);
    if (row?.isWrapped && lines.length > 0) lines[lines.length - 1] += row.translateToString(true);
    else lines.push(row?.translateToString(true) ?? "");
  }
  return lines;
};
