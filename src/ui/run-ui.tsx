import { EventEmitter } from "node:events";
import { render } from "ink";
import { App } from "./app.tsx";
import type { View } from "./view/chat-view.ts";

/** Lets Ink draw the live region of a view from now on. Returns what ends it. */
export const runUi = (view: View): (() => void) => {
  const frames = new FrameOutput(view);
  const { unmount } = render(<App view={view} />, {
    stdout: frames as unknown as NodeJS.WriteStream,
    // Keys are ours: Ink knows neither pastes nor what comes faster than a key at a time.
    stdin: new EventEmitter() as unknown as NodeJS.ReadStream,
    // Each frame as it is, without moving the cursor, erasing or waiting: the screen writes what has changed.
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return unmount;
};

/** What Ink takes for a terminal: it hands each frame to the view's screen. */
class FrameOutput extends EventEmitter {
  readonly #view: View;

  constructor(view: View) {
    super();
    this.#view = view;
  }

  get columns(): number {
    return this.#view.size().columns;
  }

  write(frame: string): boolean {
    this.#view.show(frame.split("\n"));
    return true;
  }
}
