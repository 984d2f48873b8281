import type { Strings } from "../../text/strings.ts";

/** What a key does to the text. "kill" keeps what it takes for "yank". */
export type EditAction =
  | "newline"
  | "left"
  | "right"
  | "up"
  | "down"
  | "word-left"
  | "word-right"
  | "line-start"
  | "line-end"
  | "text-start"
  | "text-end"
  | "erase-left"
  | "erase-right"
  | "kill-word-left"
  | "kill-shell-word-left"
  | "kill-word-right"
  | "kill-line-left"
  | "kill-line-right"
  | "yank"
  | "yank-older"
  | "undo"
  | "redo";

/** Keys that edit, by their chord as `createKeyReader` spells it. */
export const EDIT_KEYS: Readonly<Record<string, EditAction>> = {
  "ctrl+j": "newline",
  "alt+enter": "newline",
  "shift+enter": "newline",
  "ctrl+enter": "newline",
  "ctrl+alt+j": "newline",
  left: "left",
  "ctrl+b": "left",
  right: "right",
  "ctrl+f": "right",
  up: "up",
  "ctrl+p": "up",
  down: "down",
  "ctrl+n": "down",
  "alt+b": "word-left",
  "alt+left": "word-left",
  "ctrl+left": "word-left",
  "alt+f": "word-right",
  "alt+right": "word-right",
  "ctrl+right": "word-right",
  "ctrl+a": "line-start",
  home: "line-start",
  "ctrl+e": "line-end",
  end: "line-end",
  "ctrl+home": "text-start",
  "alt+<": "text-start",
  "ctrl+end": "text-end",
  "alt+>": "text-end",
  backspace: "erase-left",
  "shift+backspace": "erase-left",
  "ctrl+h": "erase-left",
  delete: "erase-right",
  "ctrl+d": "erase-right",
  "alt+backspace": "kill-word-left",
  "ctrl+backspace": "kill-word-left",
  "ctrl+w": "kill-shell-word-left",
  "alt+d": "kill-word-right",
  "alt+delete": "kill-word-right",
  "ctrl+delete": "kill-word-right",
  "ctrl+u": "kill-line-left",
  "ctrl+k": "kill-line-right",
  "ctrl+y": "yank",
  "alt+y": "yank-older",
  // Terminals send one byte for Ctrl with underscore, slash, minus and seven; newer ones tell them apart.
  "ctrl+_": "undo",
  "ctrl+/": "undo",
  "ctrl+-": "undo",
  "ctrl+7": "undo",
  "ctrl+shift+-": "undo",
  "alt+/": "redo",
  "alt+_": "redo",
  "alt+shift+-": "redo",
  "ctrl+shift+z": "redo",
};

export type KeyHelp = { readonly keys: readonly string[]; readonly help: keyof Strings["keys"] };

/** The rows of the overlay that `?` opens: keys as people write them, and the name of what they do. */
export const KEY_HELP: readonly KeyHelp[] = [
  { keys: ["Enter"], help: "send" },
  { keys: ["Ctrl+J", "Shift+Enter", "Alt+Enter", "\\ Enter"], help: "newline" },
  { keys: ["Esc"], help: "interrupt" },
  { keys: ["Esc Esc"], help: "clear" },
  { keys: ["Ctrl+C"], help: "cancel" },
  { keys: ["Ctrl+D"], help: "leave" },
  { keys: ["Shift+Tab"], help: "mode" },
  { keys: ["Tab"], help: "complete" },
  { keys: ["/"], help: "commands" },
  { keys: ["@"], help: "files" },
  { keys: ["!"], help: "shell" },
  { keys: ["Up", "Down"], help: "history" },
  { keys: ["Ctrl+R"], help: "search" },
  { keys: ["Ctrl+O"], help: "details" },
  { keys: ["Ctrl+T"], help: "thought" },
  { keys: ["Ctrl+G"], help: "editor" },
  { keys: ["Ctrl+A", "Ctrl+E"], help: "line" },
  { keys: ["Alt+B", "Alt+F"], help: "word" },
  { keys: ["Ctrl+W", "Ctrl+U", "Ctrl+K"], help: "kill" },
  { keys: ["Ctrl+Y", "Alt+Y"], help: "yank" },
  { keys: ["Ctrl+_", "Alt+_"], help: "undo" },
  { keys: ["Ctrl+L"], help: "redraw" },
  { keys: ["Ctrl+Z"], help: "suspend" },
];
