import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import type { ChipLabel } from "../input/editor-chips.ts";
import type { Line } from "../line.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Theme } from "../theme.ts";
import { type Layout, layOut, roomForHunks } from "./layout.ts";
import type { Store } from "./view-state.ts";

/** The live region, as whoever draws it sees it. */
export interface View {
  /** Called after each change; returns the end of it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** The same object until something changes. */
  readonly layout: () => Layout;
  readonly paint: (line: Line) => string;
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Puts painted rows on the screen, with the cursor of the layout. */
  readonly show: (rows: readonly string[]) => void;
}

export interface ChatView extends View {
  /** How many rows there are for the hunks of a question, while they are chosen. */
  readonly hunkRoom: () => number;
}

export type ViewOptions = {
  readonly store: Store;
  readonly screen: Screen;
  readonly theme: () => Theme;
  readonly glyphs: Glyphs;
  readonly strings: Strings;
  readonly chipLabel: ChipLabel;
  readonly keyHelp: (width: number) => readonly Line[];
};

export const createView = ({ store, screen, theme, glyphs, strings, chipLabel, keyHelp }: ViewOptions): ChatView => {
  let made: { readonly key: string; readonly state: unknown; readonly layout: Layout } | undefined;
  const layoutOptions = () => ({
    columns: screen.columns,
    rows: screen.rows,
    glyphs,
    strings,
    chipLabel,
    keyHelp,
  });
  const layout = (): Layout => {
    const { columns, rows } = screen;
    const state = store.get();
    const key = `${columns} ${rows} ${theme().name}`;
    if (made?.state !== state || made.key !== key) made = { key, state, layout: layOut(state, layoutOptions()) };
    return made.layout;
  };
  return {
    subscribe: store.subscribe,
    layout,
    get paint() {
      return theme().paint;
    },
    hunkRoom: () => roomForHunks(store.get(), layoutOptions()),
    size: () => ({ columns: screen.columns, rows: screen.rows }),
    show: (rows) => screen.draw({ rows, cursor: layout().cursor }),
  };
};

/** The live region without Ink: until that is loaded, nothing in it needs laying out. */
export const showPlainly = (view: View): void => {
  const { text, steps, question, prompt, footer } = view.layout();
  view.show([...text, ...steps, ...question, ...prompt, ...footer].map(view.paint));
};
