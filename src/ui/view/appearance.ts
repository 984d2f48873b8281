import type { ChatSettings } from "../../session/chat.ts";
import { type ColorLevel, createTheme, type Rgb, type Theme, themeForBackground } from "../theme.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The theme that is in force: the person's own choice, or what goes with the terminal's background. */
export interface Appearance {
  readonly theme: Theme;
  /** Whether the terminal's background decides. */
  readonly isAutomatic: boolean;
  choose(setting: ChatSettings["theme"]): void;
  /** What the terminal answered. */
  background(color: Rgb): void;
}

export const createAppearance = (
  setting: ChatSettings["theme"],
  { env, level }: { readonly env: Env; readonly level: ColorLevel },
): Appearance => {
  let chosen = setting;
  let answered: Rgb | undefined;
  const make = (): Theme =>
    createTheme({ name: chosen === "auto" ? themeForBackground(answered, env) : chosen, level });
  let theme = make();
  return {
    get theme() {
      return theme;
    },
    get isAutomatic() {
      return chosen === "auto" && level > 0 && env["TERM"] !== "linux";
    },
    choose: (next) => {
      chosen = next;
      theme = make();
    },
    background: (color) => {
      answered = color;
      theme = make();
    },
  };
};
