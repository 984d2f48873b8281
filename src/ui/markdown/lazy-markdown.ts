import type { Glyphs } from "../glyphs.ts";
import type { Highlight } from "./code-block.ts";
import type { createMarkdown, Markdown } from "./stream-markdown.ts";

/** Markdown and its highlighter, which the first frame does not wait for. */
export interface LazyMarkdown {
  /** Resolves when text can be drawn. */
  load(): Promise<void>;
  /** Code is coloured from then on; until then it is plain. */
  loadHighlighter(): Promise<void>;
  /** @throws before `load` has resolved. */
  create(width: number): Markdown;
}

export const createLazyMarkdown = (glyphs: Glyphs): LazyMarkdown => {
  let create: typeof createMarkdown | undefined;
  let highlight: Highlight | undefined;
  return {
    load: async () => {
      create = (await import("./stream-markdown.ts")).createMarkdown;
    },
    loadHighlighter: async () => {
      const { createHighlighter } = await import("./highlight.ts");
      highlight ??= createHighlighter();
    },
    create: (width) => {
      if (!create) throw new Error("markdown is not loaded yet");
      return create({ width, glyphs, highlight: (code, language) => highlight?.(code, language) });
    },
  };
};
