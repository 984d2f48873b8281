import type { Strings } from "../../text/strings.ts";
import { ASCII_GLYPHS, type Glyphs } from "../glyphs.ts";
import type { KeyRow } from "../transcript/help-lines.ts";

/** Words where other terminals have marks, and nothing for what is only drawn: what a screen reader would spell out. */
export const wordGlyphs = ({ words }: Strings["linear"]): Glyphs => ({
  ...ASCII_GLYPHS,
  person: words.person,
  model: words.model,
  done: words.done,
  failed: words.failed,
  question: words.question,
  notice: words.note,
  output: "",
  rule: "",
  selected: "",
});

/** For what marks would only draw, as the bar of `/context`. */
export const NO_GLYPHS: Glyphs = {
  ...ASCII_GLYPHS,
  person: "",
  model: "",
  done: "",
  notice: "",
  output: "",
  dot: "",
};

/** The sentences of the chat with those replaced that speak of keys which a line of text does not have. */
export const linearStrings = (strings: Strings): Strings => {
  const { linear } = strings;
  const { clearWhileBusy, typeKey } = linear;
  return {
    ...strings,
    steps: { ...strings.steps, linesMoreShow: linear.linesMore },
    replies: { ...strings.replies, clearWhileBusy, typeKey },
  };
};

export const linearKeys = ({ keys }: Strings["linear"]): readonly KeyRow[] => [
  { keys: "enter", description: keys.enter },
  { keys: "\\", description: keys.backslash },
  { keys: "ctrl+c", description: keys.interrupt },
  { keys: "ctrl+d", description: keys.leave },
  { keys: "/permissions", description: keys.mode },
];
