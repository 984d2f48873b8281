/** What a piece of content turned out to be. */
export type Split = { readonly thinking: string; readonly text: string };

const TAGS: readonly { readonly open: string; readonly close: string }[] = [
  { open: "<think>", close: "</think>" },
  { open: "<thinking>", close: "</thinking>" },
];

/**
 * Parts thinking from answer for servers that put it into the content as `<think>…</think>`.
 * Only a tag that is the very first content counts: anywhere else it is text that the model writes about.
 */
export const createThinkTags = (): {
  readonly feed: (content: string) => Split;
  /** What was held back as the possible beginning of a tag. */
  readonly end: () => Split;
} => {
  let state: "start" | "thinking" | "gap" | "text" = "start";
  let held = "";
  let close = "";

  const feedStart = (): Split => {
    const seen = held.trimStart();
    const tag = TAGS.find(({ open }) => seen.startsWith(open));
    if (tag) {
      state = "thinking";
      close = tag.close;
      held = seen.slice(tag.open.length);
      return feedThinking();
    }
    if (TAGS.some(({ open }) => open.startsWith(seen))) return { thinking: "", text: "" };
    state = "text";
    return { thinking: "", text: takeHeld() };
  };

  const feedThinking = (): Split => {
    const end = held.indexOf(close);
    if (end < 0) {
      const thinking = held.slice(0, held.length - partialLength(held, close));
      held = held.slice(thinking.length);
      return { thinking, text: "" };
    }
    const thinking = held.slice(0, end);
    held = held.slice(end + close.length);
    state = "gap";
    return { thinking, text: feedGap() };
  };

  // The blank lines between the tag and the answer belong to neither.
  const feedGap = (): string => {
    const text = takeHeld().trimStart();
    if (text !== "") state = "text";
    return text;
  };

  const takeHeld = (): string => {
    const text = held;
    held = "";
    return text;
  };

  return {
    feed: (content) => {
      if (state === "text") return { thinking: "", text: content };
      held += content;
      if (state === "start") return feedStart();
      return state === "thinking" ? feedThinking() : { thinking: "", text: feedGap() };
    },
    end: () => (state === "thinking" ? { thinking: takeHeld(), text: "" } : { thinking: "", text: takeHeld() }),
  };
};

/** How many characters at the end of `text` may be the beginning of `mark`. */
const partialLength = (text: string, mark: string): number => {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
};
