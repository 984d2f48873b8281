/** The marks of the first column, and the few lines that we draw. */
export type Glyphs = {
  readonly person: string;
  readonly model: string;
  readonly done: string;
  readonly failed: string;
  readonly question: string;
  readonly notice: string;
  /** What an output line stands behind. */
  readonly output: string;
  readonly rule: string;
  readonly ellipsis: string;
  readonly bullet: string;
  /** Between figures. */
  readonly dot: string;
  /** Minus sign of a diff's count. */
  readonly minus: string;
  readonly selected: string;
  readonly spinner: readonly string[];
};

export const UNICODE_GLYPHS: Glyphs = {
  person: "›",
  model: "●",
  done: "✓",
  failed: "✗",
  question: "?",
  notice: "!",
  output: "│",
  rule: "─",
  ellipsis: "…",
  bullet: "•",
  dot: "·",
  minus: "−",
  selected: "›",
  spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

export const ASCII_GLYPHS: Glyphs = {
  person: ">",
  model: "*",
  done: "+",
  failed: "x",
  question: "?",
  notice: "!",
  output: "|",
  rule: "-",
  ellipsis: "...",
  bullet: "-",
  dot: "-",
  minus: "-",
  selected: ">",
  spinner: ["|", "/", "-", "\\"],
};

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The glyphs for a terminal: what the person set, else ASCII where the console has few characters or the locale's
 * character set is not UTF-8. No locale at all says nothing.
 */
export const glyphsFor = ({
  env,
  setting,
}: {
  readonly env: Env;
  readonly setting: "auto" | "unicode" | "ascii";
}): Glyphs => {
  if (setting !== "auto") return setting === "ascii" ? ASCII_GLYPHS : UNICODE_GLYPHS;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  const isPoor = ["linux", "dumb"].includes(env["TERM"] ?? "") || (locale !== "" && !/utf-?8/i.test(locale));
  return isPoor ? ASCII_GLYPHS : UNICODE_GLYPHS;
};
