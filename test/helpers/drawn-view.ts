import { createScreen } from "../../src/ui/terminal/screen.ts";
import { createTheme, type ThemeName } from "../../src/ui/theme.ts";
import { createView, type View } from "../../src/ui/view/chat-view.ts";
import { createStore, type Store, type ViewState } from "../../src/ui/view/view-state.ts";
import { type DrawnTerminal, drawnTerminal } from "./drawn-terminal.ts";
import { layoutOptions } from "./live-region.ts";

export type DrawnView = {
  readonly view: View;
  readonly store: Store;
  readonly terminal: DrawnTerminal;
  /** The frames that were shown since the last look. */
  readonly takeFrames: () => readonly (readonly string[])[];
  readonly setTheme: (name: ThemeName) => void;
};

/** A view with all that is real below it, on a terminal of the test. */
export const drawnView = (state: ViewState, columns = 80, rows = 24): DrawnView => {
  const terminal = drawnTerminal(columns, rows);
  const store = createStore(state);
  let theme = createTheme({ name: "dark", level: 3 });
  let frames: (readonly string[])[] = [];
  const { glyphs, strings, chipLabel, keyHelp } = layoutOptions();
  const view = createView({
    store,
    screen: createScreen(terminal.output),
    theme: () => theme,
    glyphs,
    strings,
    chipLabel,
    keyHelp,
  });
  return {
    view: {
      subscribe: view.subscribe,
      layout: view.layout,
      get paint() {
        return view.paint;
      },
      size: view.size,
      show: (shown) => {
        frames.push(shown);
        view.show(shown);
      },
    },
    store,
    terminal,
    takeFrames: () => {
      const taken = frames;
      frames = [];
      return taken;
    },
    setTheme: (name) => {
      theme = createTheme({ name, level: 3 });
    },
  };
};
