/** A piece of the system prompt that comes from elsewhere. */
export type PromptPart = {
  readonly kind: "instructions" | "memory" | "skills";
  /** As people know it: a file's path. */
  readonly name: string;
  readonly text: string;
};

/** What `/context` tells apart in the system prompt. */
export type ChatPrompt = { readonly promptParts: () => readonly PromptPart[] };
