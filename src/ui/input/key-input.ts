/** What came from the terminal, one thing at a time. */
export type KeyInput =
  /** A key that is no text: `ctrl+a`, `alt+left`, `shift+enter`. Modifiers stand in the order ctrl, alt, shift. */
  | { readonly type: "key"; readonly chord: string }
  /** Printable characters, as many as came together; no newline, no control character. */
  | { readonly type: "text"; readonly text: string }
  /** As the terminal sent it: line ends may be CR, and it may hold control characters. */
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "reply"; readonly reply: TerminalReply };

/** An answer of the terminal to a question of ours. Colours are 0 to 255. */
export type TerminalReply =
  | { readonly kind: "background"; readonly red: number; readonly green: number; readonly blue: number }
  | { readonly kind: "other" };

/** Bits of a key's modifiers, as terminals count them. */
export const SHIFT = 1;
export const ALT = 2;
export const CTRL = 4;

export const keyInput = (name: string, modifiers = 0): KeyInput => {
  const { key, bits } = oneSpelling(name, modifiers);
  const words = [bits & CTRL ? "ctrl+" : "", bits & ALT ? "alt+" : "", bits & SHIFT ? "shift+" : ""];
  return { type: "key", chord: `${words.join("")}${key}` };
};

const oneSpelling = (name: string, modifiers: number): { readonly key: string; readonly bits: number } => {
  if (/^[A-Z]$/.test(name)) return { key: name.toLowerCase(), bits: modifiers | SHIFT };
  if (name === " ") return { key: "space", bits: modifiers };
  if (name === "[" && modifiers & CTRL) return { key: "escape", bits: modifiers & ~CTRL };
  return { key: name, bits: modifiers };
};

/** A control character (C0 or DEL) as the key that sends it. */
export const controlKey = (character: string, modifiers = 0): KeyInput => {
  const code = character.charCodeAt(0);
  const name = CONTROL_NAMES[code];
  if (name !== undefined) return keyInput(name, modifiers);
  if (code === 0) return keyInput("space", modifiers | CTRL);
  return keyInput(String.fromCharCode(code + 64).toLowerCase(), modifiers | CTRL);
};

// Many terminals send 8 for Ctrl+Backspace, some for Backspace; as Ctrl+H it does the same.
const CONTROL_NAMES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
};
