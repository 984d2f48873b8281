import type { Terminal } from "../terminal/terminal.ts";
import type { Store } from "./view-state.ts";

const WORDS = 6;

/** The window's title: what the conversation began with, and whether a question waits. */
export interface WindowTitle {
  /** The first message of a conversation names it. */
  begin(text: string): void;
  /** A question has come or gone. */
  update(): void;
  /** Another conversation begins. */
  reset(): void;
}

export const createWindowTitle = (terminal: Pick<Terminal, "setTitle">, store: Store): WindowTitle => {
  let words = "";
  const update = (): void => {
    const mark = store.get().question ? "? " : "";
    terminal.setTitle(words === "" ? "" : `${mark}harness9: ${words}`);
  };
  return {
    begin: (text) => {
      if (words !== "") return;
      words = text.trim().split(/\s+/).slice(0, WORDS).join(" ");
      update();
    },
    update,
    reset: () => {
      words = "";
      update();
    },
  };
};
