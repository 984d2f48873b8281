import { Chalk, type ChalkInstance } from "chalk";
import type { Line, Role } from "./line.ts";

export type ThemeName = "dark" | "light" | "high-contrast" | "none";

/** 0 none, 1 the terminal's own 16 colours, 2 256 colours, 3 any colour. */
export type ColorLevel = 0 | 1 | 2 | 3;

export type Theme = {
  readonly name: ThemeName;
  /** The line with SGR sequences; each painted span closes what it opens. */
  readonly paint: (line: Line) => string;
};

/** A colour of the terminal's answer, each part 0 to 255. */
export type Rgb = { readonly red: number; readonly green: number; readonly blue: number };

type Env = Readonly<Record<string, string | undefined>>;
type Look = (style: ChalkInstance) => ChalkInstance;
type Looks = Readonly<Record<Role, Look>>;

/** A theme at a colour level; "none" and level 0 paint nothing at all. */
export const createTheme = ({ name, level }: { readonly name: ThemeName; readonly level: ColorLevel }): Theme => {
  if (name === "none" || level === 0) return { name, paint: (line) => line.map(({ text }) => text).join("") };
  const chalk = new Chalk({ level });
  const looks = looksOf(name, level);
  const styles = new Map<string, ChalkInstance>();
  const styleOf = (roles: readonly Role[]): ChalkInstance => {
    const key = roles.join();
    const known = styles.get(key);
    if (known) return known;
    const style = roles.reduce((outer: ChalkInstance, role) => looks[role](outer), chalk);
    styles.set(key, style);
    return style;
  };
  return {
    name,
    paint: (line) =>
      line.map(({ text, roles }) => (roles === undefined || text === "" ? text : styleOf(roles)(text))).join(""),
  };
};

const looksOf = (name: Exclude<ThemeName, "none">, level: ColorLevel): Looks => {
  if (name === "high-contrast") return HIGH_CONTRAST;
  if (level === 1) return { ...SHAPES, ...(name === "dark" ? DARK_16 : LIGHT_16) };
  return { ...SHAPES, ...(name === "dark" ? DARK : LIGHT) };
};

type Colored = Exclude<Role, keyof typeof SHAPES>;

const SHAPES = {
  dim: (style) => style.dim,
  bold: (style) => style.bold,
  italic: (style) => style.italic,
  underline: (style) => style.underline,
  strike: (style) => style.strikethrough,
  inverse: (style) => style.inverse,
  heading: (style) => style.bold,
  link: (style) => style.underline,
  quote: (style) => style.italic,
} satisfies Partial<Looks>;

// Green and red say success and failure, added and removed, and nothing else.
const DARK_16: Readonly<Record<Colored, Look>> = {
  accent: (style) => style.cyan,
  code: (style) => style.cyan,
  success: (style) => style.green,
  failure: (style) => style.red,
  warning: (style) => style.yellow,
  added: (style) => style.green,
  removed: (style) => style.red,
  addedWord: (style) => style.bold.underline,
  removedWord: (style) => style.bold.underline,
  keyword: (style) => style.magenta,
  string: (style) => style.yellow,
  number: (style) => style.cyan,
  comment: (style) => style.dim,
  name: (style) => style.blueBright,
};

// Yellow and cyan are hard to read on white.
const LIGHT_16: Readonly<Record<Colored, Look>> = {
  ...DARK_16,
  accent: (style) => style.blue,
  code: (style) => style.blue,
  warning: (style) => style.magenta,
  string: (style) => style.cyan,
  number: (style) => style.magenta,
  name: (style) => style.blue,
};

const DARK: Readonly<Record<Colored, Look>> = {
  accent: (style) => style.hex("#5fafd7"),
  code: (style) => style.hex("#5fafd7"),
  success: (style) => style.hex("#87d787"),
  failure: (style) => style.hex("#ff8787"),
  warning: (style) => style.hex("#ffd787"),
  added: (style) => style.hex("#87d787"),
  removed: (style) => style.hex("#ff8787"),
  addedWord: (style) => style.hex("#d7ffd7").bgHex("#005f00"),
  removedWord: (style) => style.hex("#ffd7d7").bgHex("#870000"),
  keyword: (style) => style.hex("#d7afff"),
  string: (style) => style.hex("#d7af87"),
  number: (style) => style.hex("#87d7d7"),
  comment: (style) => style.hex("#8a8a8a").italic,
  name: (style) => style.hex("#87afff"),
};

const LIGHT: Readonly<Record<Colored, Look>> = {
  accent: (style) => style.hex("#005f87"),
  code: (style) => style.hex("#005f87"),
  success: (style) => style.hex("#005f00"),
  failure: (style) => style.hex("#af0000"),
  warning: (style) => style.hex("#875f00"),
  added: (style) => style.hex("#005f00"),
  removed: (style) => style.hex("#af0000"),
  addedWord: (style) => style.hex("#005f00").bgHex("#afffaf"),
  removedWord: (style) => style.hex("#870000").bgHex("#ffd7d7"),
  keyword: (style) => style.hex("#5f00af"),
  string: (style) => style.hex("#875f00"),
  number: (style) => style.hex("#005f5f"),
  comment: (style) => style.hex("#6c6c6c").italic,
  name: (style) => style.hex("#005faf"),
};

/** Nothing is fainter than the terminal's own text, whatever its background; shape and weight do the work of colour. */
const HIGH_CONTRAST: Looks = {
  ...SHAPES,
  dim: (style) => style,
  accent: (style) => style.bold,
  heading: (style) => style.bold.underline,
  code: (style) => style.bold,
  success: (style) => style.bold.green,
  failure: (style) => style.bold.red,
  warning: (style) => style.bold,
  added: (style) => style.green,
  removed: (style) => style.red,
  addedWord: (style) => style.inverse,
  removedWord: (style) => style.inverse,
  keyword: (style) => style.bold,
  string: (style) => style,
  number: (style) => style,
  comment: (style) => style.italic,
  name: (style) => style.underline,
};

const TRUECOLOR_TERM = /-direct$|^(?:xterm-kitty|xterm-ghostty|wezterm|alacritty|foot)/;

/** How many colours the terminal shows. NO_COLOR (not empty) wins, then FORCE_COLOR; an unset TERM counts as 16. */
export const colorLevel = ({ env, isTTY }: { readonly env: Env; readonly isTTY: boolean }): ColorLevel => {
  if (env["NO_COLOR"]) return 0;
  const forced = forcedLevel(env["FORCE_COLOR"]);
  if (typeof forced === "number") return forced;
  const term = env["TERM"] ?? "";
  const least = forced === "some" ? 1 : 0;
  if (term === "dumb" || (!isTTY && forced !== "some")) return least;
  if (/^(?:truecolor|24bit)$/i.test(env["COLORTERM"] ?? "") || TRUECOLOR_TERM.test(term)) return 3;
  return /-256(?:color)?$/i.test(term) ? 2 : 1;
};

/** An exact level, at least some colour, or undefined where nothing is forced. */
const forcedLevel = (value: string | undefined): ColorLevel | "some" | undefined => {
  switch (value) {
    case undefined:
    case "":
      return undefined;
    case "0":
    case "false":
      return 0;
    case "1":
      return 1;
    case "2":
      return 2;
    case "3":
      return 3;
    default:
      return "some";
  }
};

// Where black and white text have the same contrast (WCAG 2.2, relative luminance).
const MIDDLE_LUMINANCE = 0.179;

/** The theme for a background: the terminal's own answer (OSC 11), else COLORFGBG, else dark. */
export const themeForBackground = (background: Rgb | undefined, env: Env): "light" | "dark" => {
  if (background) return relativeLuminance(background) > MIDDLE_LUMINANCE ? "light" : "dark";
  const color = (env["COLORFGBG"] ?? "").split(";").at(-1) ?? "";
  return /^(?:7|9|1[0-5])$/.test(color) ? "light" : "dark";
};

const relativeLuminance = ({ red, green, blue }: Rgb): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

const linear = (part: number): number => {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};
